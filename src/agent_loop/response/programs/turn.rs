//! What the events of one turn add up to.

use std::collections::VecDeque;

use crate::agent_loop::response::limits;
use crate::agent_loop::response::report::{Denial, ProgramError, ProgramErrorKind};
use crate::agent_loop::response::tail::Excerpt;

/// The turn as far as it was read.
#[derive(Clone, Debug, Default)]
pub(in crate::agent_loop::response) struct Turn {
    pub(in crate::agent_loop::response) message: Excerpt,
    pub(in crate::agent_loop::response) tool_errors: VecDeque<String>,
    pub(in crate::agent_loop::response) denials: Vec<Denial>,
    pub(in crate::agent_loop::response) program_error: Option<ProgramError>,
    /// The last event of the program was there.
    pub(in crate::agent_loop::response) is_finished: bool,
}

impl Turn {
    /// Adds the text of a tool or command that failed. One without a text says nothing that could
    /// be recognized in another turn.
    pub(in crate::agent_loop::response) fn add_tool_error(&mut self, text: &str) {
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        if self.tool_errors.len() == limits::TOOL_ERRORS {
            self.tool_errors.pop_front();
        }
        self.tool_errors.push_back(shorten_error(text));
    }

    pub(in crate::agent_loop::response) fn add_denial(&mut self, tool: &str, target: Option<&str>) {
        if self.denials.len() < limits::DENIALS {
            self.denials.push(Denial {
                tool: shorten_name(tool),
                target: target.map(shorten_name),
            });
        }
    }

    pub(in crate::agent_loop::response) fn held(&self) -> usize {
        let errors: usize = self.tool_errors.iter().map(String::capacity).sum();
        self.message.text.capacity() + errors
    }
}

/// Returns the error that a program reports with a code and a text.
pub(in crate::agent_loop::response) fn program_error(
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
pub(in crate::agent_loop::response) fn kind_of_http_status(status: i64) -> ProgramErrorKind {
    match status {
        401 => ProgramErrorKind::Authentication,
        402 => ProgramErrorKind::Quota,
        429 => ProgramErrorKind::RateLimit,
        _ => ProgramErrorKind::Other,
    }
}

/// Shortens an error to its beginning and its end.
fn shorten_error(text: &str) -> String {
    if text.len() <= limits::ERROR_HEAD + limits::ERROR_TAIL {
        return text.to_owned();
    }
    let head = text.floor_char_boundary(limits::ERROR_HEAD);
    let tail = text.ceil_char_boundary(text.len().saturating_sub(limits::ERROR_TAIL));
    let head = text.get(..head).unwrap_or_default();
    let tail = text.get(tail..).unwrap_or_default();
    format!("{head}\n…\n{tail}")
}

fn shorten_name(text: &str) -> String {
    let text = text.trim();
    if text.len() <= limits::NAME {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(limits::NAME);
    format!("{}…", text.get(..end).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_error_keeps_its_beginning_and_its_end() {
        let mut turn = Turn::default();
        turn.add_tool_error(&format!("first{}last", "é".repeat(10_000)));
        let error = turn.tool_errors.front().unwrap();
        assert!(error.starts_with("first"));
        assert!(error.ends_with("last"));
        assert!(error.len() < limits::ERROR_HEAD + limits::ERROR_TAIL + 10);
    }

    #[test]
    fn the_last_errors_are_stored() {
        let mut turn = Turn::default();
        for number in 0..100 {
            turn.add_tool_error(&number.to_string());
        }
        assert_eq!(turn.tool_errors.len(), limits::TOOL_ERRORS);
        assert_eq!(turn.tool_errors.back().unwrap(), "99");
    }

    #[test]
    fn an_error_without_a_text_is_none() {
        let mut turn = Turn::default();
        turn.add_tool_error(" \n");
        assert!(turn.tool_errors.is_empty());
    }
}
