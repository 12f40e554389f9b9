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
    pub reason: SubstitutionReason,
    /// The failure, in the provider's own words.
    #[serde(default)]
    pub message: String,
}

/// Reason why one model takes over from another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum SubstitutionReason {
    Known(WhySubstituted),
    /// The free text of an earlier version.
    Words(String),
}

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
        self.reason == SubstitutionReason::Known(WhySubstituted::Hedge)
    }
}

impl SubstitutionReason {
    /// Describes the reason for people, with the provider's message.
    pub fn in_words(&self, message: &str) -> String {
        let (short, message) = match self {
            Self::Known(WhySubstituted::Timeout) => ("timeout", message),
            Self::Known(WhySubstituted::Failure) => ("failure", message),
            Self::Known(WhySubstituted::HealthCheck) => ("health check", message),
            Self::Known(WhySubstituted::Hedge) => ("slower", message),
            Self::Words(words) => (words.as_str(), ""),
        };
        if message.is_empty() {
            short.to_owned()
        } else {
            message.to_owned()
        }
    }
}
