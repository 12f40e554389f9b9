//! The agent programs: the shapes of their outputs, and what the events of a turn add up to.

mod claude;
mod codex;
mod gemini;
mod turn;

use serde_json::Value;

use super::report::ResponseFormat;

pub(super) use turn::Turn;

/// A program that prints JSON, with what it printed so far.
pub(super) trait Program {
    fn read(&mut self, document: &Value);
    fn finish(self: Box<Self>) -> Turn;
}

/// Returns the reader of a format; `None` for text.
pub(super) fn program(format: ResponseFormat) -> Option<Box<dyn Program>> {
    match format {
        ResponseFormat::Text => None,
        ResponseFormat::Claude => Some(Box::<claude::Claude>::default()),
        ResponseFormat::Codex => Some(Box::<codex::Codex>::default()),
        ResponseFormat::Gemini => Some(Box::<gemini::Gemini>::default()),
    }
}

/// Returns the format that a document has the shape of.
pub(super) fn format_of(document: &Value, ends_early: bool) -> Option<ResponseFormat> {
    if claude::is_message(document) {
        Some(ResponseFormat::Claude)
    } else if codex::is_event(document) {
        Some(ResponseFormat::Codex)
    } else if gemini::is_output(document, ends_early) {
        Some(ResponseFormat::Gemini)
    } else {
        None
    }
}
