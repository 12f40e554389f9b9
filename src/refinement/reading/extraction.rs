//! Reads the claims and questions that a model extracted from a plain document.

use std::collections::BTreeSet;

use thiserror::Error;

use crate::domain::stored_record::{Completion, StoredRecord};
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

/// Error for an answer from which nothing can be extracted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ExtractionError {
    #[error("the model gave no answer")]
    NoAnswer,
    #[error("the model's answer lists no statements and no questions of the document")]
    NoItems,
}

/// Returns what a model extracted, from the record of its consultation of one round. A text that
/// stands in several lists counts in the least certain one.
pub fn extracted_items(record: &StoredRecord) -> Result<ExtractedItems, ExtractionError> {
    let answer = record
        .independents()
        .next()
        .filter(|_| record.completion() == Completion::Completed)
        .ok_or(ExtractionError::NoAnswer)?;
    let found = answer.findings.as_deref().ok_or(ExtractionError::NoItems)?;
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
        return Err(ExtractionError::NoItems);
    }
    Ok(ExtractedItems { high, medium, open })
}
