//! Decisions of the pipeline: functions from numbers to a decision with a named reason. They know
//! nothing about states or calls.

pub mod budget;
pub mod estimate;
pub mod consent;
pub mod failure;
pub mod health;
pub mod hedging;
pub mod pacing;
pub mod retry;
pub mod substitution;
