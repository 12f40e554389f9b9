//! What subscribers are told: one closed enum for terminal, journal and every later face. A journal line is an [`Envelope`].

use serde::{Deserialize, Serialize};

use crate::domain::artifact::Artifact;
use crate::domain::ids::{CallId, ConsultationId, ModelRef, ProviderId, SeatId};
use crate::domain::money::{Cost, MicroUsd};
use crate::domain::panel::Panel;
use crate::domain::time::Timestamp;
use crate::domain::tokens::Usage;

use super::answer::AnswerKind;
use super::call::{FailureClass, StopReason};
use super::plan::{Control, Plan};
use super::policy::health::HealthStatus;
use super::policy::hedging::NoHedge;
use super::problem::Problem;
use super::protocol::{Answer, TimerId};

/// The version of the event stream and of the journal.
pub const SCHEMA_VERSION: &str = "1.1";

/// Versions that can be read: 1.0 said neither what made the machine speak nor on which terms, so that it cannot be gone on from.
pub const READABLE_VERSIONS: [&str; 2] = ["1.0", SCHEMA_VERSION];

/// An event with its place in the history of one consultation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Envelope {
    pub schema_version: String,
    /// Counted from 1 without gaps.
    pub seq: u64,
    pub at: Timestamp,
    pub consultation_id: ConsultationId,
    /// What made the machine say this and what follows up to the next cause: with it the log can be played again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    #[serde(flatten)]
    pub event: Event,
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
    AgentThinking { agent_id: SeatId, name: String, round_number: u8, answer: AnswerKind, model: ModelRef },
    #[serde(rename = "agent:completed")]
    AgentCompleted { agent_id: SeatId, name: String, round_number: u8, answer: AnswerKind, duration_ms: u64, tokens: Usage, cost: Cost },
    #[serde(rename = "agent:failed")]
    AgentFailed { agent_id: SeatId, name: String, round_number: u8, answer: AnswerKind, model: ModelRef, error: AgentError },
    #[serde(rename = "round:completed")]
    RoundCompleted { round_number: u8, duration_ms: u64 },
    #[serde(rename = "consultation:round_artifact")]
    RoundArtifact { artifact: Box<Artifact> },
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
    CostGate { cost: Cost, always_allow_under: MicroUsd, why: Vec<GateReason> },
    /// A call could break the ceiling and was not made.
    #[serde(rename = "cost:ceiling_reached")]
    CeilingReached { max_cost: MicroUsd, spent: Cost, agent_id: SeatId, model: ModelRef, worst_case: Cost },
    /// A round takes long; where there is a person, they are asked whether to go on.
    #[serde(rename = "pulse:asked")]
    PulseAsked { round_number: u8, waiting: Vec<StillWaiting>, elapsed_ms: u64, asked: bool },
    #[serde(rename = "pulse:answered")]
    PulseAnswered { round_number: u8, answer: PulseAnswer, elapsed_ms: u64 },
    /// A provider is asked, at no cost, whether it is well.
    #[serde(rename = "health:check_started")]
    HealthCheckStarted { provider: ProviderId },
    #[serde(rename = "health:status_updated")]
    HealthUpdated(HealthUpdate),
    #[serde(rename = "consultation:completed")]
    Completed { rounds: u8, duration_ms: u64 },
    #[serde(rename = "consultation:aborted")]
    Aborted { reason: AbortReason, message: String, during: StateName, duration_ms: u64 },
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
        /// Tokens (estimated) that the prompt would have had on top, had the artifacts in it not been filtered.
        #[serde(default, skip_serializing_if = "is_zero")]
        tokens_saved: u64,
    },
    /// A failed call will be followed by another one.
    #[serde(rename = "call:retried")]
    CallRetried { call: CallId, agent_id: SeatId, wait_ms: u64, reason: String },
    /// A provider asks to be left alone: no call goes out to it before the time has passed.
    #[serde(rename = "provider:held")]
    ProviderHeld { provider: ProviderId, wait_ms: u64, reason: String },
    /// A call has shown no sign of an answer for so long that the same is asked elsewhere too.
    #[serde(rename = "call:hedged")]
    CallHedged { call: CallId, agent_id: SeatId, model: ModelRef, backup: ModelRef, after_ms: u64 },
    /// A call is slow, and nobody else is asked.
    #[serde(rename = "call:not_hedged")]
    CallNotHedged { call: CallId, agent_id: SeatId, reason: NoHedge },
    #[serde(rename = "call:cancelled")]
    CallCancelled { call: CallId, reason: CancelReason },
    /// A call came back, with whatever it brought.
    #[serde(rename = "call:finished")]
    CallFinished(Box<CallFinished>),
}

/// The consultation's terms: all that is fixed before anything is spent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Started {
    pub question: String,
    pub mode: String,
    pub panel: Panel,
    /// What order and labels of the experts were drawn from.
    pub seed: u64,
    /// The seats in the order in which they are `Expert A`, `Expert B`, … to the judge and to each other.
    pub expert_order: Vec<SeatId>,
    pub prompts: Vec<PromptUsed>,
    pub tool_version: String,
    /// What the user was told about the panel before anything was spent.
    pub notices: Vec<String>,
    /// All terms, whole, so that an interrupted consultation can go on as it began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<Box<Plan>>,
}

/// On what terms an interrupted consultation goes on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Resumed {
    /// Where it goes on.
    pub state: StateName,
    /// Calls that were under way when it stopped, and are asked again.
    pub lost_calls: Vec<CallId>,
    pub control: Control,
    pub tool_version: String,
}

/// An agent whose answer a round still waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StillWaiting {
    pub agent_id: SeatId,
    pub name: String,
    pub elapsed_ms: u64,
}

/// What came of a pulse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PulseAnswer {
    Continue,
    Cancel,
    /// An answer arrived while the question was open.
    Superseded,
}

/// Why a model takes over from another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum SubstitutionReason {
    Known(WhySubstituted),
    /// The words of an earlier version.
    Words(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WhySubstituted {
    /// It gave no sign of life.
    Timeout,
    /// It failed for good.
    Failure,
    /// Its provider has failed so often that it is not asked for now.
    HealthCheck,
    /// It was slow, and the other was faster.
    Hedge,
}

impl SubstitutionReason {
    /// The reason for people, with what the provider said.
    pub fn in_words(&self, message: &str) -> String {
        let (short, message) = match self {
            Self::Known(WhySubstituted::Timeout) => ("timeout", message),
            Self::Known(WhySubstituted::Failure) => ("failure", message),
            Self::Known(WhySubstituted::HealthCheck) => ("health check", message),
            Self::Known(WhySubstituted::Hedge) => ("slower", message),
            Self::Words(words) => (words.as_str(), ""),
        };
        if message.is_empty() { short.to_owned() } else { message.to_owned() }
    }
}

/// Why an estimate does not pass by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GateReason {
    /// It is not below `always_allow_under`.
    Cost,
    /// A model has no price.
    Unpriced,
    /// It would bring the month above its budget.
    MonthlyBudget,
    /// The context is large.
    LargeContext,
}

/// How a provider does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HealthUpdate {
    pub provider: ProviderId,
    pub status: HealthStatus,
    /// How long its last answer to a check took.
    pub latency_ms: Option<u64>,
    /// Failures among what is remembered of it, 0 to 1.
    pub error_rate: f64,
    pub consecutive_failures: u32,
    /// True when every provider of the run has been asked, and none is healthy.
    pub none_healthy: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// A template in force, so that an edited prompt is visible.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptUsed {
    /// Its file's path without the ending: `converge/independent`.
    pub name: String,
    pub version: String,
    pub sha256: String,
}

/// What the consultation is expected to take, from the prompts as they will be sent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Estimate {
    /// What is expected.
    pub cost: Cost,
    /// The least that answers of usual length cost. 1.0 had one figure only.
    #[serde(default)]
    pub low: Cost,
    /// The most that answers of usual length cost: without retries, repairs and hedges.
    #[serde(default)]
    pub high: Cost,
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// Of question and context, which every call carries.
    #[serde(default)]
    pub context_tokens: u64,
    pub calls: Vec<CallEstimate>,
}

/// One expected call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallEstimate {
    pub round_number: u8,
    pub agent_id: SeatId,
    pub answer: AnswerKind,
    pub model: ModelRef,
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub cost: Cost,
    #[serde(default)]
    pub low: Cost,
    #[serde(default)]
    pub high: Cost,
}

/// How consent came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Consent {
    /// The estimate is below `always_allow_under`, or nothing costs anything.
    AutoApproved,
    /// `--yes`.
    Flag,
    /// The user set a ceiling that the estimate stays below.
    Ceiling,
    /// The user answered the question.
    Asked,
    /// Nobody could be asked.
    NobodyToAsk,
}

/// The nine states by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum StateName {
    Idle,
    Estimating,
    AwaitingConsent,
    Independent,
    Synthesis,
    CrossExam,
    Verdict,
    Complete,
    Aborted,
}

impl std::fmt::Display for StateName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Debug::fmt(self, f)
    }
}

/// Why a consultation ended without a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AbortReason {
    /// The user said no to the estimate.
    Declined,
    /// Ctrl-C, or the process was told to end.
    Interrupted,
    /// The user said no to going on.
    UserCancelled,
    /// A round took longer than the user wanted to wait.
    Timeout,
    /// A call could have broken the ceiling that the user set.
    CostCeiling,
    /// More was spent than one and a half times the high estimate.
    CostExceededEstimate,
    /// An agent failed, and the user had said that then nothing is worth going on.
    AgentFailed,
    /// The result would have been less than the panel promised, which `--strict` refuses.
    Strict,
    /// No expert answered in Round 1.
    AllAgentsFailed,
    /// Neither the judge nor any of its fallbacks answered.
    JudgeFailed,
    /// A prompt could not be made from its template.
    Prompt,
}

impl AbortReason {
    /// Whether a consultation that ended so can be gone on with.
    pub fn is_resumable(self) -> bool {
        match self {
            // Nothing was asked, or the same templates would fail the same way.
            Self::Declined | Self::Prompt => false,
            Self::Interrupted
            | Self::UserCancelled
            | Self::Timeout
            | Self::CostCeiling
            | Self::CostExceededEstimate
            | Self::AgentFailed
            | Self::Strict
            | Self::AllAgentsFailed
            | Self::JudgeFailed => true,
        }
    }
}

/// Why a call was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CancelReason {
    /// Another model was faster.
    HedgeLost,
    /// The consultation ends.
    #[serde(untagged)]
    Abort(AbortReason),
}

/// What a call is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// The first try.
    Answer,
    /// The same again after a failure that may pass.
    Retry,
    /// The same again in a form that the model takes.
    Reformed,
    /// The same again with twice the room, after an answer that was cut off.
    MoreRoom,
    /// The model is shown its text and what is wrong with it.
    Repair,
    /// The first try at the model that takes over.
    Fallback,
    /// The same again elsewhere, beside a call that is slow.
    Hedge,
    /// The same again after the call was lost with its process.
    Resumed,
}

/// Why an agent has no answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentError {
    /// `None` when the model answered but declined.
    pub class: Option<FailureClass>,
    /// In the provider's own words.
    pub message: String,
}

/// All about a call that came back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CallFinished {
    pub call: CallId,
    pub agent_id: SeatId,
    pub round_number: u8,
    pub answer: AnswerKind,
    pub purpose: Purpose,
    pub model: ModelRef,
    /// The model that the provider says answered.
    pub served_model: Option<String>,
    /// `None` when the call failed.
    pub stop: Option<StopReason>,
    /// `None` when the call succeeded.
    pub error: Option<CallError>,
    /// The model's text, whole.
    pub text: String,
    pub tokens: Usage,
    pub cost: Cost,
    pub cost_source: CostSource,
    /// From the call to the first sign of an answer.
    pub first_token_ms: Option<u64>,
    pub duration_ms: u64,
    /// What was wrong with the text and what was made of it.
    pub problems: Vec<Problem>,
}

/// A failed call, as it is logged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallError {
    pub class: FailureClass,
    pub message: String,
    /// The provider's hint when to come back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    /// True when the provider said what was used all the same.
    #[serde(default)]
    pub usage_told: bool,
}

/// Where a cost figure comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CostSource {
    /// The provider said it.
    Provider,
    /// Computed from the price table.
    Table,
    /// The model runs on the user's own machine.
    Free,
    /// No price is known, or the provider did not say what was used.
    Unknown,
}
