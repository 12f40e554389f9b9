//! From a program's output to the outcome of its call. Pure.
//!
//! The exit code alone decides nothing where a program says in its output how it went: some end
//! with 0 after a failure, and all errors of Claude Code are called a success.

mod failures;
mod reset;
mod claude;
mod codex;
mod generic;

use std::time::Duration;

use jiff::tz::TimeZone;

use crate::consultation::protocol::call::{Ask, Failure, FailureClass, Outcome, Reply, StopReason};
use crate::domain::cost::plan_use::PlanUse;
use crate::domain::cost::tokens::Usage;
use crate::domain::model::key_detection::hide_keys;
use crate::domain::model::program::{AnswerReader, Program};
use crate::domain::time::Timestamp;
use crate::engine::ports::Delta;
use crate::providers::dialects::partial_reply::PartialReply;
use crate::providers::errors::shortened;
use crate::providers::programs::command::enforces_schema;
use crate::providers::wire::{Account, End, On};

pub use crate::providers::wire::Flow;

use failures::Trouble;
use reset::reset;

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

/// Reads the output of one call, line by line.
#[derive(Debug, Default)]
pub struct Reading {
    program: Program,
    has_schema: bool,
    reply: PartialReply,
    plan: Option<PlanUse>,
    /// The end of the plan's window, as data; a text is read otherwise.
    resets_at: Option<Timestamp>,
    /// What the program says of its failure. A later success outweighs it.
    trouble: Option<Trouble>,
    /// The last line that is not in the program's format; all lines of a program that is not known.
    loose: String,
    /// Outweighs all that follows.
    failure: Option<Failure>,
    /// What Claude Code runs with is known, and right.
    is_checked: bool,
    asked_a_model: bool,
    /// Claude Code's own words for errors.
    codes: Vec<String>,
}

impl Reading {
    pub fn new(program: &Program, ask: &Ask) -> Self {
        Self {
            program: program.clone(),
            has_schema: enforces_schema(program, ask),
            reply: PartialReply::new(ask, &Account::default()),
            ..Self::default()
        }
    }

    /// Takes a line of standard output, without its end. After a break there must be no more:
    /// nothing that a program writes once it is stopped counts.
    pub fn line(&mut self, line: &str, on: On<'_>) -> Flow {
        let read = match self.program.reader {
            AnswerReader::ClaudeCode => Self::claude_event,
            AnswerReader::Codex => Self::codex_event,
            _ => return self.generic_line(line, on),
        };
        let Ok(event) = serde_json::from_str(line) else {
            // A banner, or a last word.
            line.clone_into(&mut self.loose);
            return Flow::Continue(());
        };
        if self.reply.text.is_empty() {
            on(Delta::KeepAlive);
        }
        read(self, &event, on)
    }

    /// Fails the call, whatever follows.
    fn fail(&mut self, class: FailureClass, why: &str) -> Flow {
        let message = shortened(&hide_keys(&format!("{} {why}", self.program.name)));
        self.failure = Some(Failure::new(class, message));
        Flow::Break(())
    }

    /// A seat has no tools: a program that uses one does more than answer.
    fn used_a_tool(&mut self, tool: &str) -> Flow {
        let why = format!("used a tool (`{tool}`), which no seat has");
        self.fail(FailureClass::Malformed, &why)
    }

    fn end(&mut self, stop: StopReason) {
        self.reply.stop = Some(stop);
        self.reply.complete = true;
        self.trouble = None;
    }

    /// The answer as a whole outweighs its pieces.
    fn set_text(&mut self, text: &str) {
        self.reply.text.clear();
        self.reply.add_text(text, &mut |_| {});
    }

    /// A program that did not reach a model reports no tokens.
    fn set_usage(&mut self, usage: Usage) {
        if usage.total() > 0 {
            self.reply.usage = Some(usage);
            self.reply.usage_is_final = true;
        }
    }

    /// Returns the outcome. `stderr` is the end of what the program wrote there, `now` turns the
    /// time of a reset into a delay. Programs write times of the day without a zone: it is `user`'s.
    pub fn finish(
        mut self,
        end: ProgramEnd,
        stderr: &str,
        now: Timestamp,
        user: &TimeZone,
    ) -> Outcome {
        self.finish_generic(end);
        let mut failure = match (self.failure.take(), self.trouble.take()) {
            (Some(failure), _) => failure,
            (None, Some(trouble)) => trouble.failure(&self.program),
            (None, None) if self.reply.complete => {
                let plan = self.plan.map(Box::new);
                let reply = self.reply.finish(End::Closed)?;
                return Ok(Reply { plan, ..reply });
            }
            (None, None) => self.unanswered(end, stderr),
        };
        let in_words = || reset(&failure.message, now, user);
        let resets_at = match failure.class {
            FailureClass::Quota => self.resets_at.or_else(in_words),
            FailureClass::RateLimit => in_words(),
            _ => None,
        };
        failure.retry_after = resets_at.map(|at| at.since(now));
        self.reply.complete = false;
        self.reply.stop = None;
        self.reply.finish(End::Broken(failure))
    }

    /// A program that ended without an answer.
    fn unanswered(&self, end: ProgramEnd, stderr: &str) -> Failure {
        use FailureClass::{Malformed, Timeout, Transport};
        let name = &self.program.name;
        let within = |what: &str, limit: Duration| format!("{what} {} s", limit.as_secs_f64());
        let (class, ended) = match end {
            ProgramEnd::Silent(limit) => (Timeout, within("wrote nothing for", limit)),
            ProgramEnd::TimedOut(limit) => (Timeout, within("gave no answer within", limit)),
            ProgramEnd::TooMuch => (Malformed, "wrote more than is read".to_owned()),
            ProgramEnd::Exited(None) | ProgramEnd::Stopped => {
                (Transport, "was ended by a signal".to_owned())
            }
            ProgramEnd::Exited(Some(code)) => {
                let is_odd = code == 0 && self.reply.text.is_empty();
                let class = if is_odd { Malformed } else { Transport };
                (class, format!("gave no answer (exit code {code})"))
            }
        };
        let has_said = matches!(end, ProgramEnd::Exited(_));
        let words = last_words(stderr).or_else(|| last_words(&self.loose));
        let Some(words) = words.filter(|_| has_said) else {
            return Failure::new(class, format!("{name} {ended}"));
        };
        let failure = Trouble::of(&words).failure(&self.program);
        let message = format!("{name} {ended}: {}", failure.message);
        Failure { message, ..failure }
    }
}

/// The last three lines that are not empty.
fn last_words(output: &str) -> Option<String> {
    let output = console::strip_ansi_codes(output);
    let lines = output
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty());
    let lines: Vec<&str> = lines.collect();
    let last = lines.get(lines.len().saturating_sub(3)..)?.join("\n");
    Some(last).filter(|last| !last.is_empty())
}
