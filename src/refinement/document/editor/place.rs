//! Where edited items stand: the edits by byte range, and what must stand between an edit and its
//! neighbours so that neither changes how the other is read.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::super::super::byte_edit::ByteEdit;
use super::super::item::SectionKind;
use super::super::lines::{BYTE_ORDER_MARK, is_blank_at, is_blank_before, line_end, line_ending};
use super::super::outline::{BlockContent, ListEntry, TopBlock, outline};
use super::super::sections::SectionHeading;
use super::check::{SEPARATOR, Unit, units};
use super::entry::{LooseEntry, block_ends};
use super::list::ListForm;
use super::{Arrival, DocumentEditor};

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

/// Text that is inserted at a place.
struct Insertion {
    text: String,
    before: Before,
    units: Vec<Unit>,
}

/// What stands between an insertion and the text before it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    Nothing,
    BlankLine,
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
        insertions: BTreeMap::new(),
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
    insertions: BTreeMap<usize, Vec<Insertion>>,
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
                let nothing = Insertion {
                    text: String::new(),
                    before: Before::Nothing,
                    units: Vec::new(),
                };
                self.insert(last.range.end, nothing);
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

    /// Returns where entries move away that follow each other.
    fn moved_runs(&self, entries: &[ListEntry]) -> Vec<Range<usize>> {
        let mut runs: Vec<Range<usize>> = Vec::new();
        for (at, entry) in entries.iter().enumerate() {
            if !self.moved.contains(&entry.range.start) {
                continue;
            }
            match runs.last_mut() {
                Some(run) if run.end == at => run.end = at + 1,
                _ => runs.push(at..at + 1),
            }
        }
        runs
    }

    /// Removes entries that follow each other, with the blank lines that separate them from others.
    fn remove(&mut self, entries: &[ListEntry], run: &Range<usize>) {
        let (Some(first), Some(last)) = (entries.get(run.start), entries.get(run.end - 1)) else {
            return;
        };
        let before = run.start.checked_sub(1).and_then(|at| entries.get(at));
        let after = entries.get(run.end);
        let mut range = first.range.start..last.range.end;
        let mut text = String::new();
        if self.joins == Joins::Separated {
            text = self.separator(is_blank_before(self.text, range.start));
            if !is_blank_at(self.text, range.end) {
                text.push_str(self.ending);
            }
        } else if let Some(after) = after {
            range.end = after.range.start;
            let may_join = after.marker.sign.interrupts_paragraphs();
            if before.is_none() && !may_join && !is_blank_before(self.text, range.start) {
                text.push_str(self.ending);
            }
        } else if is_blank_at(self.text, range.end) {
            range.start = before.map_or(range.start, |before| before.range.end);
        } else if !is_blank_before(self.text, range.start) && !self.is_heading_at(range.end) {
            text.push_str(self.ending);
        }
        self.edits.push(ByteEdit { range, text });
    }

    /// Returns the comment that ends a list where a blank line does not.
    fn separator(&self, follows_blank: bool) -> String {
        let blank = if follows_blank { "" } else { self.ending };
        format!("{blank}{SEPARATOR}{}", self.ending)
    }

    fn is_heading_at(&self, at: usize) -> bool {
        self.text
            .get(at..)
            .is_some_and(|rest| rest.starts_with('#'))
    }

    /// Places what arrives: in sections that are there first, so that the heading of a new section
    /// at the same place comes after it.
    fn place_arrivals(&mut self) {
        let sections = &self.editor.document.sections;
        for kind in SectionKind::ALL {
            let arrivals = self.arrivals_of(kind);
            if let Some(heading) = sections.first(kind)
                && !arrivals.is_empty()
            {
                self.place_in_section(*heading, &arrivals);
            }
        }
        for kind in SectionKind::ALL {
            let arrivals = self.arrivals_of(kind);
            if sections.first(kind).is_none() && !arrivals.is_empty() {
                self.place_in_new_section(kind, &arrivals);
            }
        }
    }

    fn arrivals_of(&self, kind: SectionKind) -> Vec<&'e Arrival> {
        let arrivals = self.editor.arrivals.iter();
        arrivals
            .filter(|(to, _)| *to == kind)
            .map(|(_, arrival)| arrival)
            .collect()
    }

    fn place_in_section(&mut self, heading: SectionHeading, arrivals: &[&Arrival]) {
        let blocks = self
            .blocks()
            .get(heading.block..heading.own_end)
            .unwrap_or_default();
        let joinable = blocks.iter().enumerate().rev().find_map(|(at, block)| {
            let BlockContent::List(entries) = &block.content else {
                return None;
            };
            let form = ListForm::of(self.text, entries, &self.moved)?;
            Some((heading.block + at, entries, form))
        });
        match (joinable, blocks.last()) {
            (Some((block, entries, form)), _) if self.joins == Joins::Lists => {
                self.join_list(block, entries, form, arrivals);
            }
            (_, Some(last)) => {
                let insertion = self.new_list(arrivals);
                self.insert_after(last, insertion);
            }
            (_, None) => {}
        }
    }

    fn join_list(
        &mut self,
        block: usize,
        entries: &[ListEntry],
        form: ListForm,
        arrivals: &[&Arrival],
    ) {
        let (Some(first), Some(last)) = (entries.first(), entries.last()) else {
            return;
        };
        let is_kept = |entry: &ListEntry| !self.moved.contains(&entry.range.start);
        let before = if entries.iter().any(is_kept) {
            if form.is_loose {
                Before::BlankLine
            } else {
                Before::Nothing
            }
        } else if form.marker.sign.interrupts_paragraphs()
            || is_blank_before(self.text, first.range.start)
        {
            Before::Nothing
        } else {
            Before::BlankLine
        };
        let (text, units) = self.list(form, arrivals, block);
        let insertion = Insertion {
            text,
            before,
            units,
        };
        self.insert(last.range.end, insertion);
    }

    /// Returns a list of its own.
    fn new_list(&mut self, arrivals: &[&Arrival]) -> Insertion {
        let number = self.new_list_number();
        let (mut text, units) = self.list(ListForm::plain(), arrivals, number);
        if self.joins == Joins::Separated {
            let ending = self.ending;
            text = format!("{SEPARATOR}{ending}{ending}{text}{ending}{SEPARATOR}{ending}");
        }
        Insertion {
            text,
            before: Before::BlankLine,
            units,
        }
    }

    fn new_list_number(&mut self) -> usize {
        self.new_lists += 1;
        self.new_lists
    }

    fn place_in_new_section(&mut self, kind: SectionKind, arrivals: &[&Arrival]) {
        let sections = &self.editor.document.sections;
        let earlier = SectionKind::ALL
            .into_iter()
            .filter(|other| *other < kind)
            .rev()
            .find_map(|other| sections.first(other));
        let later = SectionKind::ALL
            .into_iter()
            .filter(|other| *other > kind)
            .find_map(|other| sections.first(other));
        let level = earlier
            .or(later)
            .map_or(2, |heading| heading.level as usize);
        let ending = self.ending;
        let mut section = self.new_list(arrivals);
        let heading = format!("{} {}{ending}", "#".repeat(level), kind.heading());
        section.units.splice(0..0, units(&outline(&heading, 0)));
        section.text = format!("{heading}{ending}{}", section.text);
        let blocks = self.blocks();
        match (earlier, later) {
            (Some(earlier), _) => {
                if let Some(last) = earlier.end.checked_sub(1).and_then(|at| blocks.get(at)) {
                    self.insert_after(last, section);
                }
            }
            (None, Some(later)) => {
                if let Some(block) = blocks.get(later.block) {
                    self.insert(block.range.start, section);
                }
            }
            (None, None) => match blocks.last() {
                Some(last) => self.insert_after(last, section),
                None => self.insert(self.text.len(), section),
            },
        }
    }

    /// Inserts blocks after a block.
    fn insert_after(&mut self, block: &TopBlock, insertion: Insertion) {
        let mut at = block.range.end;
        let end = self.end_of_open_block(block);
        if !end.is_empty() {
            if !std::mem::replace(&mut self.is_end_closed, true) {
                let end = Insertion {
                    text: format!("{end}{}", self.ending),
                    before: Before::Nothing,
                    units: Vec::new(),
                };
                self.insert(at, end);
            }
        } else if at < self.text.len() && is_blank_at(self.text, at) {
            at = line_end(self.text, at);
        }
        self.insert(at, insertion);
    }

    /// Returns the line that ends a block of code or HTML that is open at the end of the document.
    fn end_of_open_block(&self, block: &TopBlock) -> String {
        let is_last = self
            .blocks()
            .last()
            .is_some_and(|last| last.range == block.range);
        let source = self.text.get(block.range.clone()).unwrap_or_default();
        if !is_last || ends(source, "") {
            return String::new();
        }
        block_ends(source)
            .find(|end| ends(source, end))
            .unwrap_or_default()
    }

    fn insert(&mut self, at: usize, insertion: Insertion) {
        self.insertions.entry(at).or_default().push(insertion);
    }

    /// Returns what arrives, in the form of a list with this number.
    fn list(
        &mut self,
        mut form: ListForm,
        arrivals: &[&Arrival],
        number: usize,
    ) -> (String, Vec<Unit>) {
        let gap = if form.is_loose { self.ending } else { "" };
        let mut list = String::new();
        let mut units = Vec::new();
        let mut number = number;
        let mut is_apart = false;
        for arrival in arrivals {
            let marker = form.take_marker();
            let joined = match arrival {
                Arrival::Added(line) => LooseEntry::added(&marker, line, self.ending),
                Arrival::Moved(start) => self
                    .edited
                    .get(start)
                    .and_then(|edited| edited.with_marker(&marker)),
            };
            let is_alone = joined.is_none();
            if is_apart || is_alone {
                list.push_str(&self.separator(false));
                list.push_str(self.ending);
                number = self.new_list_number();
            } else if !list.is_empty() {
                list.push_str(gap);
            }
            is_apart = is_alone;
            let own = match arrival {
                Arrival::Added(_) => None,
                Arrival::Moved(start) => self.edited.get(start),
            };
            if let Some(entry) = joined.as_ref().or(own) {
                list.push_str(&entry.source);
                if !entry.source.ends_with(['\n', '\r']) {
                    list.push_str(self.ending);
                }
                units.push(Unit::entry(&entry.entry, number));
            }
        }
        (list, units)
    }

    /// Returns all edits, with what separates insertions from the text around them.
    fn finish(mut self) -> Placed {
        let expected = self.expected();
        for (at, insertions) in std::mem::take(&mut self.insertions) {
            let mut text = String::new();
            let before = self.text.get(..at).unwrap_or_default();
            if is_blank_at(self.text, at) && insertions.iter().all(|one| one.text.is_empty()) {
                continue;
            }
            let follows_line = !before.is_empty() && before != BYTE_ORDER_MARK;
            if follows_line && !before.ends_with(['\n', '\r']) {
                text.push_str(self.ending);
            }
            let mut follows_blank = is_blank_before(self.text, at);
            for insertion in insertions {
                if insertion.before == Before::BlankLine && !follows_blank {
                    text.push_str(self.ending);
                }
                text.push_str(&insertion.text);
                follows_blank = false;
            }
            if !is_blank_at(self.text, at) {
                text.push_str(self.ending);
            }
            self.edits.push(ByteEdit {
                range: at..at,
                text,
            });
        }
        Placed {
            edits: self.edits,
            expected,
        }
    }

    /// Returns what the result must be read as.
    fn expected(&self) -> Vec<Unit> {
        let mut insertions = self
            .insertions
            .iter()
            .flat_map(|(at, insertions)| insertions.iter().map(|insertion| (*at, insertion)))
            .peekable();
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

/// Returns true if a heading after a source and a line is read as one.
fn ends(source: &str, line: &str) -> bool {
    let followed = format!("{source}\n{line}\n\n# end\n");
    outline(&followed, 0)
        .last()
        .is_some_and(|block| matches!(block.content, BlockContent::Heading { .. }))
}
