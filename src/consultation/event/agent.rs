//! `agent:…`: one answer that is wanted from one agent, through as many calls as it takes.

use serde::{Deserialize, Serialize};

use crate::consultation::protocol::answer::AnswerKind;
use crate::consultation::protocol::call::FailureClass;
use crate::domain::ids::{AgentId, ModelRef};
use crate::domain::money::Cost;
use crate::domain::tokens::Usage;

/// What happens to one agent's work on an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", content = "data")]
pub enum AgentEvent {
    /// An agent begins to work on an answer.
    #[serde(rename = "agent:thinking")]
    Thinking {
        agent_id: AgentId,
        /// The agent's name for people.
        name: String,
        /// 1 to 4.
        round_number: u8,
        answer: AnswerKind,
        /// The model that is asked.
        model: ModelRef,
    },
    /// An agent's answer is there.
    #[serde(rename = "agent:completed")]
    Completed {
        agent_id: AgentId,
        /// The agent's name for people.
        name: String,
        /// 1 to 4.
        round_number: u8,
        answer: AnswerKind,
        /// Milliseconds since the agent began, without pauses.
        duration_ms: u64,
        /// Used by all its calls together.
        tokens: Usage,
        /// Of all its calls together.
        cost: Cost,
    },
    /// An agent has no answer.
    #[serde(rename = "agent:failed")]
    Failed {
        agent_id: AgentId,
        /// The agent's name for people.
        name: String,
        /// 1 to 4.
        round_number: u8,
        answer: AnswerKind,
        /// The model that was asked last.
        model: ModelRef,
        error: AgentError,
    },
}

/// Why an agent has no answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentError {
    /// `None` when the model answered but declined.
    pub class: Option<FailureClass>,
    /// In the provider's own words.
    pub message: String,
}
