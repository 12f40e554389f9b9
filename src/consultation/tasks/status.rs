//! The progress of a task: waiting for a call, calls in flight, or a question to the person.

use serde::{Deserialize, Serialize};

use crate::consultation::event::{AgentError, Purpose, WhySubstituted};
use crate::consultation::protocol::call::Outcome;
use crate::domain::ids::{CallId, ModelRef, TimerId};
use crate::domain::time::Timestamp;

use super::attempt::Attempt;

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
