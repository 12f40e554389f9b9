//! From a program's output to the outcome of its call. Pure.
//!
//! The exit code alone decides nothing where a program says in its output how it went: some end
//! with 0 after a failure, and all errors of Claude Code are called a success.

mod so_far;
mod failures;
mod reset;
mod claude;
mod codex;
mod generic;

use jiff::tz::TimeZone;

use crate::consultation::protocol::call::{Ask, Outcome};
use crate::domain::model::program::{AnswerReader, Program};
use crate::domain::time::Timestamp;
use crate::engine::ports::Delta;

use claude::Claude;
use so_far::SoFar;

pub use so_far::{Flow, ProgramEnd};

/// Reads the output of one call, line by line.
#[derive(Debug)]
pub struct Reading {
    so_far: SoFar,
    reader: AnswerReader,
    claude: Claude,
    /// All of it, of a program that is not known.
    output: String,
    flow: Flow,
}

impl Reading {
    /// `zone` is the user's: programs write times of the day without one.
    pub fn new(program: &Program, ask: &Ask, zone: &TimeZone) -> Self {
        Self {
            so_far: SoFar::new(program, ask, zone),
            reader: program.reader.clone(),
            claude: Claude::default(),
            output: String::new(),
            flow: Flow::Continue,
        }
    }

    /// Takes a line of standard output, without its end. Nothing that a program writes once it is
    /// stopped counts.
    pub fn line(&mut self, line: &str, on: &mut dyn FnMut(Delta)) -> Flow {
        if self.flow == Flow::Continue {
            self.flow = self.event(line, on);
        }
        self.flow
    }

    fn event(&mut self, line: &str, on: &mut dyn FnMut(Delta)) -> Flow {
        let so_far = &mut self.so_far;
        let is_claude = self.reader == AnswerReader::ClaudeCode;
        if !is_claude && self.reader != AnswerReader::Codex {
            return generic::line(line, &self.reader, &mut self.output, so_far, on);
        }
        let Ok(event) = serde_json::from_str(line) else {
            // A banner, or a last word.
            line.clone_into(&mut so_far.loose);
            return Flow::Continue;
        };
        if so_far.reply.text.is_empty() {
            on(Delta::KeepAlive);
        }
        if is_claude {
            self.claude.event(&event, so_far, on)
        } else {
            codex::event(&event, so_far, on)
        }
    }

    /// Returns the outcome. `stderr` is the end of what the program wrote there, `now` turns the
    /// time of a reset into a delay.
    pub fn finish(self, end: ProgramEnd, stderr: &str, now: Timestamp) -> Outcome {
        let mut so_far = self.so_far;
        generic::finish(self.reader, self.output, end, &mut so_far);
        so_far.finish(end, stderr, now)
    }
}
