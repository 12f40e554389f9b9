//! The machine's two closed vocabularies: all that can happen to it, and all that it can want done.

use serde::{Deserialize, Serialize};

use crate::domain::ids::CallId;
use crate::domain::time::Timestamp;

use super::call::{Ask, Outcome};
use super::event::{Envelope, Estimate};

/// Numbers a timer; never used twice within a consultation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TimerId(pub u32);

/// Something that happened to a consultation.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// The user wants it to begin.
    Start,
    /// The user said yes to the estimate.
    ConsentGiven,
    /// The user said no to the estimate.
    ConsentDeclined,
    /// A call shows its first sign of an answer.
    FirstToken { call: CallId },
    /// A call came back.
    Replied { call: CallId, outcome: Outcome },
    /// A timer that was set has run out.
    TimerFired { timer: TimerId },
    /// Ctrl-C, or the process was told to end.
    Interrupted,
}

/// Something the driver must do, in the order given.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Show the estimate and ask whether to go on; answer with `ConsentGiven` or `ConsentDeclined`.
    AskConsent(Estimate),
    /// Make a call; answer with `Replied`, once.
    Ask(Box<Ask>),
    /// Drop a call's connection. It must not answer any more; if it does, the answer is ignored.
    Cancel(CallId),
    /// Answer with `TimerFired` at this moment, not before.
    SetTimer { timer: TimerId, at: Timestamp },
    /// Tell the subscribers.
    Emit(Box<Envelope>),
}
