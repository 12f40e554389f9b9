//! The text of the context of a consultation to resume. A journal does not hold this text, and
//! without it the prompts would differ from the answered ones.

use crate::consultation::event::{ConsultationEvent, Envelope, Event};
use crate::domain::context::Context;
use crate::domain::ids::ConsultationId;
use crate::error::Error;
use crate::records::files::ConsultationFiles;
use crate::records::files::context_file::{self, ContextFileError};
use crate::text::clean::one_line;

/// Most sources that an error names.
const MAX_SOURCES: usize = 3;

/// Adds the text to the plan in the first event, from which the prompts are made.
pub(in crate::session) fn load(
    id: &ConsultationId,
    events: &mut [Envelope],
    files: &ConsultationFiles,
) -> Result<(), Error> {
    let Some(context) = events.first_mut().and_then(planned) else {
        return Ok(());
    };
    context.text = context_file::read(&files.context, context)
        .map_err(|source| unavailable(id, context, source))?;
    Ok(())
}

fn planned(first: &mut Envelope) -> Option<&mut Context> {
    let Event::Consultation(ConsultationEvent::Started(terms)) = &mut first.event else {
        return None;
    };
    terms.plan.as_deref_mut()?.context.as_deref_mut()
}

#[derive(Debug, thiserror::Error)]
#[error("cannot resume {}", id.short())]
struct NoContextError {
    id: ConsultationId,
    source: ContextFileError,
}

fn unavailable(id: &ConsultationId, context: &Context, source: ContextFileError) -> Error {
    let can_return = match source {
        ContextFileError::Missing { .. } | ContextFileError::Changed { .. } => true,
        ContextFileError::Off | ContextFileError::Failed | ContextFileError::Io { .. } => false,
    };
    let id = id.clone();
    let short = id.short();
    let answered = format!("see what was answered with `conclave history show {short}`");
    let mut error = Error::usage(NoContextError { id, source });
    if can_return {
        error = error.hint("put the file back as it was");
    }
    let again = format!(
        "ask again with `conclave consult \"…\"` and the same context: {}",
        names(context)
    );
    error.hint(again).hint(answered)
}

fn names(context: &Context) -> String {
    let first = context.sources.iter().take(MAX_SOURCES);
    let first: Vec<String> = first.map(|source| one_line(&source.name)).collect();
    let names = first.join(", ");
    match context.sources.len().saturating_sub(MAX_SOURCES) {
        0 => names,
        more => format!("{names} and {more} more"),
    }
}
