//! Runs a suite: from a request to the terms of its run, and from these to a result for each case.
//!
//! Which case run is next, and whether the run must stop, says
//! [`BenchmarkState`](crate::benchmark::state::BenchmarkState), the fold of the run's log. This
//! module asks, grades, and writes the log.

pub(crate) mod request;
pub(crate) mod arms;
pub(crate) mod cases;
pub(crate) mod estimate;
pub(crate) mod earlier_spend;
pub(crate) mod progress;
pub(crate) mod driver;
pub(crate) mod merge;
