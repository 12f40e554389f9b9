//! Benchmarks: suites of cases, and recorded answers.

mod suites;
#[cfg(unix)]
mod replay;
#[cfg(unix)]
mod runs;
