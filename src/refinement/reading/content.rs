//! Texts that say nothing.

use crate::domain::text::{one_line, shortened};
use crate::stopping::convergence::QuestionKey;

/// Texts that say that there is nothing, as the keys of questions.
const NOTHINGS: [&str; 14] = [
    "",
    "none",
    "no",
    "nothing",
    "n a",
    "na",
    "not applicable",
    "nil",
    "no one",
    "no dissent",
    "no objection",
    "no objections",
    "no new questions",
    "keine",
];

/// Texts that stand where an answer was asked for and are none.
const NON_ANSWERS: [&str; 24] = [
    "",
    "n a",
    "unknown",
    "unclear",
    "open",
    "still open",
    "deferred",
    "answered",
    "not answered",
    "unanswered",
    "no answer",
    "not known",
    "not specified",
    "not stated",
    "undecided",
    "undetermined",
    "tbd",
    "tba",
    "todo",
    "to be decided",
    "to be determined",
    "to be defined",
    "i don t know",
    "unbekannt",
];

/// Returns a text as one paragraph of at most so many characters.
pub(super) fn paragraph(text: &str, length: usize) -> String {
    shortened(&one_line(text), length)
}

/// Whether a text says nothing, or that there is nothing.
pub(super) fn is_nothing(text: &str) -> bool {
    NOTHINGS.contains(&QuestionKey::of(text).as_str())
}

/// Whether a text is no answer. "No" and "none" answer questions.
pub(super) fn is_no_answer(text: &str) -> bool {
    NON_ANSWERS.contains(&QuestionKey::of(text).as_str())
}
