//! One change of a document, with what it takes to undo it by hand.

use serde::{Deserialize, Serialize};

use crate::domain::ids::ConsultationId;
use crate::stopping::convergence::QuestionKey;

use super::document::SectionKind;

/// A change of one item, or the reason why there is none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ItemChange {
    /// From 1, through the whole loop.
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

/// What was done with an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
