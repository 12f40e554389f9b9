//! What subscribers are told: one closed enum for terminal, journal and every later face. A journal
//! line is an [`Envelope`].

mod calls;
mod persona_selection;
mod control;
mod cost;
mod early_termination;
mod ending;
mod terms;

use serde::{Deserialize, Serialize};

use crate::domain::artifact::Artifact;
use crate::domain::ids::{CallId, ConsultationId, ModelRef, ProviderId, SeatId};
use crate::domain::money::{Cost, MicroUsd};
use crate::domain::second_pass::{Held, SecondPass};
use crate::domain::time::Timestamp;
use crate::domain::tokens::Usage;

use super::policy::hedging::NoHedge;
use super::protocol::answer::AnswerKind;
use super::protocol::{Answer, TimerId};

pub use self::early_termination::{DecidedBy, EarlyTermination, EarlyTerminationDecision};
pub use self::persona_selection::PanelSelection;
pub use calls::{AgentError, CallError, CallFinished, CostSource, Purpose};
pub use control::{HealthUpdate, PulseAnswer, StillWaiting, SubstitutionReason, WhySubstituted};
pub use cost::{CallEstimate, Consent, Estimate, GateReason};
pub use ending::{AbortReason, CancelReason, StateName};
pub use terms::{PromptUsed, Resumed, Started};

/// The version of the event stream and of the journal.
pub const SCHEMA_VERSION: &str = "1.2";

/// Versions that can be read: 1.0 said neither what made the machine speak nor on which terms, so
/// that it cannot be gone on from; 1.1 knew one mode, four rounds and no end before the last of
/// them.
pub const READABLE_VERSIONS: [&str; 3] = ["1.0", "1.1", SCHEMA_VERSION];

/// Versions that can be gone on from.
pub const RESUMABLE_VERSIONS: [&str; 2] = ["1.1", SCHEMA_VERSION];

/// An event with its place in the history of one consultation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Envelope {
    pub schema_version: String,
    /// Counted from 1 without gaps.
    pub seq: u64,
    pub at: Timestamp,
    pub consultation_id: ConsultationId,
    /// What made the machine say this and what follows up to the next cause: with it the log can be
    /// played again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    #[serde(flatten)]
    pub event: Event,
}

impl Envelope {
    /// Whether two envelopes tell the same of the same moment, whatever version of the format they
    /// are in.
    pub fn tells_the_same_as(&self, other: &Self) -> bool {
        let version = &other.schema_version;
        *self == *other
            || Self {
                schema_version: version.clone(),
                ..self.clone()
            } == *other
    }
}

/// The input behind an event, as far as the event itself does not tell it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    Start,
    /// The person answered the open question.
    Answered(Answer),
    /// A call came back: the `call:finished` that carries this tells with what.
    Replied,
    Timer(TimerId),
    Interrupted,
    /// A provider is asked how it is; the event tells which.
    HealthCheck,
    /// A provider's health has changed; the event tells how.
    Health,
    /// An interrupted consultation goes on; the event tells on what terms.
    Resumed,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", content = "data")]
pub enum Event {
    #[serde(rename = "consultation:started")]
    Started(Box<Started>),
    #[serde(rename = "consultation:cost_estimated")]
    CostEstimated(Estimate),
    #[serde(rename = "consultation:user_consent")]
    UserConsent { approved: bool, how: Consent },
    #[serde(rename = "state:changed")]
    StateChanged { from: StateName, to: StateName },
    #[serde(rename = "round:started")]
    RoundStarted { round_number: u8 },
    /// An expert or the judge begins to work on an answer.
    #[serde(rename = "agent:thinking")]
    AgentThinking {
        agent_id: SeatId,
        name: String,
        round_number: u8,
        answer: AnswerKind,
        model: ModelRef,
    },
    #[serde(rename = "agent:completed")]
    AgentCompleted {
        agent_id: SeatId,
        name: String,
        round_number: u8,
        answer: AnswerKind,
        duration_ms: u64,
        tokens: Usage,
        cost: Cost,
    },
    #[serde(rename = "agent:failed")]
    AgentFailed {
        agent_id: SeatId,
        name: String,
        round_number: u8,
        answer: AnswerKind,
        model: ModelRef,
        error: AgentError,
    },
    #[serde(rename = "round:completed")]
    RoundCompleted { round_number: u8, duration_ms: u64 },
    #[serde(rename = "consultation:round_artifact")]
    RoundArtifact { artifact: Box<Artifact> },
    /// The judge was to decide twice: what came of the second time.
    #[serde(rename = "judge:second_pass")]
    JudgeSecondPass(Box<SecondPass>),
    /// The answers of an earlier consultation were judged anew: whether its verdict held.
    #[serde(rename = "judge:rejudged")]
    Rejudged(Held),
    /// Another model takes over an agent's work.
    #[serde(rename = "consultation:provider_substituted")]
    ProviderSubstituted {
        agent_id: SeatId,
        round_number: u8,
        original: ModelRef,
        substitute: ModelRef,
        reason: SubstitutionReason,
        /// What happened, in the provider's own words.
        #[serde(default)]
        message: String,
    },
    /// The person is asked whether another model may take over.
    #[serde(rename = "consultation:substitution_offered")]
    SubstitutionOffered {
        agent_id: SeatId,
        round_number: u8,
        original: ModelRef,
        substitute: ModelRef,
        reason: SubstitutionReason,
        message: String,
    },
    /// An interrupted consultation goes on.
    #[serde(rename = "consultation:resumed")]
    Resumed(Box<Resumed>),
    /// The estimate does not pass by itself.
    #[serde(rename = "cost:gate_triggered")]
    CostGate {
        cost: Cost,
        always_allow_under: MicroUsd,
        why: Vec<GateReason>,
    },
    /// A call could break the ceiling and was not made.
    #[serde(rename = "cost:ceiling_reached")]
    CeilingReached {
        max_cost: MicroUsd,
        spent: Cost,
        agent_id: SeatId,
        model: ModelRef,
        worst_case: Cost,
    },
    /// A round takes long; where there is a person, they are asked whether to go on.
    #[serde(rename = "pulse:asked")]
    PulseAsked {
        round_number: u8,
        waiting: Vec<StillWaiting>,
        elapsed_ms: u64,
        asked: bool,
    },
    #[serde(rename = "pulse:answered")]
    PulseAnswered {
        round_number: u8,
        answer: PulseAnswer,
        elapsed_ms: u64,
    },
    /// A provider is asked, at no cost, whether it is well.
    #[serde(rename = "health:check_started")]
    HealthCheckStarted { provider: ProviderId },
    #[serde(rename = "health:status_updated")]
    HealthUpdated(HealthUpdate),
    /// The person is asked whether to end here, because the experts agree.
    #[serde(rename = "consultation:early_termination_offered")]
    EarlyTerminationOffered(Box<EarlyTermination>),
    #[serde(rename = "consultation:early_termination_decided")]
    EarlyTerminationDecided(Box<EarlyTerminationDecision>),
    /// The personas were chosen for this question.
    #[serde(rename = "panel:cast")]
    PanelCast(Box<PanelSelection>),
    #[serde(rename = "consultation:completed")]
    Completed { rounds: u8, duration_ms: u64 },
    #[serde(rename = "consultation:aborted")]
    Aborted {
        reason: AbortReason,
        message: String,
        during: StateName,
        duration_ms: u64,
    },
    /// A call is about to go out.
    #[serde(rename = "call:started")]
    CallStarted {
        call: CallId,
        agent_id: SeatId,
        round_number: u8,
        answer: AnswerKind,
        purpose: Purpose,
        model: ModelRef,
        room: u64,
        prompt_sha256: String,
        /// The most that it can cost, set aside under a ceiling.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        worst_case: Option<Cost>,
        /// Tokens (estimated) that the prompt would have had on top, had the artifacts in it not
        /// been filtered.
        #[serde(default, skip_serializing_if = "is_zero")]
        tokens_saved: u64,
    },
    /// A failed call will be followed by another one.
    #[serde(rename = "call:retried")]
    CallRetried {
        call: CallId,
        agent_id: SeatId,
        wait_ms: u64,
        reason: String,
    },
    /// A provider asks to be left alone: no call goes out to it before the time has passed.
    #[serde(rename = "provider:held")]
    ProviderHeld {
        provider: ProviderId,
        wait_ms: u64,
        reason: String,
    },
    /// A call has shown no sign of an answer for so long that the same is asked elsewhere too.
    #[serde(rename = "call:hedged")]
    CallHedged {
        call: CallId,
        agent_id: SeatId,
        model: ModelRef,
        backup: ModelRef,
        after_ms: u64,
    },
    /// A call is slow, and nobody else is asked.
    #[serde(rename = "call:not_hedged")]
    CallNotHedged {
        call: CallId,
        agent_id: SeatId,
        reason: NoHedge,
    },
    #[serde(rename = "call:cancelled")]
    CallCancelled { call: CallId, reason: CancelReason },
    /// A call came back, with whatever it brought.
    #[serde(rename = "call:finished")]
    CallFinished(Box<CallFinished>),
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_zero(number: &u64) -> bool {
    *number == 0
}
