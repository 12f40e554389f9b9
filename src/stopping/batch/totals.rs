//! The items of a batch, and counts over all of them, resumed or not.

/// Counts over the whole batch, resumed or not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BatchTotals {
    /// Attempts of all items.
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
    /// Those that took more than one attempt.
    pub retried: u64,
}

impl RoleTotals {
    pub(super) fn count(&mut self, item: FinishedItem) {
        let counter = match item.outcome {
            ItemOutcome::Approved => &mut self.approved,
            ItemOutcome::Rejected => &mut self.rejected,
            ItemOutcome::Failed => &mut self.failed,
        };
        *counter = counter.saturating_add(1);
        self.retried = self.retried.saturating_add(u64::from(item.attempts > 1));
    }

    pub fn finished(&self) -> u64 {
        self.approved + self.rejected + self.failed
    }
}

/// A finished item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FinishedItem {
    pub role: ItemRole,
    pub outcome: ItemOutcome,
    /// At least 1.
    pub attempts: u32,
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

/// How an item ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemOutcome {
    Approved,
    Rejected,
    /// No answer after all attempts.
    Failed,
}
