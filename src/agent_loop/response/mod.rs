//! What an agent program printed in one turn: its last message, and what it reports itself.
//!
//! The output may be of any size and may end anywhere; what is in memory at one time is bounded.
//! [`Output`] takes it in pieces, and splits it in documents of JSON and lines of text; one module a
//! program knows the shapes, and where they are documented. Members and events that are not known
//! are passed over, and no value of an unexpected type is an error.

mod output;
mod claude;
mod codex;
mod codex_log;
mod gemini;
mod turn;
mod json;
mod encoding;
mod tail;
mod fence;
mod limits;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod properties;

use std::io::{self, Read};

use encoding::Decoder;
use output::Output;

/// The output of an agent program in one turn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentResponse {
    pub format: ResponseFormat,
    /// The text of the last message of the agent itself, not of its subagents, with `\n` as the end
    /// of a line. Of a very long message the end, from the beginning of a line; it parses as
    /// Markdown by itself, so that code at the cut is still code. Empty without a message.
    pub last_message: String,
    /// The message began before `last_message`, which is the end of it.
    pub truncated_before: bool,
    /// The texts of tools and commands that failed, oldest first: the last ones, each cut.
    pub tool_errors: Vec<String>,
    /// The program's own error: the turn did not end as it should.
    pub program_error: Option<ProgramError>,
    /// The tool calls that the program refused to run.
    pub denials: Vec<Denial>,
    /// A stream of JSON without its last event, or a document of JSON without its end.
    pub ends_mid_stream: bool,
}

/// The format of an agent program's output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ResponseFormat {
    /// Plain text or Markdown.
    #[default]
    Text,
    /// Claude Code, `--output-format json` or `stream-json`.
    Claude,
    /// Codex, `exec --json`; or the log that old versions print without it.
    Codex,
    /// Gemini CLI, `--output-format json` or `stream-json`.
    Gemini,
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
    /// Too many requests, which may be over in a minute, or last: the words say more.
    RateLimit,
    /// Every other error: only its words can say more.
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
pub enum ResponseError {
    #[error("reading failed")]
    Io(#[from] io::Error),
    #[error("line {line} is not output of {program}: expected {expected}")]
    Format {
        program: &'static str,
        line: u64,
        expected: &'static str,
    },
}

/// Reads the output of an agent program to its end. Without a format, the content decides.
///
/// # Errors
///
/// When reading fails, and when a given format is not that of the output.
pub fn read(
    output: impl Read,
    format: Option<ResponseFormat>,
) -> Result<AgentResponse, ResponseError> {
    read_counted(output, format).map(|(response, _)| response)
}

/// Reads an output, and returns also the greatest number of bytes that were held at one time.
fn read_counted(
    mut source: impl Read,
    format: Option<ResponseFormat>,
) -> Result<(AgentResponse, usize), ResponseError> {
    let mut decoder = Decoder::default();
    let mut output = Output::new(format);
    let mut chunk = vec![0; limits::CHUNK];
    let mut text = Vec::new();
    let mut most_held = 0;
    loop {
        let length = match source.read(&mut chunk) {
            Ok(0) => break,
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error.into()),
        };
        text.clear();
        decoder.decode(chunk.get(..length).unwrap_or_default(), &mut text);
        output.push(&text);
        most_held = most_held.max(chunk.len() + text.capacity() + output.held());
    }
    text.clear();
    decoder.finish(&mut text);
    output.push(&text);
    Ok((output.finish()?, most_held))
}
