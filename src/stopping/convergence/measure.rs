//! The evidence of convergence: what is counted in a document after an iteration.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// A question by its words: in lower case, with one space between them, without tags and
/// punctuation, so that another layout is not another question.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct QuestionKey(String);

/// The document after one iteration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DocumentMeasure {
    /// `None` if no section of the document could be read.
    pub counts: Option<ItemCounts>,
    /// The open questions, those with tags included.
    pub questions: BTreeSet<QuestionKey>,
    /// Open questions that are marked as blockers.
    pub open_blockers: u64,
    /// Open questions that wait for a person. They are counted as open, and are not asked.
    pub deferred: u64,
    /// Open questions that the panel was asked, with no readable answer. That they stayed open says
    /// nothing of them.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub unanswered: u64,
}

/// The items of the sections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ItemCounts {
    pub high: u64,
    /// Those of `high` that name a source.
    pub sourced_high: u64,
    pub medium: u64,
    /// Questions in `Open Questions`, with `[NEW]` and `[DEFERRED]` ones.
    pub open: u64,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl QuestionKey {
    /// Returns the key of a text without markup and tags.
    pub fn of(text: &str) -> Self {
        let mut key = String::with_capacity(text.len());
        let words = text.split(|c: char| !c.is_alphanumeric());
        for word in words.filter(|word| !word.is_empty()) {
            if !key.is_empty() {
                key.push(' ');
            }
            key.extend(word.chars().flat_map(char::to_lowercase));
        }
        Self(key)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl ItemCounts {
    /// Returns the number of all items.
    pub fn total(&self) -> u64 {
        self.high + self.medium + self.open
    }
}
