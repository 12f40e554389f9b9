//! The notes that findings leave in a document: what the panel says first, then where it is from.
//!
//! ```text
//! - Which database?
//!   - Answer: Postgres (90%, consult-…; dissent: performance wants SQLite)
//! ```

use crate::domain::ids::ConsultationId;
use crate::refinement::document::{SpecItem, note_texts};
use crate::refinement::finding::FindingSource;

const ANSWER: &str = "Answer: ";
pub(super) const DEFERRED: &str = "Deferred: ";
pub(super) const CONTRADICTED: &str = "Contradicted: ";

pub(super) fn answer(source: &FindingSource, answer: &str, dissent: Option<&str>) -> String {
    let confidence = source.confidence_in_words();
    let dissent = dissent.map(str::trim).filter(|dissent| !dissent.is_empty());
    let dissent = dissent.map(|dissent| format!("; dissent: {dissent}"));
    format!(
        "{ANSWER}{} ({confidence}, {}{})",
        answer.trim(),
        source.consultation,
        dissent.unwrap_or_default()
    )
}

pub(super) fn with_reason(label: &str, source: &FindingSource, reason: &str) -> String {
    format!("{label}{} ({})", reason.trim(), source.consultation)
}

pub(super) fn is_contradicted(item: &SpecItem) -> bool {
    let notes = note_texts(item);
    let mut sources = notes
        .iter()
        .filter_map(|note| source_of(note, CONTRADICTED));
    sources.any(is_consultation)
}

pub(super) fn has_note(item: &SpecItem, label: &str, id: &ConsultationId) -> bool {
    let notes = note_texts(item);
    let mut sources = notes.iter().filter_map(|note| source_of(note, label));
    sources.any(|source| source == id.as_str())
}

/// A person's note names no consultation there.
fn source_of<'n>(note: &'n str, label: &str) -> Option<&'n str> {
    // The blank after the label may be the one before the source.
    let rest = note.strip_prefix(label.trim_end())?.strip_suffix(')')?;
    let (reason, source) = rest.rsplit_once(" (")?;
    (reason.is_empty() || reason.starts_with(' ')).then_some(source)
}

fn is_consultation(source: &str) -> bool {
    let unique = source.strip_prefix("consult-");
    unique.is_some_and(|unique| !unique.is_empty()) && ConsultationId::parse(source).is_ok()
}
