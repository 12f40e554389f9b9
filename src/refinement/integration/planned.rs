//! Changes before the new text is known, and afterwards with the texts that undo them by hand.

use std::collections::BTreeMap;

use crate::domain::ids::ConsultationId;
use crate::domain::steps;
use crate::refinement::change::{ChangeKind, ItemChange};
use crate::refinement::document::{SectionKind, SpecDocument, SpecItem};
use crate::stopping::convergence::QuestionKey;

/// A change whose new text is not known.
#[derive(Debug)]
pub(super) struct PlannedChange<'d> {
    pub(super) kind: ChangeKind,
    pub(super) key: QuestionKey,
    /// The item as it stands; `None` for a new one, and for findings that change nothing.
    pub(super) item: Option<&'d SpecItem>,
    pub(super) reason: String,
    pub(super) source: ConsultationId,
}

impl PlannedChange<'_> {
    pub(super) fn moved_to(&self) -> Option<SectionKind> {
        match self.kind {
            ChangeKind::Moved { to, .. } => Some(to),
            ChangeKind::Added { .. }
            | ChangeKind::Deferred
            | ChangeKind::Kept
            | ChangeKind::Dropped => None,
        }
    }

    /// Returns the section in which the item stands afterwards; `None` if there is no item.
    fn section(&self) -> Option<SectionKind> {
        match self.kind {
            ChangeKind::Moved { to, .. } | ChangeKind::Added { to } => Some(to),
            ChangeKind::Deferred | ChangeKind::Kept => self.item.map(|item| item.section),
            ChangeKind::Dropped => None,
        }
    }
}

/// Returns the changes with their texts before and after, numbered from `first`.
pub(super) fn changes(
    planned: Vec<PlannedChange<'_>>,
    document: &SpecDocument,
    written: &SpecDocument,
    first: u64,
) -> Vec<ItemChange> {
    // How many items of the same words a change has already been matched with.
    let mut matched: BTreeMap<(QuestionKey, SectionKind), usize> = BTreeMap::new();
    let mut changes = Vec::new();
    for (number, change) in (first..).zip(planned) {
        let before = change.item.map(|item| source_of(document, item));
        let after = change.section().and_then(|section| {
            let nth = matched.entry((change.key.clone(), section)).or_default();
            let candidates = candidates(&change, section, written);
            let after = candidates.get(*nth).map(|item| source_of(written, item));
            *nth += 1;
            after
        });
        changes.push(ItemChange {
            number,
            kind: change.kind,
            item: change.key,
            after: after.filter(|after| before.as_ref() != Some(after)),
            before,
            reason: change.reason,
            source: Some(change.source),
        });
    }
    changes
}

/// Returns the items that a change can have led to, in order. A moved item names its source.
fn candidates<'w>(
    change: &PlannedChange<'_>,
    section: SectionKind,
    written: &'w SpecDocument,
) -> Vec<&'w SpecItem> {
    let same_words = written.with_key(section, &change.key).into_iter();
    same_words
        .filter(|item| {
            steps::count(1);
            let names_source = item.notes.contains(change.source.as_str());
            names_source || change.moved_to().is_none()
        })
        .collect()
}

fn source_of(document: &SpecDocument, item: &SpecItem) -> String {
    let text = document.text().get(item.range.clone());
    text.unwrap_or_default().to_owned()
}
