//! What the events of one turn add up to.

use crate::agent_loop::response::report::{Denial, ProgramError, ProgramErrorKind};

/// What is known of a turn while its documents are read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Turn {
    pub(crate) message: String,
    /// With the id of the call, where one is known.
    pub(crate) tool_errors: Vec<(Option<String>, String)>,
    pub(crate) denials: Vec<Denial>,
    pub(crate) program_error: Option<ProgramError>,
}

impl Turn {
    /// Adds an error of a tool, unless it says nothing.
    pub(crate) fn add_tool_error(&mut self, call_id: Option<&str>, text: &str) {
        let text = text.trim();
        if !text.is_empty() {
            let error = (call_id.map(str::to_owned), text.to_owned());
            self.tool_errors.push(error);
        }
    }

    pub(crate) fn add_denial(&mut self, tool: &str, target: Option<&str>) {
        self.denials.push(Denial {
            tool: tool.trim().to_owned(),
            target: target.map(|target| target.trim().to_owned()),
        });
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
        code: code.map(str::to_owned),
        message: message.trim().to_owned(),
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
