//! The agent programs: the shapes of their outputs, and what the events of a turn add up to.

mod claude;
mod codex;
mod gemini;
mod opencode;

use serde_json::Value;

use super::ProgramErrorKind::{self, Authentication, Other, Quota};
use super::{AgentResponse, Denial, ProgramError, ResponseFormat};

/// A program that prints JSON, with what it printed so far.
pub(super) trait Program {
    fn read(&mut self, document: &Value);
    fn finish(self: Box<Self>) -> AgentResponse;
}

/// A program whose events say all of themselves: each changes the response.
struct ProgramEvents {
    response: AgentResponse,
    read: fn(&mut AgentResponse, &Value),
}

impl ProgramEvents {
    fn of(read: fn(&mut AgentResponse, &Value)) -> Self {
        let response = AgentResponse::default();
        Self { response, read }
    }
}

impl Program for ProgramEvents {
    fn read(&mut self, document: &Value) {
        (self.read)(&mut self.response, document);
    }

    fn finish(self: Box<Self>) -> AgentResponse {
        self.response
    }
}

/// `None` for text.
pub(super) fn program(format: ResponseFormat) -> Option<Box<dyn Program>> {
    match format {
        ResponseFormat::Text => None,
        ResponseFormat::Claude => Some(Box::<claude::Claude>::default()),
        ResponseFormat::Codex => Some(Box::new(ProgramEvents::of(codex::read))),
        ResponseFormat::Gemini => Some(Box::<gemini::Gemini>::default()),
        ResponseFormat::Opencode => Some(Box::new(ProgramEvents::of(opencode::read))),
    }
}

pub(super) fn format_of(document: &Value, ends_early: bool) -> Option<ResponseFormat> {
    if opencode::is_event(document) {
        Some(ResponseFormat::Opencode)
    } else if claude::is_message(document) {
        Some(ResponseFormat::Claude)
    } else if codex::is_event(document) {
        Some(ResponseFormat::Codex)
    } else if gemini::is_output(document, ends_early) {
        Some(ResponseFormat::Gemini)
    } else {
        None
    }
}

impl AgentResponse {
    fn add_denial(&mut self, tool: &str, target: Option<&str>) {
        self.denials.push(Denial {
            tool: tool.trim().to_owned(),
            target: target.map(|target| target.trim().to_owned()),
        });
    }

    fn add_tool_error(&mut self, text: Option<&str>) {
        self.tool_errors.push(text.unwrap_or_default().to_owned());
    }
}

fn program_error(kind: ProgramErrorKind, code: Option<&str>, message: &str) -> ProgramError {
    ProgramError {
        kind,
        code: code.map(str::to_owned),
        message: message.trim().to_owned(),
    }
}

fn kind_of_http_status(status: i64) -> ProgramErrorKind {
    match status {
        401 => Authentication,
        402 => Quota,
        _ => Other,
    }
}
