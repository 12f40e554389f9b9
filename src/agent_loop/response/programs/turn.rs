//! What the events of one turn add up to.

use std::collections::VecDeque;

use crate::agent_loop::response::limits;
use crate::agent_loop::response::report::{Denial, ProgramError, ProgramErrorKind};
use crate::text::clean::{shortened_unmasked, token_at};

/// The text of a failed call.
#[derive(Clone, Debug)]
struct ToolError {
    call_id: Option<String>,
    text: String,
}

/// The turn as far as it was read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Turn {
    pub(crate) message: String,
    tool_errors: VecDeque<ToolError>,
    pub(crate) denials: Vec<Denial>,
    pub(crate) program_error: Option<ProgramError>,
    /// The last event of the program was there.
    pub(crate) is_finished: bool,
}

impl Turn {
    /// Adds the text of a tool or command that failed. One without a text says nothing that could
    /// be recognized in another turn.
    pub(crate) fn add_tool_error(&mut self, text: &str) {
        self.add_error_of_call(None, text);
    }

    /// Adds the text of a call that failed, which may turn out to be one that was denied.
    pub(crate) fn add_error_of_call(&mut self, call_id: Option<&str>, text: &str) {
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        if self.tool_errors.len() == limits::TOOL_ERRORS {
            self.tool_errors.pop_front();
        }
        self.tool_errors.push_back(ToolError {
            call_id: call_id.map(shorten_name),
            text: shorten_error(text),
        });
    }

    /// Removes the error of a call that was denied: it never ran.
    pub(crate) fn remove_error_of_call(&mut self, call_id: &str) {
        let call_id = shorten_name(call_id);
        self.tool_errors
            .retain(|error| error.call_id.as_ref() != Some(&call_id));
    }

    pub(crate) fn error_texts(&self) -> impl Iterator<Item = &str> {
        self.tool_errors.iter().map(|error| error.text.as_str())
    }

    pub(crate) fn add_denial(&mut self, tool: &str, target: Option<&str>) {
        if self.denials.len() < limits::DENIALS {
            self.denials.push(Denial {
                tool: shorten_name(tool),
                target: target.map(shorten_name),
            });
        }
    }
}

/// Returns the error that a program reports with a code and a text.
pub(crate) fn program_error(
    kind: ProgramErrorKind,
    code: Option<&str>,
    message: &str,
) -> ProgramError {
    ProgramError {
        kind,
        code: code.map(shorten_name),
        message: shorten_error(message.trim()),
    }
}

/// Returns what an HTTP status says of a failed call.
pub(crate) fn kind_of_http_status(status: i64) -> ProgramErrorKind {
    match status {
        401 => ProgramErrorKind::Authentication,
        402 => ProgramErrorKind::Quota,
        429 => ProgramErrorKind::RateLimit,
        _ => ProgramErrorKind::Other,
    }
}

/// Shortens an error to its beginning and its end.
fn shorten_error(text: &str) -> String {
    let length = text.chars().count();
    if length <= limits::ERROR_HEAD + limits::ERROR_TAIL {
        return text.to_owned();
    }
    let head = shortened_unmasked(text, limits::ERROR_HEAD);
    let tail = text.char_indices().nth(length - limits::ERROR_TAIL);
    let tail = token_at(text, tail.map_or(0, |(at, _)| at)).end;
    format!("{head}\n{}", text.get(tail..).unwrap_or_default())
}

fn shorten_name(text: &str) -> String {
    shortened_unmasked(text.trim(), limits::NAME)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_error_keeps_its_beginning_and_its_end() {
        let mut turn = Turn::default();
        turn.add_tool_error(&format!("first {}last", "é ".repeat(10_000)));
        let error = turn.error_texts().next().unwrap();
        assert!(error.starts_with("first"));
        assert!(error.ends_with("last"));
        assert!(error.chars().count() < limits::ERROR_HEAD + limits::ERROR_TAIL + 10);
    }

    #[test]
    fn the_last_errors_are_stored() {
        let mut turn = Turn::default();
        for number in 0..100 {
            turn.add_tool_error(&number.to_string());
        }
        assert_eq!(turn.tool_errors.len(), limits::TOOL_ERRORS);
        assert_eq!(turn.error_texts().last(), Some("99"));
    }

    #[test]
    fn an_error_without_a_text_is_none() {
        let mut turn = Turn::default();
        turn.add_tool_error(" \n");
        assert!(turn.tool_errors.is_empty());
    }
}
