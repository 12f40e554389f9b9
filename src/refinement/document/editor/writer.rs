//! Writes the edited document, block by block: what is not edited is copied with the lines around
//! it, and blank lines keep an edit and its neighbours apart where one would change how the other
//! is read.
//!
//! Items join the last list of their section, in its form. The result must be read as the blocks
//! and list entries that are meant; where it is not, each item is a list of its own.

use std::collections::BTreeMap;

use super::super::item::SectionKind;
use super::super::lines::{
    BYTE_ORDER_MARK, is_blank_at, is_blank_before, line_end, line_ending, line_start,
};
use super::super::marker::ListMarker;
use super::super::outline::{BlockContent, ListEntry, TopBlock, outline};
use super::super::sections::LABEL;
use super::entry::{LooseEntry, block_ends};
use super::{Arrival, DocumentEditor};

/// Ends a list where a blank line does not.
const SEPARATOR: &str = "<!-- -->";

/// Something that is inserted between blocks.
#[derive(Debug)]
enum Insertion<'e> {
    /// A heading of this level.
    Heading(usize, SectionKind),
    Entries(Vec<&'e Arrival>),
}

/// Apart from its front matter.
pub(super) fn write(editor: &DocumentEditor<'_>) -> String {
    let writer = BlockWriter::new(editor, false).write();
    let read = outline(&writer.written, editor.document.body);
    if writer.fits && signature(&read) == writer.expected {
        writer.written
    } else {
        BlockWriter::new(editor, true).write().written
    }
}

fn signature(blocks: &[TopBlock]) -> Vec<String> {
    let mut signature = Vec::new();
    for block in blocks {
        match &block.content {
            BlockContent::List(entries) => signature.extend(list(entries.iter())),
            BlockContent::Heading { shape, .. } | BlockContent::Other { shape } => {
                if *shape != format!("HtmlBlock(\nv {SEPARATOR}\n)\n") {
                    signature.push(shape.clone());
                }
            }
        }
    }
    signature
}

fn list<'e>(entries: impl Iterator<Item = &'e ListEntry>) -> Vec<String> {
    let shape = |entry: &ListEntry| {
        let is_numbered = entry.marker.sign.number.is_some();
        format!("{is_numbered} {}", entry.shape)
    };
    let mut list: Vec<String> = entries.map(shape).collect();
    if !list.is_empty() {
        list.insert(0, "list".to_owned());
    }
    list
}

struct BlockWriter<'e> {
    editor: &'e DocumentEditor<'e>,
    /// Whether a comment stands on both sides of every edit, so that no text around it is read as a
    /// part of it; else items join the lists that are there.
    is_separated: bool,
    text: &'e str,
    ending: &'static str,
    /// The edited entries by their beginning.
    edited: BTreeMap<usize, LooseEntry>,
    /// What is put at the end of the list that a block is.
    in_lists: BTreeMap<usize, Vec<&'e Arrival>>,
    /// What is put at a position between blocks, in this order.
    insertions: Vec<(usize, Insertion<'e>)>,
    /// How far the document is copied.
    at: usize,
    /// Whether a blank line must stand before what is copied next.
    is_apart: bool,
    written: String,
    /// What it must be read as.
    expected: Vec<String>,
    /// Whether every item could take the form of its list.
    fits: bool,
}

impl<'e> BlockWriter<'e> {
    fn new(editor: &'e DocumentEditor<'e>, is_separated: bool) -> Self {
        let document = editor.document;
        let text = document.text();
        let ending = line_ending(text);
        let entries = document.blocks.iter().flat_map(TopBlock::entries);
        let edited = entries.filter_map(|entry| {
            let edit = editor.items.get(&entry.range.start)?;
            let read = LooseEntry::read(text.get(entry.range.clone())?.to_owned())?;
            Some((entry.range.start, read.edited(edit, ending)))
        });
        let mut writer = Self {
            editor,
            is_separated,
            text,
            ending,
            edited: edited.collect(),
            in_lists: BTreeMap::new(),
            insertions: Vec::new(),
            at: 0,
            is_apart: false,
            written: String::with_capacity(text.len()),
            expected: Vec::new(),
            fits: true,
        };
        // Sections that are there come first, so that the heading of a new section at the same
        // place comes after their items.
        for is_new in [false, true] {
            for kind in SectionKind::ALL {
                writer.place(kind, is_new);
            }
        }
        writer
    }

    /// Decides where the arrivals of a section go, if it is new or not, as asked.
    fn place(&mut self, kind: SectionKind, is_new: bool) {
        let (editor, document) = (self.editor, self.editor.document);
        let arrivals = editor.arrivals.iter().filter(|(to, _)| *to == kind);
        let arrivals: Vec<&Arrival> = arrivals.map(|(_, arrival)| arrival).collect();
        match document.sections.first(kind) {
            Some(heading) if !is_new && !arrivals.is_empty() => {
                let is_list = |at: &usize| {
                    let block = document.blocks.get(*at);
                    block.is_some_and(|block| !block.entries().is_empty())
                };
                let mut blocks = heading.block..heading.own_end;
                if !self.is_separated
                    && let Some(last) = blocks.rfind(is_list)
                {
                    self.in_lists.insert(last, arrivals);
                } else {
                    let end = self.end_before(heading.own_end);
                    self.insertions.push((end, Insertion::Entries(arrivals)));
                }
            }
            None if is_new && (editor.adds_sections || !arrivals.is_empty()) => {
                let (at, level) = self.place_of_new(kind);
                let heading = (at, Insertion::Heading(level, kind));
                let entries = (at, Insertion::Entries(arrivals));
                self.insertions.extend([heading, entries]);
            }
            Some(_) | None => {}
        }
    }

    fn place_of_new(&self, kind: SectionKind) -> (usize, usize) {
        let document = self.editor.document;
        // A heading beside a label would take what follows the label's list.
        let headings = || document.sections.headings.iter();
        let first = |kind: &SectionKind| {
            headings().find(|heading| heading.kind == *kind && heading.level < LABEL)
        };
        let (before, after) = SectionKind::ALL.split_at(kind as usize);
        if let Some(earlier) = before.iter().rev().find_map(first) {
            return (self.end_before(earlier.end), earlier.level);
        }
        let later = after.iter().find_map(first);
        match later.and_then(|later| Some((later, document.blocks.get(later.block)?))) {
            Some((later, block)) => (block.range.start, later.level),
            None => (self.end_before(document.blocks.len()), 2),
        }
    }

    fn end_before(&self, block: usize) -> usize {
        let document = self.editor.document;
        let before = document.blocks.iter().take(block).next_back();
        before.map_or(document.body, |before| before.range.end)
    }

    fn write(mut self) -> Self {
        let document = self.editor.document;
        // Without blocks, such as where there are only definitions, nothing else is copied before
        // what is inserted.
        self.copy_to(document.body);
        self.insert(document.body);
        for (number, block) in document.blocks.iter().enumerate() {
            self.copy_to(block.range.start);
            self.insert(block.range.start);
            if let BlockContent::List(entries) = &block.content {
                self.list(number, entries);
            } else {
                self.copy_to(block.range.end);
                let read = signature(std::slice::from_ref(block));
                self.expected.extend(read);
            }
            let end = block.range.end;
            let is_last = number + 1 == document.blocks.len();
            if is_last && self.insertions.iter().any(|(at, _)| *at == end) {
                self.close(self.text.get(block.range.clone()).unwrap_or_default());
            }
            self.insert(end);
        }
        self.copy_to(self.text.len());
        self
    }

    fn copy_to(&mut self, end: usize) {
        let source = self.text.get(self.at..end).unwrap_or_default();
        if !source.is_empty() {
            self.push(source);
            self.at = end;
        }
    }

    fn push(&mut self, source: &str) {
        if std::mem::take(&mut self.is_apart) && !is_blank_at(source, 0) {
            self.blank_line();
        }
        self.written.push_str(source);
    }

    fn end_line(&mut self) {
        let written = &self.written;
        let is_begun = !written.is_empty() && written != BYTE_ORDER_MARK;
        if is_begun && !written.ends_with(['\n', '\r']) {
            self.written.push_str(self.ending);
        }
    }

    fn blank_line(&mut self) {
        self.end_line();
        if !is_blank_before(&self.written, self.written.len()) {
            self.written.push_str(self.ending);
        }
    }

    fn line(&mut self, line: &str) {
        self.blank_line();
        self.written.extend([line, self.ending]);
        self.is_apart = true;
    }

    fn remove_blank_line(&mut self) {
        let end = self.written.trim_end_matches(['\n', '\r']).len();
        let length = self.written.len();
        if line_end(&self.written, end) < length && is_blank_before(&self.written, length) {
            let start = line_start(&self.written, length - 1);
            self.written.truncate(start);
        }
    }

    fn moves(&self, entry: &ListEntry) -> bool {
        let edit = self.editor.items.get(&entry.range.start);
        edit.is_some_and(|edit| edit.moves) && self.edited.contains_key(&entry.range.start)
    }

    fn list(&mut self, number: usize, entries: &[ListEntry]) {
        let mut kept: Vec<ListEntry> = Vec::new();
        for (place, entry) in entries.iter().enumerate() {
            if self.moves(entry) {
                if self.is_separated {
                    self.line(SEPARATOR);
                }
                self.at = entry.range.end;
                continue;
            }
            if kept.is_empty() && place > 0 {
                self.at = entry.range.start;
                self.is_apart |= !entry.marker.sign.interrupts_paragraphs();
            }
            self.copy_to(entry.range.start);
            if let Some(edited) = self.edited.get(&entry.range.start).cloned() {
                self.push(&edited.source);
                self.at = entry.range.end;
                kept.push(edited.entry);
            } else {
                self.copy_to(entry.range.end);
                kept.push(entry.clone());
            }
        }
        let Some(last) = entries.last() else { return };
        // A paragraph right after the list would continue a note.
        self.is_apart |= kept.is_empty() || self.edited.contains_key(&last.range.start);
        if let Some(arrivals) = self.in_lists.remove(&number) {
            let sign = match (kept.last(), entries.first()) {
                (Some(kept), _) => kept.marker.sign.next(),
                (None, first) => first.unwrap_or(last).marker.sign,
            };
            if kept.is_empty() && !sign.interrupts_paragraphs() {
                self.blank_line();
            }
            let is_loose = entries.len() > 1 && is_blank_before(self.text, last.range.start);
            self.entries(&mut kept, &arrivals, last.marker.with_sign(sign), is_loose);
        } else if kept.is_empty() && is_blank_at(self.text, self.at) {
            self.remove_blank_line();
        }
        self.expected.extend(list(kept.iter()));
    }

    fn entries(
        &mut self,
        list: &mut Vec<ListEntry>,
        arrivals: &[&Arrival],
        mut marker: ListMarker,
        is_loose: bool,
    ) {
        for arrival in arrivals {
            let entry = match arrival {
                Arrival::Added(line) => LooseEntry::added(&marker, line, self.ending),
                Arrival::Moved(start) => {
                    let own = self.edited.get(start);
                    own.and_then(|own| own.with_marker(&marker))
                }
            };
            let Some(entry) = entry else {
                self.fits = false;
                return;
            };
            if is_loose && !list.is_empty() {
                self.blank_line();
            }
            self.end_line();
            self.written.push_str(&entry.source);
            self.end_line();
            list.push(entry.entry);
            marker = marker.with_sign(marker.sign.next());
        }
        self.is_apart = true;
    }

    fn insert(&mut self, position: usize) {
        let all = std::mem::take(&mut self.insertions);
        let (here, later) = all.into_iter().partition(|(at, _)| *at == position);
        self.insertions = later;
        for (_, insertion) in here {
            match insertion {
                Insertion::Heading(level, kind) => {
                    let heading = format!("{} {}", "#".repeat(level), kind.heading());
                    self.line(&heading);
                    self.expected.extend(signature(&outline(&heading, 0)));
                }
                Insertion::Entries(arrivals) if arrivals.is_empty() => {}
                Insertion::Entries(arrivals) if !self.is_separated => {
                    self.blank_line();
                    let mut entries = Vec::new();
                    self.entries(&mut entries, &arrivals, ListMarker::plain(), false);
                    self.expected.extend(list(entries.iter()));
                }
                Insertion::Entries(arrivals) => {
                    for arrival in arrivals {
                        self.line(SEPARATOR);
                        let entry = match arrival {
                            Arrival::Added(line) => {
                                LooseEntry::added(&ListMarker::plain(), line, self.ending)
                            }
                            Arrival::Moved(start) => self.edited.get(start).cloned(),
                        };
                        self.push(&entry.map_or_else(String::new, |entry| entry.source));
                    }
                    self.line(SEPARATOR);
                }
            }
        }
    }

    fn close(&mut self, source: &str) {
        let mut ends = block_ends(source);
        if !is_closed(source, "")
            && let Some(end) = ends.find(|end| is_closed(source, end))
        {
            self.end_line();
            self.written.extend([&end, self.ending]);
        }
    }
}

fn is_closed(source: &str, line: &str) -> bool {
    let followed = format!("{source}\n{line}\n\n# end\n");
    outline(&followed, 0)
        .last()
        .is_some_and(|block| matches!(block.content, BlockContent::Heading { .. }))
}
