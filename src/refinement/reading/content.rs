//! Texts that say nothing.

use crate::refinement::words::TABLES;
use crate::stopping::convergence::QuestionKey;
use crate::text::clean::{one_line, shortened};

/// Returns a text as one paragraph of at most so many characters.
pub(super) fn paragraph(text: &str, length: usize) -> String {
    shortened(&one_line(text), length)
}

/// Whether a text says nothing, or that there is nothing.
pub(super) fn is_nothing(text: &str) -> bool {
    TABLES.nothings.has(QuestionKey::of(text).as_str())
}

/// Whether a text is no answer. "No" and "none" answer questions.
pub(super) fn is_no_answer(text: &str) -> bool {
    TABLES.non_answers.has(QuestionKey::of(text).as_str())
}
