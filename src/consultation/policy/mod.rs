//! Decisions of the pipeline: what differs between the modes of debate, and functions from numbers
//! to a decision with a named reason. They know nothing about states or calls.

pub mod mode;
pub mod budget;
pub mod estimate;
pub mod consent;
pub mod failure;
pub mod fitting;
pub mod health;
pub mod hedging;
pub mod pacing;
pub mod retry;
pub mod substitution;
