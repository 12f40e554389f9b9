//! How well a provider is doing, from what it answered: the thresholds of the original design.

use serde::{Deserialize, Serialize};

/// A provider's health.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HealthStatus {
    /// Never checked.
    #[default]
    Unknown,
    /// It answers in less than 3 s and has not failed of late.
    Healthy,
    /// It takes 3 to 10 s, or has failed once or twice of late.
    Degraded,
    /// It takes more than 10 s, or has failed three times in a row.
    Unhealthy,
}
