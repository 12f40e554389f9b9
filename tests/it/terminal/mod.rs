//! Tests of `terminal`.

mod dashboard;
mod offer;
mod outside_text;
mod page;
mod person;
mod printer;
mod progress;
mod pty;
mod questions;
mod report;
mod stored_report;
mod summary;
