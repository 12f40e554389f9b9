//! What an agent program printed in one turn: its last message, and what it reports itself.
//!
//! `output` splits it into documents of JSON and lines of text; `programs` knows the shapes and
//! names their documentation. Unknown members and events are skipped, and a value of an unexpected
//! type is never an error.

mod output;
mod programs;
mod fence;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod properties;

use serde::Deserialize;

/// Reads the output of an agent program. Without a format, the content decides.
///
/// # Errors
///
/// When a given format is not that of the output.
pub fn read(output: &[u8], format: Option<ResponseFormat>) -> Result<AgentResponse, ResponseError> {
    let text = String::from_utf8_lossy(output);
    output::read(text.strip_prefix('\u{feff}').unwrap_or(&text), format)
}

/// The output of an agent program in one turn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentResponse {
    /// The text of the last message of the agent itself, not of its subagents, with `\n` as the end
    /// of a line. Of a very long message the end, from the beginning of a line; it parses as
    /// Markdown by itself, so that code at the cut is still code. Empty without a message.
    pub last_message: String,
    /// The texts of tools and commands that failed, oldest first: the last ones, each cut.
    pub tool_errors: Vec<String>,
    /// The program's own error: the turn did not end as it should.
    pub program_error: Option<ProgramError>,
    /// The tool calls that the program refused to run.
    pub denials: Vec<Denial>,
    /// Every line is JSON, but of no program that is known here: the text is this JSON.
    pub is_unknown_json: bool,
}

/// The format of an agent program's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResponseFormat {
    /// Plain text or Markdown.
    Text,
    /// Claude Code, `--output-format json` or `stream-json`.
    Claude,
    /// Codex, `exec --json`.
    Codex,
    /// Gemini CLI, `--output-format json` or `stream-json`.
    Gemini,
    /// opencode, `run --format json`.
    Opencode,
}

/// The error that an agent program reports of itself, in a field of its output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramError {
    pub kind: ProgramErrorKind,
    /// The program's name for it, such as `error_max_turns`.
    pub code: Option<String>,
    /// The program's words, cut; empty if it has none.
    pub message: String,
}

/// What the fields of an error say, not its words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramErrorKind {
    /// The turns or the money that the person allowed for one run are used up.
    RunLimit,
    /// The program is not signed in, or its key is refused.
    Authentication,
    /// The limit of use of an account is reached, or there is no credit.
    Quota,
    /// Every other error: only its words can say more. Too many requests may be over in a minute, or
    /// last.
    Other,
}

/// A tool call that the program refused to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denial {
    pub tool: String,
    /// The command, the file or the address it was about, cut.
    pub target: Option<String>,
}

/// The reason why an output could not be read.
#[derive(Debug, thiserror::Error)]
#[error("line {line} is not output of {}", expected(*.format))]
pub struct ResponseError {
    pub format: ResponseFormat,
    pub line: u64,
}

fn expected(format: ResponseFormat) -> &'static str {
    match format {
        ResponseFormat::Text => "a text: expected text",
        ResponseFormat::Claude => {
            "Claude Code: expected the JSON of `claude -p --output-format json` or `stream-json`"
        }
        ResponseFormat::Codex => "Codex: expected the JSON of `codex exec --json`",
        ResponseFormat::Gemini => {
            "Gemini CLI: expected the JSON of `gemini --output-format json` or `stream-json`"
        }
        ResponseFormat::Opencode => "opencode: expected the JSON of `opencode run --format json`",
    }
}
