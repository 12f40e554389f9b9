//! What happens when models are slow or fail: who is waited for, who takes over, how providers do.

use serde::{Deserialize, Serialize};

use crate::consultation::policy::health::HealthStatus;
use crate::domain::ids::{ProviderId, SeatId};

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
        if message.is_empty() {
            short.to_owned()
        } else {
            message.to_owned()
        }
    }
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
