//! The statistics of reports: shares with their intervals, comparisons of pairs, quantiles. A share
//! of nothing and an interval of nothing are `None`, never 0.
//!
//! All intervals are two-sided, at 95 %.

pub mod proportion;
pub mod paired;
pub mod quantile;

use serde::{Deserialize, Serialize};

/// The 97.5th percentile of the standard normal distribution: 95 % of it lie within this distance
/// of its mean.
pub(crate) const Z_95: f64 = 1.959_963_984_540_054;

/// A confidence interval at 95 %. Both bounds are included; `low` is at most `high`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Interval {
    #[cfg_attr(test, schemars(range(min = -1, max = 1)))]
    pub low: f64,
    #[cfg_attr(test, schemars(range(min = -1, max = 1)))]
    pub high: f64,
}

impl Interval {
    #[cfg(test)]
    pub fn contains(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }
}

/// Returns a count to calculate with.
#[expect(
    clippy::cast_precision_loss,
    reason = "a run has far fewer than 2^53 cases"
)]
pub(crate) fn number(count: u64) -> f64 {
    count as f64
}
