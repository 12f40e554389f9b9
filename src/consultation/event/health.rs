//! `health:…`: the providers' health, from free checks.

use serde::{Deserialize, Serialize};

use crate::consultation::policy::health::HealthStatus;
use crate::domain::ids::ProviderId;

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
