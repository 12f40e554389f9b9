//! The progress of a task: waiting for a call, calls in flight, or a question to the person; and
//! its outcome: an answer with its source, or an error.

use crate::consultation::event::{
    AgentError, CallEvent, CancelReason, Event, Purpose, WhySubstituted,
};
use crate::consultation::machine::Effect;
use crate::consultation::machine::step::StepContext;
use crate::consultation::protocol::answer::AnswerKind;
use crate::consultation::protocol::call::{FailureClass, Outcome};
use crate::domain::answer::artifact::Content;
use crate::domain::ids::{AgentId, CallId, ModelRef, TimerId};
use crate::domain::random::SplitMix64;
use crate::domain::time::Timestamp;

/// The outcome of a task that has ended.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TaskOutcome {
    pub(crate) agent: AgentId,
    pub(crate) answer: AnswerKind,
    pub(crate) result: Result<AgentAnswer, AgentError>,
}

/// An agent's answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AgentAnswer {
    pub(crate) content: Content,
    /// True if the answer could only be used as prose.
    pub(crate) degraded: bool,
    pub(crate) source: AnswerSource,
}

impl AgentAnswer {
    /// Returns whether the answer counts as evidence of agreement: it could be read as asked, and
    /// its model is not of demonstration quality.
    pub(crate) fn is_evidence(&self) -> bool {
        !self.degraded && !self.source.model.is_demonstration()
    }
}

/// The source and the length of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AnswerSource {
    pub(crate) agent: AgentId,
    pub(crate) model: ModelRef,
    /// Tokens, thinking included.
    pub(crate) output: u64,
}

pub(super) fn failed(class: FailureClass, message: impl Into<String>) -> AgentError {
    AgentError {
        class: Some(class),
        message: message.into(),
    }
}

/// A text that was saved while its model is asked once more, by reason; each reason occurs at most
/// once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SavedText {
    CutOff(String),
    /// The model is asked to repair it: it is unreadable, or contradicts itself.
    Repairing(String),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum TaskStatus {
    /// A call is due at this moment or later, as soon as its provider and the ceiling allow it.
    Pending {
        purpose: Purpose,
        not_before: Timestamp,
    },
    /// One call is in flight, or two with its hedge.
    Calling(CallsInFlight),
    /// The person is asked whether this model may take over.
    Asking(OpenOffer),
}

/// A fallback that the person is asked about.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct OpenOffer {
    pub(super) substitute: ModelRef,
    pub(super) reason: WhySubstituted,
    pub(super) error: AgentError,
    pub(super) since: Timestamp,
}

/// The calls in flight for one answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CallsInFlight {
    /// Invariant: one or two; the second is the hedge.
    pub(super) attempts: Vec<Attempt>,
    /// Fires when the first call is slow.
    pub(super) hedge_timer: Option<TimerId>,
    /// The first outcome, if it was useless and the hedge may still answer.
    pub(super) first_outcome: Option<(CallId, Outcome)>,
}

/// A call in flight.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Attempt {
    pub(crate) call: CallId,
    pub(crate) model: ModelRef,
    pub(crate) purpose: Purpose,
    pub(crate) max_output_tokens: u64,
    pub(crate) since: Timestamp,
    pub(crate) first_token: Option<Timestamp>,
}

impl Attempt {
    pub(crate) fn cancel(&self, step: &mut StepContext<'_>, reason: CancelReason) {
        let call = self.call;
        step.run.budget.write_off(call);
        step.emitter.push(Effect::Cancel(call));
        step.emit(Event::Call(CallEvent::Cancelled { call, reason }));
    }
}

/// From 0 to 1; differs by run and call, and is the same on replay.
pub(super) fn jitter(seed: u64, call: CallId) -> f64 {
    SplitMix64::new(seed.wrapping_add(u64::from(call.0))).unit()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_jitter_of_a_call_never_changes() {
        assert_eq!(jitter(7, CallId(3)).to_string(), "0.033311053770689214");
    }
}
