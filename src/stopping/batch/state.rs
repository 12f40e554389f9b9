//! The state of a batch: a fold over its attempts and finished items, in the order of their ends.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::conditions::StopConditions;
use super::totals::{BatchTotals, CaseOutcome, ItemRole};
use crate::domain::cost::money::MicroUsd;
use crate::domain::ids::ProviderId;
use crate::stopping::evaluation::value::wide;

/// What the stop conditions look at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BatchState {
    pub conditions: StopConditions,
    /// Since the batch began or was resumed.
    pub(super) attempts: u64,
    /// Items of the subject in a row without a right answer.
    pub(super) consecutive_fails: u64,
    /// Items of the baseline in a row without an answer.
    pub(super) baseline_fails: u64,
    /// Items in a row without an answer because of their providers.
    pub(super) outages: u64,
    /// Whether each of the subject's last items has no right answer.
    pub(super) rejects: ItemWindow,
    /// Whether each of the last items took more than one attempt.
    pub(super) retries: ItemWindow,
    /// The first request to stop.
    pub(super) request: Option<StopRequest>,
    pub probe_failed: bool,
    pub totals: BatchTotals,
}

/// The items that have no result yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Workload {
    /// All of them.
    pub remaining: u64,
    /// Those that wait for an attempt.
    pub waiting: u64,
    pub in_flight: u64,
}

/// A reason to stop that no item shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "request", rename_all = "snake_case")]
pub enum StopRequest {
    /// A provider refuses the key.
    Authentication { provider: ProviderId },
    /// A provider reports that there is no credit, or that a spending limit is reached.
    Quota { provider: ProviderId },
    /// A call was not made because it could exceed the ceiling.
    CostCeiling {
        /// The cost so far and the most that the call could have cost.
        needed: MicroUsd,
        ceiling: MicroUsd,
    },
    /// As `CostCeiling`, for the budget of the month.
    MonthlyBudget { needed: MicroUsd, ceiling: MicroUsd },
    /// A person interrupted the batch.
    Interrupt,
    /// The batch was put together from parts that are not finished.
    UnfinishedParts,
}

/// The last items, the oldest first: whether something is true of each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ItemWindow(VecDeque<bool>);

impl ItemWindow {
    fn push(&mut self, item: bool, window: u64) {
        self.0.push_back(item);
        while self.len() > window {
            self.0.pop_front();
        }
    }

    pub(super) fn len(&self) -> u64 {
        wide(self.0.len())
    }

    pub(super) fn count(&self) -> u64 {
        wide(self.0.iter().filter(|item| **item).count())
    }
}

impl BatchState {
    pub fn new(conditions: StopConditions) -> Self {
        Self {
            conditions,
            ..Self::default()
        }
    }

    /// Forgets the cause of the stop, which would stop the batch again at once: windows, counters
    /// and budget begin again. The totals stay.
    pub fn resume(&mut self, conditions: StopConditions) {
        *self = Self {
            totals: self.totals,
            ..Self::new(conditions)
        };
    }

    /// Counts an attempt for an item that begins.
    pub fn start_attempt(&mut self) {
        self.attempts = self.attempts.saturating_add(1);
        self.totals.attempts = self.totals.attempts.saturating_add(1);
    }

    /// The item took at least one attempt; those that ended because of its providers are none.
    pub fn finish(&mut self, role: ItemRole, outcome: CaseOutcome, attempts: u32) {
        let window = self.conditions.window;
        let is_right = outcome == CaseOutcome::Approved;
        match role {
            ItemRole::Subject => {
                self.consecutive_fails = next(self.consecutive_fails, !is_right);
                self.rejects.push(!is_right, window);
                self.totals.subject.count(outcome, attempts);
            }
            ItemRole::Baseline => {
                let failed = outcome == CaseOutcome::Failed;
                self.baseline_fails = next(self.baseline_fails, failed);
                self.totals.baseline.count(outcome, attempts);
            }
        }
        self.outages = 0;
        self.retries.push(attempts > 1, window);
    }

    /// Counts an item that got no answer because of its providers, and remains to be done. That was
    /// no attempt.
    pub fn defer(&mut self) {
        self.attempts = self.attempts.saturating_sub(1);
        self.totals.attempts = self.totals.attempts.saturating_sub(1);
        self.outages = self.outages.saturating_add(1);
        self.totals.outages = self.totals.outages.saturating_add(1);
    }

    /// The first one counts.
    pub fn request_stop(&mut self, request: StopRequest) {
        self.request.get_or_insert(request);
    }

    pub fn allows_attempt(&self) -> bool {
        self.conditions
            .max_attempts
            .is_none_or(|budget| self.attempts < budget)
    }
}

pub(in crate::stopping) fn next(counter: u64, continues: bool) -> u64 {
    if continues {
        counter.saturating_add(1)
    } else {
        0
    }
}
