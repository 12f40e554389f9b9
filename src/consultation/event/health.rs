//! `health:…`: how the providers are, as checks at no cost find it.

use serde::{Deserialize, Serialize};

use crate::consultation::policy::health::HealthStatus;
use crate::domain::ids::ProviderId;

/// What is found out about a provider.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", content = "data")]
pub enum HealthEvent {
    /// A provider is asked, at no cost, whether it is well.
    #[serde(rename = "health:check_started")]
    CheckStarted { provider: ProviderId },
    /// A provider's health is no longer what it was.
    #[serde(rename = "health:status_updated")]
    StatusUpdated(HealthUpdate),
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
