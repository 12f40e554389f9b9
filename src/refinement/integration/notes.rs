//! The notes that findings leave in a document: what the panel says, and which consultation.

use crate::domain::confidence::Confidence;
use crate::refinement::document::item::SpecItem;
use crate::refinement::finding::FindingSource;

/// The beginning of the note at a claim that a panel has contradicted.
const CONTRADICTED: &str = "CONTRADICTED — ";

/// Returns the note of an answer: its source, the confidence in it, and who disagrees.
pub(super) fn answer(source: &FindingSource, answer: &str, dissent: Option<&str>) -> String {
    let confidence = source.confidence.and_then(Confidence::new).map_or_else(
        || "confidence unknown".to_owned(),
        |known| known.to_string(),
    );
    let dissent = dissent.map(str::trim).filter(|dissent| !dissent.is_empty());
    let dissent = dissent.map(|dissent| format!(" (dissent: {dissent})"));
    format!(
        "ANSWER — {}, {confidence}: {}{}",
        source.consultation,
        answer.trim(),
        dissent.unwrap_or_default()
    )
}

pub(super) fn deferred(source: &FindingSource, reason: &str) -> String {
    format!("{}: {}", deferral(source), reason.trim())
}

pub(super) fn contradicted(source: &FindingSource, reason: &str) -> String {
    format!("{}: {}", contradiction(source), reason.trim())
}

/// Returns the beginning of a deferral's note, by which the deferral is known in a document.
pub(super) fn deferral(source: &FindingSource) -> String {
    format!("DEFERRED — {}", source.consultation)
}

/// Returns the beginning of a contradiction's note, by which it is known in a document.
pub(super) fn contradiction(source: &FindingSource) -> String {
    format!("{CONTRADICTED}{}", source.consultation)
}

/// Returns whether a panel has contradicted an item.
pub(super) fn is_contradicted(item: &SpecItem) -> bool {
    item.notes.contains(CONTRADICTED)
}
