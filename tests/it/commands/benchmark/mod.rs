//! Benchmarks: suites of cases, runs, the report of a run with its faces, and recorded answers.

mod suites;
mod replay;
mod report;
mod runs;
#[cfg(feature = "fleet")]
mod fleet;
