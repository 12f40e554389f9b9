//! Benchmarks: suites of cases, runs, the report of a run with its faces, and recorded answers.

mod suites;
#[cfg(unix)]
mod replay;
#[cfg(unix)]
mod report;
#[cfg(unix)]
mod runs;
