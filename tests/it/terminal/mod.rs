//! Tests of `terminal`.

mod printing;
mod progress;
#[cfg(unix)]
mod pty;
mod report;
