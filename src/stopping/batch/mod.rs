//! Decides after each item of a batch whether the batch may continue: when items fail in a row,
//! when too large a share of the last ones fails or needs retries, when a provider is out of order,
//! and when a budget is used up.
//!
//! [`state::BatchState`] counts in the order in which items finish. Its `evaluate` checks the
//! [`conditions::StopConditions`], and [`reason::BatchStopReason`] names the one that fired:
//!
//! ```
//! use conclave::stopping::batch::conditions::StopConditions;
//! use conclave::stopping::batch::totals::{CaseOutcome, ItemRole};
//! use conclave::stopping::batch::reason::{BatchStopReason, StopCondition};
//! use conclave::stopping::batch::state::{BatchState, Workload};
//!
//! let mut batch = BatchState::new(StopConditions::default());
//! for _ in 0..3 {
//!     batch.start_attempt();
//!     batch.finish(ItemRole::Subject, CaseOutcome::Failed, 1);
//! }
//! let evaluation = batch.evaluate(Workload { remaining: 37, waiting: 37, in_flight: 0 });
//! let reason = BatchStopReason::of(&evaluation).expect("three failures in a row");
//! assert_eq!(reason.condition, StopCondition::ConsecutiveFails);
//! ```

pub mod totals;
pub mod conditions;
pub mod state;
mod rules;
pub mod reason;
pub mod statistics;
#[cfg(test)]
mod tests;
