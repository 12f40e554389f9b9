//! What an agent program printed in one turn: its last message, and what it reports itself.
//!
//! `output` splits it into documents of JSON and lines of text; `programs` knows the shapes, and
//! names the documents that describe them. Members and events that are not known are passed over,
//! and no value of an unexpected type is an error.

mod report;
mod output;
mod programs;
mod fence;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod properties;

pub use report::{
    AgentResponse, Denial, ProgramError, ProgramErrorKind, ResponseError, ResponseFormat,
};

/// Reads the output of an agent program. Without a format, the content decides.
///
/// # Errors
///
/// When a given format is not that of the output.
pub fn read(output: &[u8], format: Option<ResponseFormat>) -> Result<AgentResponse, ResponseError> {
    let text = String::from_utf8_lossy(output);
    output::read(text.strip_prefix('\u{feff}').unwrap_or(&text), format)
}
