//! The errors of a turn, by signature: of tools, of the program, and those that the message reports
//! as present.
//!
//! A tool that failed while the agent worked is not an error of the turn: agents try things, and run
//! tests that fail before they pass. It is one if the turn ends with it: without a message, with an
//! error of the program, or with a message that reports a failure.
//!
//! A count of failed tests is no signature: it would be the same while fewer fail each turn. Neither
//! is an exit code alone, which says nothing about what failed.

mod report;
mod signature;

use super::obstacle::is_program_failure;
use crate::agent_loop::response::{AgentResponse, ProgramErrorKind};
use crate::agent_loop::text::{Message, normal};
use crate::stopping::exit_check::evidence::{Obstacle, TurnEvidence};

pub use signature::ErrorText;

/// Collects the distinct errors of a turn, sorted. What is an obstacle is no error besides.
pub(super) fn read(
    response: &AgentResponse,
    message: &Message,
    obstacle: Option<&Obstacle>,
) -> Vec<ErrorText> {
    let mut errors: Vec<ErrorText> = Vec::new();
    let reported = report::reported(message);
    let ends_in_failure = message.text.trim().is_empty()
        || response.program_error.is_some()
        || !reported.is_empty()
        || report::says_failure(message);
    if ends_in_failure {
        for text in &response.tool_errors {
            errors.extend(ErrorText::read(&normal(text)));
        }
    }
    if obstacle.is_none() {
        errors.extend(program_error(response));
        for denial in &response.denials {
            errors.extend(ErrorText::read(&format!(
                "permission denied: {}",
                denial.tool
            )));
        }
        errors.extend(reported);
        if is_program_failure(message) {
            errors.extend(ErrorText::read(message.text.trim()));
        }
    }
    errors.sort();
    errors.dedup_by(|one, other| one.signature == other.signature);
    errors.truncate(TurnEvidence::MOST_ERRORS);
    errors
}

/// The program's own error; that the allowed turns or money were used up is none.
fn program_error(response: &AgentResponse) -> Option<ErrorText> {
    let error = response.program_error.as_ref();
    let error = error.filter(|error| error.kind != ProgramErrorKind::RunLimit)?;
    ErrorText::read(&normal(&error.message)).or_else(|| ErrorText::read(error.code.as_deref()?))
}
