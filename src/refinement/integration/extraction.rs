//! The sections that a plain document gets from what a model extracted from it.

use std::collections::BTreeSet;

use crate::refinement::change::ChangeKind;
use crate::refinement::document::{DocumentEditor, DocumentError, SectionKind, SpecDocument};
use crate::refinement::event::Extraction;
use crate::stopping::convergence::QuestionKey;

use super::Integration;
use super::planned::{PlannedChange, changes};

/// Adds extracted claims and questions to a document that lacks the sections. The items of the same
/// words are one; a question is more than a claim, and a doubtful claim more than a settled one.
///
/// # Errors
///
/// When the new text cannot be read.
pub fn add_extraction(
    document: &SpecDocument,
    extraction: &Extraction,
    first_change: u64,
) -> Result<Integration, DocumentError> {
    let mut editor = DocumentEditor::new(document);
    let mut planned = Vec::new();
    let mut known: BTreeSet<QuestionKey> = BTreeSet::new();
    let open = (SectionKind::Open, &extraction.open);
    let medium = (SectionKind::Medium, &extraction.medium);
    let high = (SectionKind::High, &extraction.high);
    for (to, texts) in [open, medium, high] {
        for text in texts {
            let key = QuestionKey::of(text);
            if key.as_str().is_empty() || !known.insert(key.clone()) {
                continue;
            }
            editor.add_item(to, text, &[]);
            planned.push(PlannedChange {
                kind: ChangeKind::Added { to },
                key,
                item: None,
                reason: "extracted from the document".to_owned(),
                source: extraction.consultation.clone(),
            });
        }
    }
    editor.adds_sections = true;
    let text = editor.finish();
    let written = document.with_text(&text)?;
    let changes = changes(planned, document, &written, first_change);
    Ok(Integration { text, changes })
}
