//! The machine's two closed enums, all inputs that it can get and all effects that it can request;
//! and what is behind the phases: the context of one step and its parts, and replay of a log.

pub(crate) mod step;
pub(crate) mod emitter;
pub(crate) mod run_state;
pub(crate) mod providers;
pub(crate) mod questions;
pub(crate) mod round;
pub mod replay;

use super::event::{Answer, Envelope, HealthUpdate, ProviderEvent};
use super::plan::ResumeTerms;
use super::policy::estimate::Estimate;
use super::protocol::call::{Ask, Outcome};
use super::protocol::request::{CallRequest, NotAdmitted, RequestKey};
use crate::domain::cost::money::Cost;
use crate::domain::ids::{CallId, ProviderId, TimerId};
use crate::domain::time::Timestamp;

pub use self::questions::{Question, SubstitutionOffer};

/// An input to the machine.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// Starts the consultation.
    Start,
    /// Replays a start with the approved estimate from the log, even if this version would compute
    /// another.
    StartedBefore { estimate: Box<Estimate> },
    /// The person answered the open question.
    Answered(Answer),
    /// A requested call may go out now to this provider.
    Admitted {
        key: RequestKey,
        provider: ProviderId,
        /// What the call may cost at most.
        granted: Cost,
    },
    /// A requested call may not go out.
    NotAdmitted {
        key: RequestKey,
        reason: NotAdmitted,
    },
    /// A call shows its first sign of an answer.
    FirstToken { call: CallId },
    /// A call came back. `updates` are the changes of its provider that the outcome shows.
    Replied {
        call: CallId,
        outcome: Outcome,
        updates: Vec<ProviderEvent>,
    },
    /// A timer has fired.
    TimerFired { timer: TimerId },
    /// The process observed a change of a provider.
    ProviderChanged(ProviderEvent),
    /// A free health check has begun.
    HealthCheckStarted { provider: ProviderId },
    /// A provider's health has changed.
    HealthChanged(HealthUpdate),
    /// Ctrl-C, or a signal to end the process.
    Interrupted,
    /// Resumes a consultation that was interrupted or whose process has ended. `lost` are calls
    /// that had gone out and will never answer.
    Resume {
        lost: Vec<CallId>,
        terms: Box<ResumeTerms>,
        tool_version: String,
    },
}

/// An effect that the driver must carry out, in the order given.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Ask the person; reply with `Answered`, once. At most one question is open.
    Question(Box<Question>),
    /// Withdraw the open question; no answer may follow.
    Withdraw,
    /// Ask whether a call may go out; reply with `Admitted` or `NotAdmitted` once it is decided.
    Request(Box<CallRequest>),
    /// Make a call; reply with `Replied`, once.
    Ask(Box<Ask>),
    /// Drop a call's connection. It should not reply any more; a late reply is ignored.
    Cancel(CallId),
    /// Reply with `TimerFired` at this moment, not before.
    SetTimer { timer: TimerId, at: Timestamp },
    /// Emit an event to the subscribers.
    Emit(Box<Envelope>),
}
