//! The machine's two closed enums: all inputs that it can get, and all effects that it can request.

pub mod answer;
pub mod call;
pub mod request;

use serde::{Deserialize, Serialize};

use crate::domain::artifact::Synthesis;
use crate::domain::ids::{CallId, ProviderId, TimerId};
use crate::domain::time::Timestamp;

use self::request::{CallRequest, NotAdmitted, RequestKey};

use self::call::{Ask, Outcome};
use super::event::{
    Answer, EarlyTermination, Envelope, HealthUpdate, ProviderEvent, StillWaiting, Substitution,
};
use super::plan::resume_terms::ResumeTerms;
use crate::consultation::policy::estimate::{Estimate, GateReason};

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

/// A question to the person.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Question {
    /// Whether to proceed at this estimate: yes, no or always. No answer is a no.
    Consent {
        estimate: Estimate,
        why: Vec<GateReason>,
    },
    /// Whether to keep waiting: yes, no, or, if the other answers are enough, without these agents.
    /// No answer is a yes.
    Pulse {
        waiting: Vec<StillWaiting>,
        may_go_on_without: bool,
    },
    /// Whether to end here, since the experts agree: yes or no. No answer leaves it to the guards.
    EarlyTermination {
        findings: Box<EarlyTermination>,
        /// What they agree on and where they differ, with the seats' names.
        synthesis: Box<Synthesis>,
    },
    /// Whether other models may take over for all agents whose models have failed: yes, no or
    /// fail. No answer is a yes.
    Substitution { offers: Vec<SubstitutionOffer> },
}

/// A model that may take over for one agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubstitutionOffer {
    /// The agent's display name.
    pub name: String,
    pub offered: Substitution,
}
