//! What subscribers are told: one closed enum for terminal, journal and every later face. A journal line is an [`Envelope`].

use serde::{Deserialize, Serialize};

use crate::domain::artifact::Artifact;
use crate::domain::ids::{CallId, ConsultationId, ModelRef, ProviderId, SeatId};
use crate::domain::money::Cost;
use crate::domain::panel::Panel;
use crate::domain::time::Timestamp;
use crate::domain::tokens::Usage;

use super::answer::AnswerKind;
use super::call::{FailureClass, StopReason};
use super::problem::Problem;

/// The version of the event stream and of the journal.
pub const SCHEMA_VERSION: &str = "1.0";

/// An event with its place in the history of one consultation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Envelope {
    pub schema_version: String,
    /// Counted from 1 without gaps.
    pub seq: u64,
    pub at: Timestamp,
    pub consultation_id: ConsultationId,
    #[serde(flatten)]
    pub event: Event,
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
    ProviderSubstituted { agent_id: SeatId, round_number: u8, original: ModelRef, substitute: ModelRef, reason: String },
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
    },
    /// A failed call will be followed by another one.
    #[serde(rename = "call:retried")]
    CallRetried { call: CallId, agent_id: SeatId, wait_ms: u64, reason: String },
    /// A provider asks to be left alone: no call goes out to it before the time has passed.
    #[serde(rename = "provider:held")]
    ProviderHeld { provider: ProviderId, wait_ms: u64, reason: String },
    #[serde(rename = "call:cancelled")]
    CallCancelled { call: CallId, reason: AbortReason },
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
    pub cost: Cost,
    pub input_tokens: u64,
    pub output_tokens: u64,
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
}

/// How consent came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Consent {
    /// The estimate is below `always_allow_under`, or nothing costs anything.
    AutoApproved,
    /// `--yes`.
    Flag,
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
    /// No expert answered in Round 1.
    AllAgentsFailed,
    /// Neither the judge nor any of its fallbacks answered.
    JudgeFailed,
    /// A prompt could not be made from its template.
    Prompt,
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
    /// The first try at the next judge.
    Fallback,
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
