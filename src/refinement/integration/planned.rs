//! Changes before the new text is known, and afterwards with the texts that undo them by hand.

use std::collections::BTreeMap;

use crate::domain::steps;
use crate::refinement::change::{ChangeKind, ItemChange};
use crate::refinement::document::{SectionKind, SpecDocument, SpecItem};
use crate::stopping::convergence::QuestionKey;

/// A change whose new text is not known, and the section in which its item stands afterwards;
/// `None` if there is no item.
pub(super) type PlannedChange = (ItemChange, Option<SectionKind>);

pub(super) fn changes(planned: Vec<PlannedChange>, written: &SpecDocument) -> Vec<ItemChange> {
    // How many items of the same words a change has already been matched with.
    let mut matched: BTreeMap<(QuestionKey, SectionKind), usize> = BTreeMap::new();
    let mut changes = Vec::new();
    for (mut change, section) in planned {
        let after = section.and_then(|section| {
            let nth = matched.entry((change.item.clone(), section)).or_default();
            // A moved item names its source.
            let is_moved = matches!(change.kind, ChangeKind::Moved { .. });
            let source = change.source.as_ref().filter(|_| is_moved);
            let same_words = written.with_key(section, &change.item).into_iter();
            let mut candidates = same_words.filter(|item| {
                steps::count(1);
                source.is_none_or(|source| item.notes.contains(source.as_str()))
            });
            let after = candidates.nth(*nth).map(|item| source_of(written, item));
            *nth += 1;
            after
        });
        change.after = after.filter(|after| change.before.as_ref() != Some(after));
        changes.push(change);
    }
    changes
}

pub(super) fn source_of(document: &SpecDocument, item: &SpecItem) -> String {
    let text = document.text().get(item.range.clone());
    text.unwrap_or_default().to_owned()
}
