//! Runs a suite: from a request to the terms of its run, and from these to a result for each case.
//!
//! [`BenchmarkState`](crate::benchmark::state::BenchmarkState), the fold of the run's log, says
//! which case run is next and whether the run must stop. This module asks, grades, and writes the
//! log.

pub mod request;
pub mod arms;
mod identity;
pub mod cases;
pub mod estimate;
pub mod earlier_spend;
pub mod progress;
pub mod driver;
pub mod merge;
