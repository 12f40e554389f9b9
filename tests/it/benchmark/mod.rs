//! Benchmarks: suites of cases, and recorded answers.

mod suites;
mod replay;
