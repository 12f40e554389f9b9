//! The log that `codex exec` prints without `--json`. It goes to standard error, and the last message
//! alone to standard output; where both go to one file, the log is the output.
//!
//! ```text
//! OpenAI Codex v0.46.0 (research preview)
//! --------
//! workdir: /src          … and further settings
//! --------
//! user
//! Do the next task.
//! codex
//! I look at the plan.
//! exec
//! bash -lc 'cargo test' in /src
//!  exited 101 in 12s:
//! error: no such module
//! codex
//! The tests fail.
//! tokens used
//! 12,345
//! ```
//!
//! Source: in openai/codex `codex-rs/exec/src/event_processor_with_human_output.rs`.

use super::turn::{Turn, program_error};
use crate::agent_loop::response::report::ProgramErrorKind::Other;

/// Returns whether a line is the first of a log.
pub(crate) fn is_log_title(line: &str) -> bool {
    line.starts_with("OpenAI Codex v")
}

/// Reads the last message of what follows the title of a log, and an error of the program after it.
pub(crate) fn read(log: &str) -> Turn {
    let mut turn = Turn::default();
    let mut is_message = false;
    let (log, after) = log.split_once("\ntokens used\n").unwrap_or((log, ""));
    for line in log.split_inclusive('\n') {
        match line.trim_end() {
            "codex" => {
                turn.message.clear();
                turn.program_error = None;
                is_message = true;
            }
            "user" | "thinking" | "exec" | "tool" | "file update:" => is_message = false,
            heading if heading.starts_with("ERROR: ") => {
                let message = heading.trim_start_matches("ERROR: ");
                is_message = false;
                // A connection that is lost for a moment is reported in the same way.
                if !message.starts_with("Reconnecting") {
                    turn.is_finished = true;
                    turn.program_error = Some(program_error(Other, None, message));
                }
            }
            _ if is_message => turn.message.push_str(line),
            _ => {}
        }
    }
    // Behind their number stands the message that standard output gets, whatever lines it has.
    if let Some((_, message)) = after.split_once('\n') {
        turn.is_finished = true;
        if !message.trim().is_empty() {
            message.trim_start().clone_into(&mut turn.message);
        }
    }
    // A blank line sets a message apart from the next heading.
    turn.message.truncate(turn.message.trim_end().len());
    turn
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
    fn a_text_about_codex_is_a_text() {
        let text = "OpenAI Codex v1 is out.\n\ncodex\nDone.\n";
        assert_eq!(response_of(text).format, ResponseFormat::Text);
    }
}
