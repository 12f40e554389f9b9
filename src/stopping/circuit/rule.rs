//! The rule by which circuits open and rest.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Conditions under which a circuit opens, and the length of its rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CircuitRule {
    /// Opens after this many failures in a row.
    pub consecutive: u32,
    /// Opens when this percentage of the last `of_at_least` calls failed.
    pub share_percent: u32,
    /// The length of the window; `share_percent` needs this many results.
    pub of_at_least: u32,
    /// The time after which an open circuit allows a probe.
    pub rest: Duration,
    /// The time after which a probe without a result is given up and another one may go out.
    pub permit: Duration,
}

impl Default for CircuitRule {
    /// 3 in a row, or half of the last 10; 30 s of rest. A probe without a result for 2 minutes
    /// counts as lost: calls time out after such a silence.
    fn default() -> Self {
        Self {
            consecutive: 3,
            share_percent: 50,
            of_at_least: 10,
            rest: Duration::from_secs(30),
            permit: Duration::from_secs(120),
        }
    }
}
