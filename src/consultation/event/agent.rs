//! `agent:…`: an agent's work on one answer through all its calls, and the models that take it over.

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

/// A model that takes over an agent's work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Substitution {
    pub agent_id: AgentId,
    /// 1 to 4.
    pub round_number: u8,
    /// The model that is replaced.
    pub original: ModelRef,
    /// The model that takes over.
    pub substitute: ModelRef,
    pub reason: WhySubstituted,
    /// The failure, in the provider's own words.
    pub message: String,
}

/// Reason why one model takes over from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WhySubstituted {
    /// The model did not answer in time.
    Timeout,
    /// The model failed for good.
    Failure,
    /// The provider's circuit is open.
    HealthCheck,
    /// The model was slow, and the hedge was faster.
    Hedge,
}

impl WhySubstituted {
    /// Describes the reason for people: the provider's message, else a word.
    pub fn in_words(self, message: &str) -> String {
        let word = match self {
            Self::Timeout => "timeout",
            Self::Failure => "failure",
            Self::HealthCheck => "health check",
            Self::Hedge => "slower",
        };
        if message.is_empty() { word } else { message }.to_owned()
    }
}
