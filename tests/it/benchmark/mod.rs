//! Benchmarks: suites of cases.

mod suites;
