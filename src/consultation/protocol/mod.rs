//! The machine's two closed vocabularies: all that can happen to it, and all that it can want done.

pub mod answer;
pub mod call;
pub mod provider;
pub mod request;

use serde::{Deserialize, Serialize};

use crate::domain::ids::{AgentId, CallId, ModelRef, ProviderId};
use crate::domain::time::Timestamp;

use self::provider::ProviderUpdate;
use self::request::{CallRequest, NotAdmitted, RequestKey};
pub use super::event::Answer;
pub use crate::domain::ids::TimerId;

use self::call::{Ask, Outcome};
use super::event::{EarlyTermination, Envelope, HealthUpdate, StillWaiting, SubstitutionReason};
use super::plan::Control;
use crate::consultation::policy::estimate::{Estimate, GateReason};

/// Something that happened to a consultation.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// The user wants it to begin.
    Start,
    /// It began before, with this estimate: what was agreed to, however another version would
    /// count.
    StartedBefore { estimate: Box<Estimate> },
    /// The person answered the question that is open.
    Answered(Answer),
    /// A requested call may go out now, to this provider.
    Admitted {
        key: RequestKey,
        provider: ProviderId,
    },
    /// A requested call may not go out.
    NotAdmitted {
        key: RequestKey,
        reason: NotAdmitted,
    },
    /// A call shows its first sign of an answer.
    FirstToken { call: CallId },
    /// A call came back.
    Replied { call: CallId, outcome: Outcome },
    /// A timer that was set has run out.
    TimerFired { timer: TimerId },
    /// Something about a provider is no longer as it was, by what the process has seen.
    ProviderChanged(ProviderUpdate),
    /// A provider is asked, at no cost, whether it is well.
    HealthCheckStarted { provider: ProviderId },
    /// A provider's health is no longer what it was.
    HealthChanged(HealthUpdate),
    /// Ctrl-C, or the process was told to end.
    Interrupted,
    /// It was interrupted, or its process is gone, and is to go on. `lost` are the calls that had
    /// gone out and will never answer.
    Resume {
        lost: Vec<CallId>,
        control: Box<Control>,
        tool_version: String,
    },
}

/// Something the driver must do, in the order given.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Put a question to the person; answer with `Answered`, once. There is never more than one
    /// open.
    Question(Box<Question>),
    /// Take the open question away: it must not be answered any more.
    Withdraw,
    /// Ask whether a call may go out; answer with `Admitted` or `NotAdmitted` when it is known.
    Request(Box<CallRequest>),
    /// Make a call; answer with `Replied`, once.
    Ask(Box<Ask>),
    /// Drop a call's connection. It must not answer any more; if it does, the answer is ignored.
    Cancel(CallId),
    /// Answer with `TimerFired` at this moment, not before.
    SetTimer { timer: TimerId, at: Timestamp },
    /// Tell the subscribers.
    Emit(Box<Envelope>),
}

/// What a person can be asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Question {
    /// Whether to go on at this estimate: yes, no or always. No answer is a no.
    Consent {
        estimate: Estimate,
        why: Vec<GateReason>,
    },
    /// Whether to go on waiting: yes or no. No answer is a yes.
    Pulse { waiting: Vec<StillWaiting> },
    /// Whether to end here, since the experts agree: yes or no. No answer leaves it to the guards.
    EarlyTermination { findings: Box<EarlyTermination> },
    /// Whether another model may take over: yes, no or fail. No answer is a yes.
    Substitution {
        agent_id: AgentId,
        name: String,
        original: ModelRef,
        substitute: ModelRef,
        reason: SubstitutionReason,
        message: String,
    },
}
