//! `provider:…` and `health:…`: what the process observes of a provider, for all its consultations.

use serde::{Deserialize, Serialize};

use crate::domain::ids::ProviderId;
use crate::stopping::circuit::state::CircuitState;

use super::call::is_zero;
use crate::consultation::policy::health::HealthStatus;

/// Event of a provider, for all its calls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", content = "data")]
pub enum ProviderEvent {
    /// The provider asks for a backoff: no call goes out to it before the time has passed.
    #[serde(rename = "provider:held")]
    Held {
        provider: ProviderId,
        /// Milliseconds until the next call may go out.
        wait_ms: u64,
        /// The provider's message, for people.
        reason: String,
        /// Milliseconds since it began to answer only with rate limits.
        #[serde(default, skip_serializing_if = "is_zero")]
        refused_ms: u64,
    },
    /// The provider's circuit has opened, is being probed, or has closed.
    #[serde(rename = "provider:circuit_changed")]
    CircuitChanged {
        provider: ProviderId,
        circuit: CircuitState,
        /// Milliseconds until calls are useful again; `None` if they are useful now.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        wait_ms: Option<u64>,
    },
    /// The provider has refused the key or asked for payment, or has accepted it since.
    #[serde(rename = "provider:key_changed")]
    KeyChanged {
        provider: ProviderId,
        is_refused: bool,
    },
}

impl ProviderEvent {
    pub fn provider(&self) -> &ProviderId {
        match self {
            Self::Held { provider, .. }
            | Self::CircuitChanged { provider, .. }
            | Self::KeyChanged { provider, .. } => provider,
        }
    }
}

/// Event of a provider's health.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", content = "data")]
pub enum HealthEvent {
    /// A free health check has begun.
    #[serde(rename = "health:check_started")]
    CheckStarted { provider: ProviderId },
    /// A provider's health has changed.
    #[serde(rename = "health:status_updated")]
    StatusUpdated(HealthUpdate),
}

/// A provider's health.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HealthUpdate {
    pub provider: ProviderId,
    pub status: HealthStatus,
    /// The duration of the last check.
    pub latency_ms: Option<u64>,
    /// The share of failures among recent signals, 0 to 1.
    pub error_rate: f64,
    pub consecutive_failures: u32,
    /// True if every provider of the run has been checked and none is healthy.
    pub none_healthy: bool,
}
