//! Reads the claims and questions that a model extracted from a plain document.

use std::collections::BTreeSet;

use crate::consultation::transcript::no_answer::{NoAnswer, no_answer};
use crate::domain::record::stored_record::{Completion, StoredRecord};
use crate::stopping::convergence::QuestionKey;

use super::answer::{is_nothing, paragraph};

/// The most items of each kind.
pub const MAX_ITEMS: usize = 30;
/// The most characters of a claim or question.
const LENGTH: usize = 300;

/// What a plain document says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExtractedItems {
    /// What it states as settled.
    pub high: Vec<String>,
    /// What it assumes, proposes or is not sure of.
    pub medium: Vec<String>,
    /// Its questions, gaps and contradictions.
    pub open: Vec<String>,
}

/// A text that stands in several lists counts in the least certain one; the reason if there is
/// nothing.
pub fn extracted_items(record: &StoredRecord) -> Result<ExtractedItems, NoAnswer> {
    let answer = record
        .independents()
        .next()
        .filter(|_| record.completion() == Completion::Completed)
        .ok_or_else(|| no_answer(record))?;
    let no_items = || NoAnswer::Failed {
        message: "the model's answer lists no statements and no questions of the document".into(),
    };
    let found = answer.findings.as_deref().ok_or_else(no_items)?;
    let mut seen = BTreeSet::new();
    let mut items = |texts: &[String]| -> Vec<String> {
        let texts = texts.iter().map(|text| paragraph(text, LENGTH));
        let new = texts.filter(|text| !is_nothing(text) && seen.insert(QuestionKey::of(text)));
        new.take(MAX_ITEMS).collect()
    };
    let open = items(&found.open_questions);
    let medium = items(&found.assumed);
    let high = items(&found.settled);
    if open.is_empty() && medium.is_empty() && high.is_empty() {
        return Err(no_items());
    }
    Ok(ExtractedItems { high, medium, open })
}
