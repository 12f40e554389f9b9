//! What an agent program printed in one turn: its last message, and what it reports itself.
//!
//! `output` splits it into documents of JSON and lines of text; `programs` knows the shapes, and
//! names the documents that describe them. Members and events that are not known are passed over,
//! and no value of an unexpected type is an error.

mod report;
mod output;
mod programs;
mod json;
mod excerpt;
mod fence;
mod limits;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod properties;

use std::io::{self, Read};

pub use report::{
    AgentResponse, Denial, ProgramError, ProgramErrorKind, ResponseError, ResponseFormat,
};

/// Reads the output of an agent program, or the end of a very long one. Without a format, the
/// content decides.
///
/// # Errors
///
/// When reading fails, and when a given format is not that of the output.
pub fn read(
    output: impl Read,
    format: Option<ResponseFormat>,
) -> Result<AgentResponse, ResponseError> {
    let (bytes, is_cut) = end_of_output(output, limits::OUTPUT)?;
    let text = String::from_utf8_lossy(&bytes);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let mut response = output::read(text, format)?;
    response.truncated_before |= is_cut && response.format == ResponseFormat::Text;
    Ok(response)
}

/// Reads to the end, and returns the last bytes, of a longer output from the beginning of a line;
/// and whether it was longer.
fn end_of_output(mut source: impl Read, limit: usize) -> io::Result<(Vec<u8>, bool)> {
    let mut bytes = Vec::new();
    let mut is_cut = false;
    loop {
        let room = u64::try_from(limit).unwrap_or(u64::MAX);
        if (&mut source).take(room).read_to_end(&mut bytes)? == 0 {
            break;
        }
        let excess = bytes.len().saturating_sub(limit);
        is_cut |= excess > 0;
        bytes.drain(..excess);
    }
    if is_cut {
        let line = memchr::memchr(b'\n', &bytes).map_or(0, |newline| newline + 1);
        bytes.drain(..line);
    }
    Ok((bytes, is_cut))
}
