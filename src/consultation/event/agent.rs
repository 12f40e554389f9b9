//! `agent:…`: an agent's work on one answer, through all its calls.

use serde::{Deserialize, Serialize};

use crate::consultation::protocol::answer::AnswerKind;
use crate::consultation::protocol::call::FailureClass;
use crate::domain::ids::{AgentId, ModelRef};
use crate::domain::money::Cost;
use crate::domain::tokens::Usage;

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

/// Error of an agent that has no answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentError {
    /// `None` if the model answered but declined.
    pub class: Option<FailureClass>,
    /// The provider's message.
    pub message: String,
}
