//! The notes that findings leave in a document: what the panel says, and which consultation.

use crate::domain::confidence::Confidence;
use crate::refinement::finding::FindingSource;

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
    format!("DEFERRED — {}: {}", source.consultation, reason.trim())
}

pub(super) fn contradicted(source: &FindingSource, reason: &str) -> String {
    format!("CONTRADICTED — {}: {}", source.consultation, reason.trim())
}
