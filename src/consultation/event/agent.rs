//! `agent:…`, `panel:…`, `judge:…` and `pulse:…`: an agent's work on one answer through all its
//! calls, the models that take it over, who sits on the panel, and what a person answers.

use serde::{Deserialize, Serialize};

use super::AgentError;

use crate::consultation::protocol::answer::AnswerKind;
use crate::domain::answer::second_pass::{Held, SecondPass};
use crate::domain::cost::money::{Cost, MicroUsd};
use crate::domain::cost::tokens::Usage;
use crate::domain::ids::{AgentId, ModelRef, SeatId};
use crate::domain::panel::Panel;

/// Event of one agent's work on an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", content = "data")]
pub enum AgentEvent {
    /// An agent begins to work on an answer.
    #[serde(rename = "agent:thinking")]
    Thinking {
        agent_id: AgentId,
        /// The agent's display name.
        name: String,
        /// 1 to 4.
        round_number: u8,
        answer: AnswerKind,
        /// The requested model.
        model: ModelRef,
    },
    /// An agent has answered.
    #[serde(rename = "agent:completed")]
    Completed {
        agent_id: AgentId,
        /// The agent's display name.
        name: String,
        /// 1 to 4.
        round_number: u8,
        answer: AnswerKind,
        /// Milliseconds since the agent began, without pauses.
        duration_ms: u64,
        /// Tokens of all its calls.
        tokens: Usage,
        /// Cost of all its calls.
        cost: Cost,
    },
    /// An agent has no answer.
    #[serde(rename = "agent:failed")]
    Failed(AgentFailure),
}

/// An agent that has no answer in one round.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentFailure {
    pub agent_id: AgentId,
    /// The agent's display name.
    pub name: String,
    /// 1 to 4.
    pub round_number: u8,
    pub answer: AnswerKind,
    /// The last requested model.
    pub model: ModelRef,
    pub error: AgentError,
}

/// Event of the panel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", content = "data")]
pub enum PanelEvent {
    /// The personas were selected for the question.
    #[serde(rename = "panel:cast")]
    PersonasSelected(Box<PanelSelection>),
}

/// The personas selected for the question, and the new panel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PanelSelection {
    pub panel: Panel,
    /// The new seats in the order of their labels `Expert A`, `Expert B`, …
    pub expert_order: Vec<SeatId>,
    /// The kind of task; empty if unknown.
    pub task_type: String,
    /// The reason for these personas; empty if none was given.
    pub reason: String,
    /// The model that selected them; `None` if the default personas sit without a selection.
    pub chosen_by: Option<ModelRef>,
    /// Parts of the answer that were not used, and why there was no selection.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Event of a second verdict.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", content = "data")]
pub enum JudgeEvent {
    /// The result of the judge's second pass, with the experts in the opposite order.
    #[serde(rename = "judge:second_pass")]
    SecondPass(Box<SecondPass>),
    /// Whether an earlier consultation's verdict held when its answers were judged again.
    #[serde(rename = "judge:rejudged")]
    Rejudged(Held),
}

/// Event of a slow round.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", content = "data")]
pub enum PulseEvent {
    /// A round is slow; if a person can be asked, they are asked whether to keep waiting.
    #[serde(rename = "pulse:asked")]
    Asked {
        /// 1 to 4.
        round_number: u8,
        /// The agents whose answers are missing.
        waiting: Vec<StillWaiting>,
        /// Milliseconds since the consultation began, without pauses.
        elapsed_ms: u64,
        /// False if there is no person, or another question is open.
        asked: bool,
    },
    /// The question whether to keep waiting was answered or withdrawn.
    #[serde(rename = "pulse:answered")]
    Answered {
        /// 1 to 4.
        round_number: u8,
        answer: PulseAnswer,
        /// Milliseconds since the consultation began, without pauses.
        elapsed_ms: u64,
    },
}

/// An agent whose answer is still missing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StillWaiting {
    pub agent_id: AgentId,
    pub name: String,
    pub elapsed_ms: u64,
}

/// The result of a pulse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PulseAnswer {
    Continue,
    /// The agents in question were left out.
    GoOnWithout,
    Cancel,
    /// An answer arrived while the question was open.
    Superseded,
}

/// The person's answer to a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    Yes,
    No,
    /// Yes, now and for every later estimate below this amount, which has been saved.
    Always(MicroUsd),
    /// No, and end the consultation.
    Fail,
    /// Wait no longer for the agents in question, and continue with the others.
    GoOnWithout,
    /// The person has left without answering.
    Gone,
}
