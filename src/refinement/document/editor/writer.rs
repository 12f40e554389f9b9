//! Writes the edited document, block by block: what is not edited is copied with the lines around
//! it, and blank lines keep an edit and its neighbours apart where one would change how the other
//! is read.

use std::collections::BTreeMap;

use super::super::lines::{
    BYTE_ORDER_MARK, is_blank_at, is_blank_before, line_end, line_ending, line_start,
};
use super::super::outline::{BlockContent, ListEntry, TopBlock, outline};
use super::check::{SEPARATOR, Unit, units};
use super::entry::{LooseEntry, block_ends};
use super::placement::{Insertion, Insertions, ListForm, Place, insertions};
use super::{Arrival, DocumentEditor};

/// How edits stand beside the text around them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Joins {
    /// Items join the lists that are there.
    Lists,
    /// A comment stands on both sides of every edit: no text around it is read as a part of it.
    Separated,
}

/// The edited text, and what it must be read as.
pub(super) struct Written {
    pub(super) text: String,
    pub(super) expected: Vec<Unit>,
}

/// Writes a document with its edits, apart from its front matter.
pub(super) fn write(editor: &DocumentEditor<'_>, joins: Joins) -> Written {
    let text = editor.document.text();
    let mut writer = BlockWriter {
        editor,
        joins,
        text,
        ending: line_ending(text),
        edited: edited_entries(editor),
        insertions: insertions(editor, joins == Joins::Lists),
        new_lists: editor.document.blocks.len(),
        at: 0,
        is_apart: false,
        written: Written {
            text: String::with_capacity(text.len()),
            expected: Vec::new(),
        },
    };
    // Without blocks, such as where there are only definitions, nothing else is copied before what
    // is inserted.
    writer.copy_to(editor.document.body);
    for (number, block) in editor.document.blocks.iter().enumerate() {
        writer.copy_to(block.range.start);
        writer.insert(Place::Before(number));
        match &block.content {
            BlockContent::List(entries) => writer.list(number, entries),
            BlockContent::Heading { .. } | BlockContent::Other { .. } => {
                let units = units(std::slice::from_ref(block), number);
                writer.written.expected.extend(units);
                writer.copy_to(block.range.end);
            }
        }
        writer.insert_after(number, block);
    }
    writer.insert(Place::End);
    writer.copy_to(text.len());
    writer.written
}

/// Returns the edited entries by their beginning.
fn edited_entries(editor: &DocumentEditor<'_>) -> BTreeMap<usize, LooseEntry> {
    let text = editor.document.text();
    let lists = editor.document.blocks.iter();
    let entries = lists.flat_map(|block| match &block.content {
        BlockContent::List(entries) => entries.as_slice(),
        BlockContent::Heading { .. } | BlockContent::Other { .. } => &[],
    });
    let edited = entries.filter_map(|entry| {
        let edit = editor.items.get(&entry.range.start)?;
        let read = LooseEntry::read(text.get(entry.range.clone())?.to_owned())?;
        Some((entry.range.start, read.edited(edit, line_ending(text))))
    });
    edited.collect()
}

struct BlockWriter<'e> {
    editor: &'e DocumentEditor<'e>,
    joins: Joins,
    text: &'e str,
    ending: &'static str,
    edited: BTreeMap<usize, LooseEntry>,
    insertions: Insertions<'e>,
    /// The number of the next new list; those of the document are numbered by their blocks.
    new_lists: usize,
    /// How far the document is copied.
    at: usize,
    /// Whether a blank line must stand before what is copied next.
    is_apart: bool,
    written: Written,
}

impl<'e> BlockWriter<'e> {
    /// Copies the document up to a position.
    fn copy_to(&mut self, end: usize) {
        let source = self.text.get(self.at..end).unwrap_or_default();
        if source.is_empty() {
            return;
        }
        if std::mem::take(&mut self.is_apart) && !is_blank_at(self.text, self.at) {
            self.blank_line();
        }
        self.written.text.push_str(source);
        self.at = end;
    }

    /// Ends the last line.
    fn end_line(&mut self) {
        let text = &self.written.text;
        let is_begun = !text.is_empty() && text != BYTE_ORDER_MARK;
        if is_begun && !text.ends_with(['\n', '\r']) {
            self.written.text.push_str(self.ending);
        }
    }

    /// Ends the last line, and writes a blank one unless there is one.
    fn blank_line(&mut self) {
        self.end_line();
        if !is_blank_before(&self.written.text, self.written.text.len()) {
            self.written.text.push_str(self.ending);
        }
    }

    /// Writes a line after a blank one.
    fn line(&mut self, line: &str) {
        self.blank_line();
        self.written.text.extend([line, self.ending]);
        self.is_apart = true;
    }

    fn list(&mut self, number: usize, entries: &'e [ListEntry]) {
        let form = ListForm::of(self.text, entries, |entry| self.moves(entry));
        let is_emptied = entries.iter().all(|entry| self.moves(entry));
        let is_last_edited = entries
            .last()
            .is_some_and(|last| self.edited.contains_key(&last.range.start));
        let mut kept = 0;
        for (place, entry) in entries.iter().enumerate() {
            if self.moves(entry) {
                if self.joins == Joins::Separated {
                    self.line(SEPARATOR);
                }
                self.at = entry.range.end;
                continue;
            }
            if kept == 0 && place > 0 {
                self.at = entry.range.start;
                self.is_apart |= !entry.marker.sign.interrupts_paragraphs();
            }
            kept += 1;
            self.copy_to(entry.range.start);
            if std::mem::take(&mut self.is_apart) {
                self.blank_line();
            }
            self.entry(number, entry);
        }
        // A paragraph right after the list would continue a note.
        self.is_apart |= is_last_edited || is_emptied;
        if let Some(arrivals) = self.insertions.remove(&Place::InList(number))
            && let Some(form) = form
        {
            if is_emptied && !form.marker.sign.interrupts_paragraphs() {
                self.blank_line();
            }
            for insertion in arrivals {
                if let Insertion::Entries(arrivals) = insertion {
                    self.entries(form.clone(), &arrivals, number, is_emptied);
                }
            }
        } else if is_emptied && is_blank_at(self.text, self.at) {
            self.remove_blank_line();
        }
    }

    fn moves(&self, entry: &ListEntry) -> bool {
        let edit = self.editor.items.get(&entry.range.start);
        edit.is_some_and(|edit| edit.moves) && self.edited.contains_key(&entry.range.start)
    }

    /// Writes an entry that stays.
    fn entry(&mut self, number: usize, entry: &ListEntry) {
        if let Some(edited) = self.edited.get(&entry.range.start) {
            let unit = Unit::entry(&edited.entry, number);
            self.written.expected.push(unit);
            self.written.text.push_str(&edited.source);
            self.at = entry.range.end;
        } else {
            self.written.expected.push(Unit::entry(entry, number));
            self.copy_to(entry.range.end);
        }
    }

    /// Removes the last line if it is blank.
    fn remove_blank_line(&mut self) {
        let text = &mut self.written.text;
        let end = text.trim_end_matches(['\n', '\r']).len();
        let last = line_end(text, end);
        if last < text.len() && is_blank_before(text, text.len()) {
            let start = line_start(text, text.len() - 1);
            text.truncate(start);
        }
    }

    fn insert_after(&mut self, number: usize, block: &TopBlock) {
        if self.insertions.contains_key(&Place::After(number))
            && let Some(end) = self.end_of_open_block(number, block)
        {
            self.end_line();
            self.written.text.extend([&end, self.ending]);
        }
        self.insert(Place::After(number));
    }

    fn insert(&mut self, place: Place) {
        for insertion in self.insertions.remove(&place).unwrap_or_default() {
            match insertion {
                Insertion::Heading(level, kind) => {
                    let heading = format!("{} {}", "#".repeat(level), kind.heading());
                    self.line(&heading);
                    let blocks = outline(&heading, 0);
                    self.written.expected.extend(units(&blocks, 0));
                }
                Insertion::Entries(arrivals) => {
                    if self.joins == Joins::Separated {
                        self.line(SEPARATOR);
                    }
                    self.blank_line();
                    self.new_lists += 1;
                    self.entries(ListForm::plain(), &arrivals, self.new_lists, true);
                    if self.joins == Joins::Separated {
                        self.line(SEPARATOR);
                    }
                }
            }
        }
    }

    /// Writes entries at the end of a list.
    fn entries(&mut self, mut form: ListForm, arrivals: &[&Arrival], number: usize, is_new: bool) {
        let mut number = number;
        let mut is_first = is_new;
        let mut is_alone = false;
        for arrival in arrivals {
            let marker = form.take_marker();
            let own = match arrival {
                Arrival::Added(_) => None,
                Arrival::Moved(start) => self.edited.get(start).cloned(),
            };
            let joined = match (arrival, &own) {
                (Arrival::Added(line), _) => LooseEntry::added(&marker, line, self.ending),
                (Arrival::Moved(_), own) => own.as_ref().and_then(|own| own.with_marker(&marker)),
            };
            let was_alone = std::mem::replace(&mut is_alone, joined.is_none());
            if is_alone || was_alone {
                // An entry that keeps its own form is a list of its own.
                self.line(SEPARATOR);
                self.blank_line();
                self.new_lists += 1;
                number = self.new_lists;
            } else if form.is_loose && !is_first {
                self.blank_line();
            } else {
                self.end_line();
            }
            is_first = false;
            if let Some(entry) = joined.or(own) {
                self.written.text.push_str(&entry.source);
                self.end_line();
                let unit = Unit::entry(&entry.entry, number);
                self.written.expected.push(unit);
            }
        }
        self.is_apart = true;
    }

    /// Returns the line that ends a block of code or HTML that is open at the end of the document.
    fn end_of_open_block(&self, number: usize, block: &TopBlock) -> Option<String> {
        let is_last = number + 1 == self.editor.document.blocks.len();
        let source = self.text.get(block.range.clone()).unwrap_or_default();
        if !is_last || ends(source, "") {
            return None;
        }
        block_ends(source).find(|end| ends(source, end))
    }
}

/// Returns true if a heading after a source and a line is read as one.
fn ends(source: &str, line: &str) -> bool {
    let followed = format!("{source}\n{line}\n\n# end\n");
    outline(&followed, 0)
        .last()
        .is_some_and(|block| matches!(block.content, BlockContent::Heading { .. }))
}
