//! Lookup of a consultation by name, and the errors when none or several match.

use std::path::Path;

use crate::domain::ids::ConsultationId;
use crate::error::Error;
use crate::records::files::ConsultationFiles;
use crate::records::index::Index;
use crate::records::journal::ends;
use crate::records::lookup::LookupError;
use crate::records::{history, lookup};
use crate::text::clean::{count, one_line};

/// Most consultations that are listed for an ambiguous name.
const MAX_CANDIDATES: usize = 10;

/// Columns of a question beside a candidate, so that the line fits on a terminal of 80.
const LONGEST_QUESTION: usize = 32;

/// In the index if there is one, else in the folder of logs.
pub fn find(index: Option<&Index>, logs: &Path, name: &str) -> Result<ConsultationId, Error> {
    let found = lookup::find(index.map(|index| &index.connection), logs, name);
    match found
        .map_err(|error| Error::usage(format!("cannot read `{}`: {error}", logs.display())))?
    {
        Ok(found) => Ok(found),
        Err(LookupError::NotFound) if name == "last" => Err(Error::usage("no saved consultations")
            .hint("ask something with `conclave consult \"…\"`")),
        Err(LookupError::NotFound) => Err(Error::usage(format!(
            "no consultation is called `{}`",
            one_line(name)
        ))
        .hint("see the saved consultations with `conclave history list`")),
        Err(LookupError::Ambiguous(found)) => Err(several(index, logs, name, &found)),
    }
}

fn several(index: Option<&Index>, logs: &Path, name: &str, found: &[ConsultationId]) -> Error {
    let mut error = Error::usage(format!(
        "`{}` matches several consultations: {}",
        one_line(name),
        count(found.len(), "consultation")
    ));
    for candidate in found.iter().take(MAX_CANDIDATES) {
        let description = description(index, logs, candidate).unwrap_or_default();
        let id = candidate.as_str();
        let unique = id.strip_prefix("consult-").unwrap_or(id);
        error = error.hint(format!("{unique}{description}"));
    }
    match found.len().saturating_sub(MAX_CANDIDATES) {
        0 => error,
        more => error.hint(format!("and {more} more: see `conclave history list`")),
    }
}

fn description(index: Option<&Index>, logs: &Path, candidate: &ConsultationId) -> Option<String> {
    let indexed = || {
        let listed = history::with_id(&index?.connection, candidate.as_str()).ok()??;
        Some((listed.timestamp, listed.question))
    };
    let journalled = || {
        let opening = ends::opening(&ConsultationFiles::in_folder(logs, candidate).journal)?;
        Some((opening.at, opening.question))
    };
    let (at, question) = indexed().or_else(journalled)?;
    Some(format!(
        "  {}  {}",
        at.date(),
        console::truncate_str(&one_line(&question), LONGEST_QUESTION, "…")
    ))
}
