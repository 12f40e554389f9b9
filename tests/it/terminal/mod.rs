//! Tests of `terminal`.

mod person;
mod printing;
mod progress;
#[cfg(unix)]
mod pty;
mod report;
