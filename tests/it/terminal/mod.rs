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

use crate::support::pty::{Terminal, Transcript};

/// Waits until the process has exited with this code.
fn ended(terminal: Terminal, code: i32) -> Transcript {
    let (output, transcript) = terminal.end();
    output.ends_with(code);
    transcript
}
