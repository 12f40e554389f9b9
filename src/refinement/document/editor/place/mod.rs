//! Where edited items stand: the edits by byte range, and what must stand between an edit and its
//! neighbours so that neither changes how the other is read.

mod arrivals;
mod insertions;
mod removal;

use std::collections::{BTreeMap, BTreeSet};

use super::super::super::byte_edit::ByteEdit;
use super::super::lines::line_ending;
use super::super::outline::{BlockContent, ListEntry, TopBlock};
use super::DocumentEditor;
use super::check::Unit;
use super::entry::LooseEntry;
use insertions::{Insertion, Insertions};

/// How edits stand beside the text around them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Joins {
    /// Items join the lists that are there.
    Lists,
    /// A comment stands on both sides of every edit: no text around it is read as a part of it.
    Separated,
}

/// Where edits stand, and what the result must be read as.
pub(super) struct Placed {
    pub(super) edits: Vec<ByteEdit>,
    pub(super) expected: Vec<Unit>,
}

/// Returns the edits of a document, apart from its front matter.
pub(super) fn place(editor: &DocumentEditor<'_>, joins: Joins) -> Placed {
    let text = editor.document.text();
    let mut placing = Placing {
        editor,
        joins,
        text,
        ending: line_ending(text),
        edited: BTreeMap::new(),
        new_lists: editor.document.blocks.len(),
        is_end_closed: false,
        moved: BTreeSet::new(),
        emptied: BTreeSet::new(),
        insertions: Insertions::default(),
        edits: Vec::new(),
    };
    placing.read_entries();
    placing.edit_lists();
    placing.place_arrivals();
    placing.finish()
}

struct Placing<'e> {
    editor: &'e DocumentEditor<'e>,
    joins: Joins,
    text: &'e str,
    ending: &'static str,
    /// The edited entries, by their beginning.
    edited: BTreeMap<usize, LooseEntry>,
    /// The number of the next new list; those of the document are numbered by their blocks.
    new_lists: usize,
    /// Whether the block that is open at the end of the document has been ended.
    is_end_closed: bool,
    moved: BTreeSet<usize>,
    /// The lists between blank lines of which every entry moves away, by their beginning.
    emptied: BTreeSet<usize>,
    insertions: Insertions,
    edits: Vec<ByteEdit>,
}

impl<'e> Placing<'e> {
    fn blocks(&self) -> &'e [TopBlock] {
        &self.editor.document.blocks
    }

    fn read_entries(&mut self) {
        for block in self.blocks() {
            let BlockContent::List(entries) = &block.content else {
                continue;
            };
            for entry in entries {
                let start = entry.range.start;
                let Some(edit) = self.editor.items.get(&start) else {
                    continue;
                };
                let source = self.text.get(entry.range.clone()).unwrap_or_default();
                let Some(read) = LooseEntry::read(source.to_owned()) else {
                    continue;
                };
                self.edited.insert(start, read.edited(edit, self.ending));
                if edit.moves {
                    self.moved.insert(start);
                }
            }
        }
    }

    /// Edits the entries that stay, and removes those that move.
    fn edit_lists(&mut self) {
        for block in self.blocks() {
            let BlockContent::List(entries) = &block.content else {
                continue;
            };
            for run in self.moved_runs(entries) {
                self.remove(entries, &run);
            }
            for entry in entries {
                self.edit_in_place(entry);
            }
            if let Some(last) = entries.last()
                && self.edited.contains_key(&last.range.start)
                && !self.moved.contains(&last.range.start)
            {
                // A paragraph right after the list would continue a note.
                let nothing = Insertion::of(String::new());
                self.insertions.add(last.range.end, nothing);
            }
        }
    }

    fn edit_in_place(&mut self, entry: &ListEntry) {
        let start = entry.range.start;
        if self.moved.contains(&start) {
            return;
        }
        if let Some(edited) = self.edited.get(&start) {
            self.edits.push(ByteEdit {
                range: entry.range.clone(),
                text: edited.source.clone(),
            });
        }
    }

    fn finish(mut self) -> Placed {
        let expected = self.expected();
        self.close_gaps();
        let insertions = std::mem::take(&mut self.insertions);
        let inserted = insertions.edits(self.text, self.ending, &self.edits);
        self.edits.extend(inserted);
        Placed {
            edits: self.edits,
            expected,
        }
    }

    /// Returns what the result must be read as.
    fn expected(&self) -> Vec<Unit> {
        let mut insertions = self.insertions.in_order().peekable();
        let mut expected = Vec::new();
        for (number, block) in self.blocks().iter().enumerate() {
            while let Some((_, insertion)) = insertions.next_if(|(at, _)| *at <= block.range.start)
            {
                expected.extend(insertion.units.iter().cloned());
            }
            let BlockContent::List(entries) = &block.content else {
                expected.extend(Unit::block(block));
                continue;
            };
            for entry in entries {
                let start = entry.range.start;
                if !self.moved.contains(&start) {
                    let edited = self
                        .edited
                        .get(&start)
                        .map_or(entry, |edited| &edited.entry);
                    expected.push(Unit::entry(edited, number));
                }
            }
        }
        expected.extend(insertions.flat_map(|(_, insertion)| insertion.units.iter().cloned()));
        expected
    }
}
