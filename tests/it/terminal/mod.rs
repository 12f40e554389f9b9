//! Tests of `terminal`.

#[cfg(unix)]
mod asking;
mod dashboard;
mod stored_report;
mod offer;
mod person;
mod printing;
mod progress;
#[cfg(unix)]
mod pty;
mod report;
