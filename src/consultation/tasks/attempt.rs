//! One call in flight: its cancellation, its jitter and its entry in the log.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::consultation::event::{
    CallError, CallEvent, CallFinished, CancelReason, Event, Purpose,
};
use crate::consultation::machine::step::StepContext;
use crate::consultation::protocol::Effect;
use crate::consultation::protocol::call::Outcome;
use crate::consultation::reading::problem::Problem;
use crate::domain::ids::{CallId, ModelRef};
use crate::domain::random::SplitMix64;
use crate::domain::time::Timestamp;

use super::task::AgentTask;

/// A call in flight.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Attempt {
    pub(crate) call: CallId,
    pub(crate) model: ModelRef,
    pub(crate) purpose: Purpose,
    pub(crate) since: Timestamp,
    pub(crate) first_token: Option<Timestamp>,
}

impl Attempt {
    /// Cancels the call and drops its connection.
    pub(crate) fn cancel(&self, step: &mut StepContext<'_>, reason: CancelReason) {
        step.lose_call(self.call);
        step.push(Effect::Cancel(self.call));
        step.emit(Event::Call(CallEvent::Cancelled {
            call: self.call,
            reason,
        }));
    }

    /// Returns a number from 0 to 1 that differs by run and call, and is the same on replay.
    pub(crate) fn jitter(&self, step: &StepContext<'_>) -> f64 {
        jitter(step.plan.seed, self.call)
    }
}

fn jitter(seed: u64, call: CallId) -> f64 {
    SplitMix64::new(seed.wrapping_add(u64::from(call.0))).unit()
}

impl AgentTask {
    /// Emits the call's outcome and cost, whether or not its answer is used.
    pub(crate) fn log(
        &mut self,
        step: &mut StepContext<'_>,
        attempt: &Attempt,
        outcome: &Outcome,
        problems: Vec<Problem>,
    ) {
        let ((cost, cost_source), tokens) = match outcome {
            Ok(reply) => (step.plan.cost_of_reply(&attempt.model, reply), reply.usage),
            Err(failure) => (
                step.plan.cost_of_failure(&attempt.model, failure),
                failure.usage.as_deref().copied().unwrap_or_default(),
            ),
        };
        self.tokens += tokens;
        self.cost += cost;
        let finished = CallFinished {
            call: attempt.call,
            agent_id: self.agent.clone(),
            round_number: self.answer.round(),
            answer: self.answer,
            purpose: attempt.purpose,
            model: attempt.model.clone(),
            served_model: outcome
                .as_ref()
                .ok()
                .and_then(|reply| reply.served_model.clone()),
            stop: outcome.as_ref().ok().map(|reply| reply.stop.clone()),
            error: outcome.as_ref().err().map(|failure| CallError {
                class: failure.class,
                message: failure.message.clone(),
                retry_after_ms: failure.retry_after.map(in_ms),
                usage_reported: failure.usage.is_some(),
            }),
            text: outcome.as_ref().map_or_else(
                |failure| failure.partial.clone(),
                |reply| reply.text.clone(),
            ),
            tokens,
            cost,
            cost_source,
            first_token_ms: attempt
                .first_token
                .map(|at| u64::try_from(at.since(attempt.since).as_millis()).unwrap_or(u64::MAX)),
            duration_ms: step.ms_since(attempt.since),
            problems,
        };
        step.emit(Event::Call(CallEvent::Finished(Box::new(finished))));
        step.end_call(attempt.call, cost);
    }
}

/// Returns a hint in whole milliseconds, rounded up as its timer is.
fn in_ms(hint: Duration) -> u64 {
    u64::try_from(hint.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_jitter_of_a_call_is_the_same_for_ever() {
        assert_eq!(jitter(7, CallId(3)).to_string(), "0.033311053770689214");
    }
}
