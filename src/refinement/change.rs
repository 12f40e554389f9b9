//! One change of a document, with what it takes to undo it by hand.

use serde::{Deserialize, Serialize};

use crate::domain::ids::ConsultationId;
use crate::stopping::convergence::QuestionKey;

use super::document::{SectionKind, SpecDocument, Tag};

/// A change of one item, or the reason why there is none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ItemChange {
    /// From 1, through the whole loop.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub number: u64,
    pub kind: ChangeKind,
    pub item: QuestionKey,
    /// The item as it stood, with its nested lines; `None` for a new one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// The item as it stands now; `None` if nothing was changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// What the panel found, in its words.
    pub reason: String,
    /// `None` for what follows from no consultation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<ConsultationId>,
}

impl ItemChange {
    /// Returns whether the item was moved, added or deferred.
    pub fn is_applied(&self) -> bool {
        !matches!(self.kind, ChangeKind::Kept | ChangeKind::Dropped)
    }

    pub fn is_about_blocker(&self) -> bool {
        let before = self.before.as_deref().unwrap_or_default();
        let alone = format!("## {}\n\n{before}", SectionKind::Open.heading());
        let alone = SpecDocument::parse(&alone);
        let item = alone.as_ref().ok();
        let item = item.and_then(|alone| alone.items(SectionKind::Open).first());
        item.is_some_and(|item| item.has(Tag::Blocker))
    }
}

/// What was done with an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum ChangeKind {
    /// An answered question, or a contradicted claim.
    Moved {
        from: SectionKind,
        to: SectionKind,
    },
    Added {
        to: SectionKind,
    },
    /// A question is now deferred.
    Deferred,
    /// It stays where it is: the panel could not answer it, or its answer was not confident enough
    /// for a blocker.
    Kept,
    /// The finding fits nothing in the document: a person has changed or removed the item.
    Dropped,
}
