//! Decisions of the pipeline: functions of numbers to a decision that names its reason. They know
//! nothing of states or calls.

pub mod budget;
pub mod estimate;
pub mod consent;
pub mod health;
pub mod hedging;
pub mod pacing;
pub mod quorum;
pub mod retry;
pub mod substitution;
