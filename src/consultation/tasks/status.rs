//! The progress of a task: waiting for a call, calls in flight, or a question to the person.

use serde::{Deserialize, Serialize};

use crate::consultation::event::{AgentError, Purpose, WhySubstituted};
use crate::consultation::protocol::call::Outcome;
use crate::domain::ids::{CallId, ModelRef, TimerId};
use crate::domain::time::Timestamp;

use super::attempt::Attempt;

/// A text that was saved instead of used, by reason; each happens once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum SavedText {
    CutOff(String),
    Unreadable(String),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Status {
    /// A call is due, not before this moment, and as soon as its provider and the ceiling allow
    /// it.
    Pending {
        purpose: Purpose,
        not_before: Timestamp,
    },
    /// Calls are in flight: one, and perhaps its hedge.
    Calling(Calling),
    /// The person is asked whether this model may take over.
    Asking {
        substitute: ModelRef,
        reason: WhySubstituted,
        error: AgentError,
    },
}

/// The calls in flight for one answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Calling {
    /// Invariant: one or two; of two, the second is the hedge.
    pub(super) attempts: Vec<Attempt>,
    /// Fires when the first has shown no sign of an answer for too long.
    pub(super) hedge_timer: Option<TimerId>,
    /// The first outcome, when it was of no use and the hedge may still bring an answer.
    pub(super) first_outcome: Option<(CallId, Outcome)>,
}
