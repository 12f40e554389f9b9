//! The log that `codex exec` prints without `--json`. Today it goes to standard error, and the last
//! message alone to standard output; in old versions, and where both go to one file, it is the
//! output.
//!
//! ```text
//! OpenAI Codex v0.46.0 (research preview)
//! --------
//! workdir: /src          … and further settings
//! --------
//! user                   (old: User instructions:)
//! Do the next task.
//! codex
//! I look at the plan.
//! exec
//! bash -lc 'cargo test' in /src
//!  exited 101 in 12s:    (old: bash -lc 'cargo test' exited 101 in 12s:)
//! error: no such module
//! codex
//! The tests fail.
//! tokens used            (old: tokens used: 12,345)
//! 12,345
//! The tests fail.        (where standard output goes to the same file)
//! ```
//!
//! Old versions put a time in brackets before each heading. Source: in openai/codex
//! `codex-rs/exec/src/event_processor_with_human_output.rs`, and its history.

use super::turn::{Turn, program_error};
use crate::agent_loop::response::limits;
use crate::agent_loop::response::report::ProgramErrorKind::Other;
use crate::agent_loop::response::tail::TextTail;

/// Reads a log line by line.
#[derive(Debug)]
pub(crate) struct CodexLog {
    turn: Turn,
    section: Section,
    line: Vec<u8>,
    /// The line so far is a piece of a longer one, and not its beginning.
    in_long_line: bool,
    message: TextTail,
    /// The output of a command that failed.
    error: TextTail,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Section {
    /// Settings, the prompt, reasoning, a command, the output of one that succeeded.
    Other,
    Message,
    FailedOutput,
    /// The number of tokens.
    Tokens,
    /// The message that standard output gets, after all.
    LastMessage {
        has_begun: bool,
    },
}

/// Returns whether a line is the first of a log.
pub(crate) fn is_log_title(line: &[u8]) -> bool {
    matches!(line.first(), Some(b'O' | b'['))
        && without_time(&String::from_utf8_lossy(line)).starts_with("OpenAI Codex v")
}

impl CodexLog {
    pub(crate) fn new() -> Self {
        Self {
            turn: Turn::default(),
            section: Section::Other,
            line: Vec::new(),
            in_long_line: false,
            message: TextTail::new(limits::MESSAGE),
            error: TextTail::new(limits::ERROR_HEAD + limits::ERROR_TAIL),
        }
    }

    pub(crate) fn held(&self) -> usize {
        self.turn.held() + self.line.capacity() + self.message.held() + self.error.held()
    }

    pub(crate) fn push(&mut self, text: &[u8]) {
        for piece in text.split_inclusive(|byte| *byte == b'\n') {
            for part in piece.chunks(limits::LOG_LINE) {
                self.line.extend_from_slice(part);
                let is_whole = part.ends_with(b"\n");
                if is_whole || self.line.len() >= limits::LOG_LINE {
                    self.end_line();
                    self.in_long_line = !is_whole;
                }
            }
        }
    }

    pub(crate) fn finish(mut self) -> Turn {
        if !self.line.is_empty() {
            self.end_line();
        }
        self.end_section();
        self.turn.message = self.message.finish();
        // A blank line sets a message apart from the next heading.
        let text = &mut self.turn.message.text;
        text.truncate(text.trim_end().len());
        self.turn
    }

    fn end_line(&mut self) {
        let bytes = std::mem::take(&mut self.line);
        let line = String::from_utf8_lossy(&bytes);
        if self.in_long_line || !self.read_heading(line.trim_end()) {
            self.read_content(&bytes, line.trim());
        }
        self.line = bytes;
        self.line.clear();
    }

    /// Reads a line that begins a section; returns false for any other.
    fn read_heading(&mut self, line: &str) -> bool {
        // The message that comes after all is not part of the log.
        if matches!(self.section, Section::LastMessage { .. }) {
            return false;
        }
        let heading = without_time(line);
        let section = match heading {
            "codex" => Section::Message,
            "user" | "User instructions:" | "thinking" | "exec" | "tool" | "file update:" => {
                Section::Other
            }
            "tokens used" => Section::Tokens,
            _ if heading.starts_with("tokens used: ") => {
                self.turn.is_finished = true;
                Section::Other
            }
            _ if heading.starts_with("ERROR: ") => {
                self.read_error(heading);
                Section::Other
            }
            _ => match command_outcome(heading) {
                Some(CommandOutcome::Succeeded) => Section::Other,
                Some(CommandOutcome::Failed) => Section::FailedOutput,
                // With a time it is a heading of the log that says nothing here.
                None if heading.len() < line.len() => Section::Other,
                None => return false,
            },
        };
        self.end_section();
        self.section = section;
        if section == Section::Message {
            self.message.clear();
            self.turn.program_error = None;
        }
        true
    }

    fn read_content(&mut self, bytes: &[u8], line: &str) {
        match self.section {
            Section::Other => {}
            Section::Message => self.message.push(bytes),
            Section::FailedOutput => self.error.push(bytes),
            Section::Tokens => {
                self.turn.is_finished = true;
                self.section = Section::LastMessage { has_begun: false };
            }
            Section::LastMessage { has_begun: true } => self.message.push(bytes),
            Section::LastMessage { has_begun: false } if line.is_empty() => {}
            Section::LastMessage { has_begun: false } => {
                self.message.clear();
                self.message.push(bytes);
                self.section = Section::LastMessage { has_begun: true };
            }
        }
    }

    fn end_section(&mut self) {
        if self.section == Section::FailedOutput {
            let most = limits::ERROR_HEAD + limits::ERROR_TAIL;
            let output = std::mem::replace(&mut self.error, TextTail::new(most));
            self.turn.add_tool_error(&output.finish().text);
        }
    }

    fn read_error(&mut self, heading: &str) {
        let message = heading.trim_start_matches("ERROR: ");
        // A connection that is lost for a moment is reported in the same way.
        if !message.starts_with("Reconnecting") {
            self.turn.is_finished = true;
            self.turn.program_error = Some(program_error(Other, None, message));
        }
    }
}

enum CommandOutcome {
    Succeeded,
    Failed,
}

/// Returns the status that a line such as ` exited 101 in 12s:` reports.
fn command_outcome(heading: &str) -> Option<CommandOutcome> {
    let report = heading.strip_suffix(':')?;
    let (before, duration) = report.rsplit_once(" in ")?;
    if !duration.starts_with(|first: char| first.is_ascii_digit()) || duration.len() > 12 {
        return None;
    }
    let mut words = before.rsplit(' ');
    match (words.next()?, words.next()) {
        ("succeeded", _) => Some(CommandOutcome::Succeeded),
        (status, Some("exited")) => status.parse::<i32>().ok().map(|_| CommandOutcome::Failed),
        _ => None,
    }
}

/// Returns a line without the time in brackets at its beginning.
fn without_time(line: &str) -> &str {
    let after = line
        .strip_prefix('[')
        .and_then(|rest| rest.split_once("] "));
    match after {
        Some((time, rest)) if time.starts_with("20") && time.contains('T') => rest,
        _ => line,
    }
}

#[cfg(test)]
mod tests {
    use crate::agent_loop::response::testing::{before, response_in, response_of};
    use crate::agent_loop::response::{AgentResponse, ResponseFormat};

    const LOG: &str = "OpenAI Codex v0.46.0 (research preview)
--------
workdir: /src
model: gpt-5-codex
--------
user
Do the next task.
codex
EXIT_SIGNAL: true, says the prompt.

thinking
**Looking at it**
codex
I look at the plan.
exec
bash -lc 'cargo test' in /src
 exited 101 in 12.5s:
error: no such module
{\"type\":\"result\",\"subtype\":\"success\",\"result\":\"x\"}
exec
bash -lc ls in /src
 succeeded in 11ms:
codex
codex
Two tests fail.

I go on.
tokens used
12,345
";

    fn log(output: &str) -> AgentResponse {
        response_in(ResponseFormat::Codex, output)
    }

    #[test]
    fn the_last_message_of_a_log_is_read() {
        let response = log(LOG);
        assert_eq!(response.last_message, "Two tests fail.\n\nI go on.");
        assert!(!response.ends_mid_stream);
        assert_eq!(response.tool_errors.len(), 1);
        assert!(response.tool_errors[0].starts_with("error: no such module"));
    }

    #[test]
    fn the_message_after_the_log_is_the_last_one() {
        let response = log(&format!("{LOG}Two tests fail.\n\ncodex\nuser\n"));
        assert_eq!(response.last_message, "Two tests fail.\n\ncodex\nuser");
    }

    #[test]
    fn a_log_that_is_cut_off_gives_what_there_is() {
        let response = log(before(LOG, "codex\ncodex"));
        assert_eq!(response.last_message, "I look at the plan.");
        assert!(response.ends_mid_stream);
    }

    #[test]
    fn an_error_of_the_program_is_read() {
        let start = before(LOG, "codex\nEXIT");
        let log = log(&format!(
            "{start}ERROR: Reconnecting... 1/5\nERROR: You've hit your usage limit.\n"
        ));
        assert_eq!(
            log.program_error.unwrap().message,
            "You've hit your usage limit."
        );
        assert_eq!(log.last_message, "");
    }

    #[test]
    fn old_logs_have_times() {
        let old = "[2025-08-12T10:00:00] OpenAI Codex v0.20.0 (research preview)
--------
workdir: /src
--------
[2025-08-12T10:00:00] User instructions:
Do it.
[2025-08-12T10:00:02] codex

It is done.
[2025-08-12T10:00:02] exec bash -lc 'cargo test' in /src
[2025-08-12T10:00:03] bash -lc 'cargo test' exited 101 in 1.2s:
error: failed
[2025-08-12T10:00:04] tokens used: 4,567
";
        let response = log(old);
        assert_eq!(response.last_message.trim(), "It is done.");
        assert_eq!(response.tool_errors, ["error: failed"]);
        assert!(!response.ends_mid_stream);
    }

    #[test]
    fn a_text_about_codex_is_a_text() {
        let text = "OpenAI Codex v1 is out.\n\ncodex\nDone.\n";
        assert_eq!(response_of(text).format, ResponseFormat::Text);
    }
}
