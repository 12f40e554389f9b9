//! One item of a section: a list entry with its tags.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::stopping::convergence::QuestionKey;

/// The sections that are worked on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SectionKind {
    High,
    Medium,
    Open,
}

/// A tag of an item, in brackets at its beginning or its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tag {
    /// A person must decide it: it is not asked.
    Deferred,
    /// Added by the last iteration: it has not been asked.
    New,
    /// Nothing is finished while it is open.
    Blocker,
}

/// A list entry at the top level of a section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecItem {
    pub section: SectionKind,
    /// The bytes of the whole item, from the beginning of its first line to the end of its last,
    /// with everything nested in it.
    pub range: Range<usize>,
    /// The words of its first paragraph, without markup, tags and checkbox.
    pub text: String,
    /// What is nested in it, as Markdown without its indentation; empty if there is nothing.
    pub notes: String,
    pub tags: Vec<Tag>,
    /// Whether it names a source: a consultation's id, a link, a path, or a reference in
    /// parentheses.
    pub has_source: bool,
    /// Of its words without their secrets.
    pub key: QuestionKey,
}

impl SectionKind {
    pub const ALL: [Self; 3] = [Self::High, Self::Medium, Self::Open];

    /// Returns the heading that a new section gets.
    pub fn heading(self) -> &'static str {
        match self {
            Self::High => "High Confidence",
            Self::Medium => "Medium Confidence",
            Self::Open => "Open Questions",
        }
    }
}

impl Tag {
    pub const ALL: [Self; 3] = [Self::Deferred, Self::New, Self::Blocker];

    /// Returns the tag as it is written: `[NEW]`.
    pub fn written(self) -> &'static str {
        match self {
            Self::Deferred => "[DEFERRED]",
            Self::New => "[NEW]",
            Self::Blocker => "[BLOCKER]",
        }
    }
}

impl SpecItem {
    pub fn has(&self, tag: Tag) -> bool {
        self.tags.contains(&tag)
    }
}
