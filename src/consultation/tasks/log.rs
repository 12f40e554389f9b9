//! Logs finished calls.

use std::time::Duration;

use crate::consultation::event::{AbortReason, CallError, CallEvent, CallFinished, Event};
use crate::consultation::machine::step::StepContext;
use crate::consultation::protocol::call::Outcome;
use crate::consultation::reading::problem::Problem;

use super::outcome::Attempt;
use super::task::AgentTask;

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
        let (asked, plan) = (&attempt.model, step.plan);
        let by_price = plan.counted_cost(asked, &tokens, cost, cost_source);
        let counted = step.run.budget.settle(attempt.call, by_price);
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
            counted: (counted != cost.known).then_some(counted),
            cost_source,
            first_token_ms: attempt.first_token.map(|at| at.ms_since(attempt.since)),
            duration_ms: step.run.ms_since(attempt.since, step.now),
            problems,
        };
        step.emitter
            .emit(Event::Call(CallEvent::Finished(Box::new(finished))));
        step.run
            .note_cost(by_price, plan.prices.price(asked).is_some());
        if let Some(message) = step.run.overspending(&step.plan.control) {
            step.stop(AbortReason::CostExceededEstimate, message);
        }
    }
}

/// Returns a hint in whole milliseconds, rounded up like its timer.
fn in_ms(hint: Duration) -> u64 {
    u64::try_from(hint.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX)
}
