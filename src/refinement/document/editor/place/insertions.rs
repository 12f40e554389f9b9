//! Text that is inserted at a place, and the line endings that keep it apart from its neighbours.

use std::collections::BTreeMap;

use super::super::super::super::byte_edit::ByteEdit;
use super::super::super::lines::{BYTE_ORDER_MARK, is_blank_at, is_blank_before};
use super::super::check::Unit;

/// Text that is inserted at a place.
pub(super) struct Insertion {
    pub(super) text: String,
    pub(super) before: Before,
    pub(super) units: Vec<Unit>,
}

/// What stands between an insertion and the text before it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Before {
    Nothing,
    BlankLine,
}

/// What is inserted, by place.
#[derive(Default)]
pub(super) struct Insertions {
    by_place: BTreeMap<usize, Vec<Insertion>>,
}

impl Insertion {
    /// Text that is no part of what a reader sees.
    pub(super) fn of(text: String) -> Self {
        Self {
            text,
            before: Before::Nothing,
            units: Vec::new(),
        }
    }
}

impl Insertions {
    pub(super) fn add(&mut self, at: usize, insertion: Insertion) {
        self.by_place.entry(at).or_default().push(insertion);
    }

    /// Returns true if something is inserted at a place.
    pub(super) fn has_text_at(&self, at: usize) -> bool {
        let insertions = self.by_place.get(&at);
        insertions.is_some_and(|insertions| insertions.iter().any(|one| !one.text.is_empty()))
    }

    /// Returns all insertions with their places, in the order of the text.
    pub(super) fn in_order(&self) -> impl Iterator<Item = (usize, &Insertion)> {
        let places = self.by_place.iter();
        places.flat_map(|(at, insertions)| insertions.iter().map(|insertion| (*at, insertion)))
    }

    /// Returns the edits that insert everything into a text beside these other edits.
    pub(super) fn edits(self, text: &str, ending: &str, others: &[ByteEdit]) -> Vec<ByteEdit> {
        let mut edits = Vec::new();
        for (at, insertions) in self.by_place {
            if is_blank_at(text, at) && insertions.iter().all(|one| one.text.is_empty()) {
                continue;
            }
            let before = text_before(text, at, others);
            let mut inserted = String::new();
            let follows_line = !before.is_empty() && before != BYTE_ORDER_MARK;
            if follows_line && !before.ends_with(['\n', '\r']) {
                inserted.push_str(ending);
            }
            let mut follows_blank = is_blank_before(before, before.len());
            for insertion in insertions {
                if insertion.before == Before::BlankLine && !follows_blank {
                    inserted.push_str(ending);
                }
                inserted.push_str(&insertion.text);
                follows_blank = false;
            }
            if !is_blank_at(text, at) {
                inserted.push_str(ending);
            }
            edits.push(ByteEdit::insertion(at, inserted));
        }
        edits
    }
}

/// Returns the text before a place as the edits that end there leave it, from some line on.
fn text_before<'t>(text: &'t str, at: usize, edits: &'t [ByteEdit]) -> &'t str {
    let mut at = at;
    while let Some(edit) = edits
        .iter()
        .find(|edit| edit.range.end == at && edit.range.start < at)
    {
        if !edit.text.is_empty() {
            return &edit.text;
        }
        at = edit.range.start;
    }
    text.get(..at).unwrap_or_default()
}
