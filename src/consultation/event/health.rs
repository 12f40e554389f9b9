//! `health:…`: the providers' health, from checks that cost nothing.

use serde::{Deserialize, Serialize};

use crate::consultation::policy::health::HealthStatus;
use crate::domain::ids::ProviderId;

/// What happens to a provider's health.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", content = "data")]
pub enum HealthEvent {
    /// A health check, which costs nothing, has begun.
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
    /// How long its last answer to a check took.
    pub latency_ms: Option<u64>,
    /// The share of failures among its recent signals, 0 to 1.
    pub error_rate: f64,
    pub consecutive_failures: u32,
    /// True when every provider of the run has been asked, and none is healthy.
    pub none_healthy: bool,
}
