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
use crate::agent_loop::response::report::ProgramErrorKind::Other;

/// A section of the log, with the text that it has so far.
enum Section {
    /// Settings, the prompt, reasoning, a command, the output of one that succeeded.
    Other,
    Message,
    FailedOutput(String),
    /// The number of tokens. What follows is the message that standard output gets, after all.
    Tokens,
}

/// Returns whether a line is the first of a log.
pub(crate) fn is_log_title(line: &str) -> bool {
    without_time(line).starts_with("OpenAI Codex v")
}

/// Reads what follows the title of a log.
pub(crate) fn read(log: &str) -> Turn {
    let mut turn = Turn::default();
    let mut section = Section::Other;
    let mut rest = log;
    while let Some(line) = rest.split_inclusive('\n').next() {
        rest = rest.get(line.len()..).unwrap_or_default();
        let Some(next) = heading(line.trim_end(), &mut turn) else {
            match &mut section {
                Section::Other => {}
                Section::Message => turn.message.push_str(line),
                Section::FailedOutput(output) => output.push_str(line),
                Section::Tokens => {
                    turn.is_finished = true;
                    if !rest.trim().is_empty() {
                        rest.trim_start().clone_into(&mut turn.message);
                    }
                    break;
                }
            }
            continue;
        };
        if let Section::FailedOutput(output) = std::mem::replace(&mut section, next) {
            turn.add_tool_error(&output);
        }
        if matches!(section, Section::Message) {
            turn.message.clear();
            turn.program_error = None;
        }
    }
    if let Section::FailedOutput(output) = section {
        turn.add_tool_error(&output);
    }
    // A blank line sets a message apart from the next heading.
    turn.message.truncate(turn.message.trim_end().len());
    turn
}

/// Returns the section that a line begins; `None` for any other line.
fn heading(line: &str, turn: &mut Turn) -> Option<Section> {
    let heading = without_time(line);
    match heading {
        "codex" => return Some(Section::Message),
        "user" | "User instructions:" | "thinking" | "exec" | "tool" | "file update:" => {}
        "tokens used" => return Some(Section::Tokens),
        _ if heading.starts_with("tokens used: ") => turn.is_finished = true,
        _ if heading.starts_with("ERROR: ") => read_error(heading, turn),
        _ => match command_outcome(heading) {
            Some(CommandOutcome::Succeeded) => {}
            Some(CommandOutcome::Failed) => return Some(Section::FailedOutput(String::new())),
            // With a time it is a heading of the log that says nothing here.
            None if heading.len() < line.len() => {}
            None => return None,
        },
    }
    Some(Section::Other)
}

fn read_error(heading: &str, turn: &mut Turn) {
    let message = heading.trim_start_matches("ERROR: ");
    // A connection that is lost for a moment is reported in the same way.
    if !message.starts_with("Reconnecting") {
        turn.is_finished = true;
        turn.program_error = Some(program_error(Other, None, message));
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
