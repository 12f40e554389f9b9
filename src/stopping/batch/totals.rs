//! The items of a batch, and counts over all of them, resumed or not.

use serde::{Deserialize, Serialize};

/// Counts over the whole batch, resumed or not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BatchTotals {
    /// Without outages.
    pub attempts: u64,
    /// How often an item got no answer because of its providers.
    pub outages: u64,
    pub subject: RoleTotals,
    pub baseline: RoleTotals,
}

/// Finished items of one role.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RoleTotals {
    pub approved: u64,
    pub rejected: u64,
    pub failed: u64,
    /// Those that took more than one attempt, outages not counted.
    pub retried: u64,
}

impl RoleTotals {
    pub(super) fn count(&mut self, outcome: CaseOutcome, attempts: u32) {
        let counter = match outcome {
            CaseOutcome::Approved => &mut self.approved,
            CaseOutcome::Rejected => &mut self.rejected,
            CaseOutcome::Failed => &mut self.failed,
        };
        *counter = counter.saturating_add(1);
        self.retried = self.retried.saturating_add(u64::from(attempts > 1));
    }

    pub fn finished(&self) -> u64 {
        self.approved + self.rejected + self.failed
    }
}

/// What an item is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemRole {
    /// What the batch is about.
    Subject,
    /// What the subject is compared with. Wrong answers are what is measured here, and no reason to
    /// stop.
    Baseline,
}

/// How a case run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CaseOutcome {
    /// The answer is right.
    Approved,
    /// The answer is wrong.
    Rejected,
    /// There is no answer after all attempts.
    Failed,
}
