//! Finished items: what they are for, and how they ended.

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
