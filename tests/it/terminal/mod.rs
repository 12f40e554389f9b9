//! Tests of `terminal`.

mod printing;
mod progress;
mod report;
