//! From a program's output to the outcome of its call. Pure.

use std::time::Duration;

use jiff::tz::TimeZone;

use crate::consultation::protocol::call::{Ask, Failure, FailureClass, Outcome};
use crate::domain::model::program::Program;
use crate::domain::time::Timestamp;
use crate::engine::ports::Delta;

/// Reads the output of one call, line by line.
#[derive(Debug)]
pub struct Reading {
    text: String,
}

/// Whether more of the output is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    Continue,
    /// The outcome is certain, or must not be waited for: the program is stopped.
    Stop,
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramEnd {
    /// With this exit code; `None` after a signal that was not ours.
    Exited(Option<i32>),
    /// It was stopped because its reader wanted no more.
    Stopped,
    /// It wrote no line for this time, and was stopped.
    Silent(Duration),
    /// It took longer than this, and was stopped.
    TimedOut(Duration),
    /// It wrote more than is read, and was stopped.
    TooMuch,
}

impl Reading {
    /// `zone` is the user's: programs write times of the day without one.
    pub fn new(program: &Program, ask: &Ask, zone: &TimeZone) -> Self {
        let _ = (program, ask, zone);
        Self {
            text: String::new(),
        }
    }

    /// Takes a line of standard output, without its end.
    pub fn line(&mut self, line: &str, on: &mut dyn FnMut(Delta)) -> Flow {
        let _ = on;
        self.text.push_str(line);
        Flow::Continue
    }

    /// Returns the outcome. `stderr` is the end of what the program wrote there, `now` turns the
    /// time of a reset into a delay.
    pub fn finish(self, end: ProgramEnd, stderr: &str, now: Timestamp) -> Outcome {
        let _ = (end, now);
        Err(Failure::new(FailureClass::Malformed, stderr))
    }
}
