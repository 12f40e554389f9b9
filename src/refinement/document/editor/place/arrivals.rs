//! Places what arrives in a section: in a list that is there, in a list of its own, or in a new
//! section.

use super::super::super::item::SectionKind;
use super::super::super::lines::{is_blank_at, is_blank_before, line_end};
use super::super::super::outline::{BlockContent, ListEntry, TopBlock, outline};
use super::super::super::sections::SectionHeading;
use super::super::Arrival;
use super::super::check::{SEPARATOR, Unit, units};
use super::super::entry::{LooseEntry, block_ends};
use super::super::list::ListForm;
use super::insertions::{Before, Insertion};
use super::{Joins, Placing};

impl<'e> Placing<'e> {
    /// Places what arrives: in sections that are there first, so that the heading of a new section
    /// at the same place comes after it.
    pub(super) fn place_arrivals(&mut self) {
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
            let is_needed = self.editor.adds_sections || !arrivals.is_empty();
            if sections.first(kind).is_none() && is_needed {
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
        self.insertions.add(last.range.end, insertion);
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
        let heading = format!("{} {}{ending}", "#".repeat(level), kind.heading());
        let mut section = Insertion {
            units: units(&outline(&heading, 0)),
            text: heading,
            before: Before::BlankLine,
        };
        if !arrivals.is_empty() {
            let list = self.new_list(arrivals);
            section.text.extend([ending, &list.text]);
            section.units.extend(list.units);
        }
        let blocks = self.blocks();
        match (earlier, later) {
            (Some(earlier), _) => {
                if let Some(last) = earlier.end.checked_sub(1).and_then(|at| blocks.get(at)) {
                    self.insert_after(last, section);
                }
            }
            (None, Some(later)) => {
                if let Some(block) = blocks.get(later.block) {
                    self.insertions.add(block.range.start, section);
                }
            }
            (None, None) => match blocks.last() {
                Some(last) => self.insert_after(last, section),
                None => self.insertions.add(self.text.len(), section),
            },
        }
    }

    /// Inserts blocks after a block.
    fn insert_after(&mut self, block: &TopBlock, insertion: Insertion) {
        let mut at = block.range.end;
        let end = self.end_of_open_block(block);
        if !end.is_empty() {
            if !std::mem::replace(&mut self.is_end_closed, true) {
                let end = Insertion::of(format!("{end}{}", self.ending));
                self.insertions.add(at, end);
            }
        } else if at < self.text.len() && is_blank_at(self.text, at) {
            at = line_end(self.text, at);
        }
        self.insertions.add(at, insertion);
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
}

/// Returns true if a heading after a source and a line is read as one.
fn ends(source: &str, line: &str) -> bool {
    let followed = format!("{source}\n{line}\n\n# end\n");
    outline(&followed, 0)
        .last()
        .is_some_and(|block| matches!(block.content, BlockContent::Heading { .. }))
}
