//! The rounds of a record: the artifacts, each agent's calls, and how it ended.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::account::{Amount, TokenCounts};
use crate::domain::answer::artifact::Artifact;
use crate::domain::answer::artifact::problem::Problem;
use crate::domain::cost::money::Cost;
use crate::domain::ids::{AgentId, ModelRef};

/// One round, in `responses`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct StoredRound {
    /// Whether it finished.
    pub complete: bool,
    /// Milliseconds; `None` for an unfinished round.
    pub duration_ms: Option<u64>,
    /// In the order in which they were made.
    pub artifacts: Vec<Artifact>,
    /// The calls, one entry for each agent and kind of answer.
    pub agents: Vec<StoredAgentRound>,
}

impl StoredRound {
    pub fn duration(&self) -> Option<Duration> {
        self.duration_ms.map(Duration::from_millis)
    }
}

/// One agent's work on one answer in one round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StoredAgentRound {
    pub agent_id: AgentId,
    /// The agent's name.
    #[serde(default)]
    pub agent: String,
    /// The kind of answer, such as `revision`; `None` if no call came back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// The model of the last call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelRef>,
    /// The model that answered the last call, as reported by the provider.
    pub served_model: Option<String>,
    /// The tokens of all calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<TokenCounts>,
    /// The cost of all calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<Amount>,
    /// Milliseconds from the last call to the first sign of its answer.
    pub latency_ms: Option<u64>,
    /// Milliseconds of all calls together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// The calls, in the order of their ends.
    #[serde(default)]
    pub attempts: Vec<StoredAttempt>,
    /// The problems of the answers' texts.
    #[serde(default)]
    pub problems: Vec<Problem>,
    /// The reason why there is no answer.
    pub error: Option<AgentError>,
}

impl StoredAgentRound {
    pub fn total_tokens(&self) -> Option<u64> {
        self.tokens.as_ref()?.total
    }

    pub fn total_cost(&self) -> Option<Cost> {
        self.cost.as_ref()?.cost()
    }

    pub fn duration(&self) -> Option<Duration> {
        self.duration_ms.map(Duration::from_millis)
    }

    pub fn failure(&self) -> Option<&str> {
        self.error.as_ref().map(|error| error.message.as_str())
    }
}

/// One call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct StoredAttempt {
    /// The number of the call in the consultation, from 1.
    pub call: Option<u32>,
    /// `answer`, `retry`, `hedge`, …
    pub purpose: Option<String>,
    pub model: Option<ModelRef>,
    /// The model that answered, as reported by the provider.
    pub served_model: Option<String>,
    /// `end`, `length`, `{"refused": WORDS}` or `{"other": REASON}`; `None` if the call failed.
    pub stop: Option<Value>,
    /// `None` if the call succeeded.
    pub error: Option<CallError>,
    pub tokens: Option<TokenCounts>,
    pub cost: Option<Amount>,
    /// `provider`, `table`, `free`, `plan` or `unknown`.
    pub cost_source: Option<String>,
    /// Milliseconds from the call to the first sign of an answer.
    pub latency_ms: Option<u64>,
    pub duration_ms: Option<u64>,
}

/// The error of a failed call in the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CallError {
    pub class: FailureClass,
    pub message: String,
    /// The provider's retry hint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    /// True if the provider reported the usage despite the failure.
    #[serde(default, rename = "usage_told")]
    pub usage_reported: bool,
}

/// Error of an agent that has no answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AgentError {
    /// `None` if the model answered but declined.
    pub class: Option<FailureClass>,
    /// The provider's message.
    pub message: String,
}

/// The kind of failure; determines whether a retry can help.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FailureClass {
    /// The key is missing, wrong or not permitted to do this.
    Auth,
    /// No credit, or a spending limit.
    Billing,
    /// The limit of a plan that the user has subscribed to is reached; it allows more calls again
    /// when its window resets.
    Quota,
    /// The model does not exist.
    ModelMissing,
    /// The request itself was refused.
    BadRequest,
    /// The prompt does not fit the model's context.
    Context,
    /// The provider's policy refused the prompt.
    Policy,
    /// The request contained something that this model does not accept. The provider leaves it out
    /// from now on, so that a retry may work at once.
    Unsupported,
    /// Too many requests: all calls at this provider must wait.
    RateLimit,
    /// The provider is failing temporarily; a later call may work.
    Overload,
    /// The connection failed before any content arrived.
    Transport,
    /// Timed out before any content arrived.
    Timeout,
    /// The stream broke off after content had arrived.
    Interrupted,
    /// A successful reply without any text.
    Empty,
    /// The reply violates the provider's protocol.
    Malformed,
    /// The program itself failed while handling the call.
    Internal,
}

/// An entry of `completed_rounds`: its number, and in an unfinished consultation its artifacts, so
/// that other programs can continue from there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum CompletedRound {
    Number(u8),
    WithArtifacts {
        round_number: u8,
        artifacts: Vec<Artifact>,
    },
}

/// Whether a consultation ran to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Completion {
    Completed,
    Aborted,
    /// Its estimated cost was not agreed to, so nothing was asked or spent.
    Declined,
    /// Neither completed nor aborted: its process ended before it did, as far as its files tell.
    Unfinished,
    /// A process is working on it. Only a look at its journal shows that.
    Running,
}

impl Completion {
    pub fn from_state(state: &str) -> Self {
        if state.eq_ignore_ascii_case("complete") {
            Self::Completed
        } else if state.eq_ignore_ascii_case("aborted") {
            Self::Aborted
        } else {
            Self::Unfinished
        }
    }
}
