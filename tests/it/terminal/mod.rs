//! Tests of `terminal`.

mod dashboard;
mod offer;
#[cfg(unix)]
mod outside_text;
mod person;
mod printer;
mod progress;
#[cfg(unix)]
mod pty;
#[cfg(unix)]
mod questions;
mod report;
mod stored_report;
#[cfg(unix)]
mod summary;
