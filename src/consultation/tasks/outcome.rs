//! The progress of a task: waiting for a call, calls in flight, or a question to the person; and its
//! outcome: an answer with its source, or an error.

use serde::{Deserialize, Serialize};

use super::attempt::Attempt;
use crate::consultation::event::{AgentError, Purpose, WhySubstituted};
use crate::consultation::protocol::answer::AnswerKind;
use crate::consultation::protocol::call::{FailureClass, Outcome};
use crate::domain::artifact::Content;
use crate::domain::ids::{AgentId, CallId, ModelRef, TimerId};
use crate::domain::time::Timestamp;

/// The outcome of a task that has ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct TaskOutcome {
    pub(crate) agent: AgentId,
    pub(crate) answer: AnswerKind,
    pub(crate) result: Result<AgentAnswer, AgentError>,
}

/// An agent's answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum SavedText {
    CutOff(String),
    /// The model is asked to repair it: it is unreadable, or contradicts itself.
    Repairing(String),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Status {
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct OpenOffer {
    pub(super) substitute: ModelRef,
    pub(super) reason: WhySubstituted,
    pub(super) error: AgentError,
    pub(super) since: Timestamp,
}

/// The calls in flight for one answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct CallsInFlight {
    /// Invariant: one or two; the second is the hedge.
    pub(super) attempts: Vec<Attempt>,
    /// Fires when the first call is slow.
    pub(super) hedge_timer: Option<TimerId>,
    /// The first outcome, if it was useless and the hedge may still answer.
    pub(super) first_outcome: Option<(CallId, Outcome)>,
}
