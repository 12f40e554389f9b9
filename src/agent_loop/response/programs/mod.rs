//! The agent programs: the shapes of their outputs, and what the events of a turn add up to.

mod claude;
mod codex;
mod codex_log;
mod gemini;
mod turn;

use claude::Claude;
use codex::Codex;
pub(super) use codex_log::{CodexLog, is_log_title};
use gemini::Gemini;
pub(super) use turn::Turn;

use super::json::Node;
use super::report::ResponseFormat;

/// A program that prints JSON, with what it printed so far.
#[derive(Debug)]
pub(super) enum Program {
    Claude(Claude),
    Codex(Codex),
    Gemini(Gemini),
}

impl Program {
    pub(super) fn new(format: ResponseFormat) -> Option<Self> {
        match format {
            ResponseFormat::Text => None,
            ResponseFormat::Claude => Some(Self::Claude(Claude::default())),
            ResponseFormat::Codex => Some(Self::Codex(Codex::default())),
            ResponseFormat::Gemini => Some(Self::Gemini(Gemini::default())),
        }
    }

    pub(super) fn format(&self) -> ResponseFormat {
        match self {
            Self::Claude(_) => ResponseFormat::Claude,
            Self::Codex(_) => ResponseFormat::Codex,
            Self::Gemini(_) => ResponseFormat::Gemini,
        }
    }

    pub(super) fn read(&mut self, document: &Node) {
        match self {
            Self::Claude(claude) => claude.read(document),
            Self::Codex(codex) => codex.read(document),
            Self::Gemini(gemini) => gemini.read(document),
        }
    }

    pub(super) fn held(&self) -> usize {
        match self {
            Self::Claude(claude) => claude.held(),
            Self::Codex(codex) => codex.held(),
            Self::Gemini(gemini) => gemini.held(),
        }
    }

    pub(super) fn finish(self) -> Turn {
        match self {
            Self::Claude(claude) => claude.finish(),
            Self::Codex(codex) => codex.finish(),
            Self::Gemini(gemini) => gemini.finish(),
        }
    }
}

/// Returns the format that a document has the shape of.
pub(super) fn format_of(document: &Node, ends_early: bool) -> Option<ResponseFormat> {
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

/// Returns the name of the program that prints a format.
pub(super) fn name_of(format: ResponseFormat) -> &'static str {
    match format {
        ResponseFormat::Text => "a text",
        ResponseFormat::Claude => "Claude Code",
        ResponseFormat::Codex => "Codex",
        ResponseFormat::Gemini => "Gemini CLI",
    }
}

/// Returns what an output of the format is, for an error message.
pub(super) fn output_of(format: ResponseFormat) -> &'static str {
    match format {
        ResponseFormat::Text => "text",
        ResponseFormat::Claude => "the JSON of `claude -p --output-format json` or `stream-json`",
        ResponseFormat::Codex => "the JSON of `codex exec --json`, or the log of `codex exec`",
        ResponseFormat::Gemini => "the JSON of `gemini --output-format json` or `stream-json`",
    }
}
