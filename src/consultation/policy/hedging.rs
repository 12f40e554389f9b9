//! Decides whether and when a slow call is hedged.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::domain::ids::ModelRef;

/// The shortest delay before a hedge, however fast a model usually is.
pub const EARLIEST: Duration = Duration::from_secs(2);

/// The delay after which a call without any sign of an answer is hedged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HedgeRule {
    /// `None` for never.
    pub after: Option<Duration>,
    /// The delay for models with enough history: the 95th percentile of their time to the first
    /// token.
    pub by_model: BTreeMap<ModelRef, Duration>,
}

/// Reason why a call is not hedged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoHedge {
    /// No other vendor has a model that could answer.
    NoBackup,
    /// The possible models are unhealthy.
    NoHealthyBackup,
    /// A quarter of the run's calls have been hedged.
    QuotaUsed,
    /// The ceiling does not allow it.
    Ceiling,
    /// The fallback's provider is at its limit of calls in flight, or asked for a backoff.
    BackupBusy,
}

impl Default for HedgeRule {
    /// 30 s: models that reason are silent for longer than the 10 s of the original design.
    fn default() -> Self {
        Self {
            after: Some(Duration::from_secs(30)),
            by_model: BTreeMap::new(),
        }
    }
}

impl HedgeRule {
    /// Returns the delay for this model; `None` if it is never hedged.
    pub fn delay(&self, model: &ModelRef) -> Option<Duration> {
        let usual = self.after?;
        Some(
            self.by_model
                .get(model)
                .copied()
                .unwrap_or(usual)
                .max(EARLIEST.min(usual)),
        )
    }

    /// Returns the number of hedges for a run with this many calls: a quarter of them, at least
    /// one.
    pub fn quota(calls: usize) -> u32 {
        u32::try_from(calls / 4).unwrap_or(u32::MAX).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_with_history_have_their_own_delay_of_at_least_two_seconds() {
        let fast = ModelRef::new("p", "fast");
        let slow = ModelRef::new("p", "slow");
        let by_model = BTreeMap::from([
            (fast.clone(), Duration::from_millis(300)),
            (slow.clone(), Duration::from_secs(40)),
        ]);
        let rule = HedgeRule {
            by_model,
            ..HedgeRule::default()
        };
        let new = ModelRef::new("p", "new");
        assert_eq!(rule.delay(&fast), Some(EARLIEST));
        assert_eq!(rule.delay(&slow), Some(Duration::from_secs(40)));
        assert_eq!(rule.delay(&new), Some(Duration::from_secs(30)));
        let never = HedgeRule {
            after: None,
            ..rule
        };
        assert_eq!(never.delay(&slow), None);
    }

    #[test]
    fn a_quarter_of_the_calls_and_at_least_one_may_be_hedged() {
        assert_eq!([1, 3, 4, 9, 130].map(HedgeRule::quota), [1, 1, 1, 2, 32]);
    }
}
