//! A model that takes over an agent's work, and the reasons for it.

use serde::{Deserialize, Serialize};

use crate::domain::ids::{AgentId, ModelRef};

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

impl Substitution {
    /// Returns whether another model only answered sooner.
    pub fn is_hedge(&self) -> bool {
        self.reason == WhySubstituted::Hedge
    }
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
