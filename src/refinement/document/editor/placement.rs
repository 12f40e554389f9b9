//! Decides where arrivals go: to the end of a list that is there, in its form, to a list of their
//! own, or to a new section.

use std::collections::BTreeMap;

use super::super::item::SectionKind;
use super::super::lines::is_blank_before;
use super::super::marker::ListMarker;
use super::super::outline::{BlockContent, ListEntry};
use super::super::sections::SectionHeading;
use super::{Arrival, DocumentEditor};

/// What is inserted at one place, in this order.
pub(super) type Insertions<'e> = BTreeMap<Place, Vec<Insertion<'e>>>;

/// A place between the blocks of a document, by the index of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    Before(usize),
    /// In the list that the block is, after its last entry.
    InList(usize),
    After(usize),
    /// At the end of a document without blocks.
    End,
}

/// Something that is inserted.
#[derive(Debug)]
pub(super) enum Insertion<'e> {
    /// A heading of this level.
    Heading(usize, SectionKind),
    Entries(Vec<&'e Arrival>),
}

/// Returns everything that a document gets. Items join the lists that are there if `joins`.
pub(super) fn insertions<'e>(editor: &'e DocumentEditor<'_>, joins: bool) -> Insertions<'e> {
    let sections = &editor.document.sections;
    let mut insertions = Insertions::new();
    let arrivals = SectionKind::ALL.map(|kind| {
        let arrivals = editor.arrivals.iter().filter(|(to, _)| *to == kind);
        let arrivals: Vec<&Arrival> = arrivals.map(|(_, arrival)| arrival).collect();
        (kind, arrivals)
    });
    // Sections that are there come first, so that the heading of a new section at the same place
    // comes after their items.
    let (present, missing): (Vec<_>, Vec<_>) = arrivals
        .into_iter()
        .partition(|(kind, _)| sections.first(*kind).is_some());
    for (kind, arrivals) in present {
        if let Some(heading) = sections.first(kind)
            && !arrivals.is_empty()
        {
            let place = place_in(editor, heading, joins);
            let at = insertions.entry(place).or_default();
            at.push(Insertion::Entries(arrivals));
        }
    }
    for (kind, arrivals) in missing {
        if editor.adds_sections || !arrivals.is_empty() {
            let (place, level) = place_of_new(editor, kind);
            let at = insertions.entry(place).or_default();
            at.push(Insertion::Heading(level, kind));
            if !arrivals.is_empty() {
                at.push(Insertion::Entries(arrivals));
            }
        }
    }
    insertions
}

/// Returns the place of items in a section that is there.
fn place_in(editor: &DocumentEditor<'_>, heading: &SectionHeading, joins: bool) -> Place {
    let blocks = editor.document.blocks.iter().enumerate();
    let mut lists = blocks
        .take(heading.own_end)
        .skip(heading.block)
        .filter(|(_, block)| matches!(block.content, BlockContent::List(_)));
    match lists.next_back() {
        Some((at, _)) if joins => Place::InList(at),
        Some(_) | None => Place::After(heading.own_end.saturating_sub(1)),
    }
}

/// Returns the place of a new section, in the order of the sections, and the level of its heading.
fn place_of_new(editor: &DocumentEditor<'_>, kind: SectionKind) -> (Place, usize) {
    let sections = &editor.document.sections;
    let all = SectionKind::ALL.into_iter();
    let mut before = all.clone().rev().filter(|other| *other < kind);
    let mut after = all.filter(|other| *other > kind);
    let earlier = before.find_map(|other| sections.first(other));
    let later = after.find_map(|other| sections.first(other));
    let level = earlier
        .or(later)
        .map_or(2, |heading| heading.level as usize);
    let last = editor.document.blocks.len().checked_sub(1);
    let place = match (earlier, later) {
        (Some(earlier), _) => Place::After(earlier.end.saturating_sub(1)),
        (None, Some(later)) => Place::Before(later.block),
        (None, None) => last.map_or(Place::End, Place::After),
    };
    (place, level)
}

/// The form of the entries that are added to a list.
#[derive(Clone, Debug)]
pub(super) struct ListForm {
    /// The marker of the next entry.
    pub(super) marker: ListMarker,
    /// Whether a blank line stands between entries.
    pub(super) is_loose: bool,
    counts: bool,
}

impl ListForm {
    /// The form of a new list.
    pub(super) fn plain() -> Self {
        Self {
            marker: ListMarker::plain(),
            is_loose: false,
            counts: false,
        }
    }

    /// Reads the form of a list of which entries are removed; `None` for a list without entries.
    pub(super) fn of(
        text: &str,
        entries: &[ListEntry],
        is_removed: impl Fn(&ListEntry) -> bool,
    ) -> Option<Self> {
        let last = entries.last()?;
        let before_last = entries.len().checked_sub(2).and_then(|at| entries.get(at));
        let is_same_number = |before: &ListEntry| before.marker.sign == last.marker.sign;
        let kept = entries.iter().rfind(|entry| !is_removed(entry));
        let counts = !before_last.is_some_and(is_same_number);
        let sign = match kept {
            Some(kept) if counts => kept.marker.sign.next(),
            Some(kept) => kept.marker.sign,
            None => entries.first().unwrap_or(last).marker.sign,
        };
        Some(Self {
            marker: last.marker.with_sign(sign),
            is_loose: before_last.is_some() && is_blank_before(text, last.range.start),
            counts,
        })
    }

    /// Returns the marker of the next entry, and steps to the one after it.
    pub(super) fn take_marker(&mut self) -> ListMarker {
        let marker = self.marker.clone();
        if self.counts {
            self.marker = marker.with_sign(marker.sign.next());
        }
        marker
    }
}
