//! What an agent program printed in one turn: its last message, and what it reports itself.
//!
//! The output may be of any size and may end anywhere; what is in memory at one time is bounded.
//! `output` takes it in pieces, and splits it into documents of JSON and lines of text; `programs`
//! knows the shapes, and names the documents that describe them. Members and events that are not
//! known are passed over, and no value of an unexpected type is an error.

mod report;
mod output;
mod programs;
mod json;
mod tail;
mod encoding;
mod limits;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod properties;

use std::io::{self, Read};

use encoding::Decoder;
use output::Output;
pub use report::{
    AgentResponse, Denial, ProgramError, ProgramErrorKind, ResponseError, ResponseFormat,
};

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
