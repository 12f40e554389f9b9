//! Edits one list entry where it stands: removes and writes tags, and appends notes. Each form is
//! read again; one that would change anything else is not used.

use super::super::item::{PlacedTag, Tag};
use super::super::lines::{indentation, is_blank, line_start, lines, without_columns};
use super::super::marker::ListMarker;
use super::super::outline::{BlockContent, ListEntry, outline};
use super::ItemEdit;

/// Ends of HTML that is left open.
const HTML_ENDS: &str = "--> ?> > ]]> </script> </pre> </style> </textarea>";

/// A list entry with its source, apart from its document.
#[derive(Clone, Debug)]
pub(super) struct LooseEntry {
    pub(super) source: String,
    pub(super) entry: ListEntry,
}

impl LooseEntry {
    /// `None` if it is anything else than one entry.
    pub(super) fn read(source: String) -> Option<Self> {
        let mut blocks = outline(&source, 0);
        let block = blocks.pop()?;
        let BlockContent::List(mut entries) = block.content else {
            return None;
        };
        let entry = entries.pop()?;
        let is_whole = blocks.is_empty() && entries.is_empty() && entry.range.start == 0;
        is_whole.then_some(Self { source, entry })
    }

    pub(super) fn added(marker: &ListMarker, line: &str, ending: &str) -> Option<Self> {
        let (indent, padding) = (&marker.indent, &marker.padding);
        let sign = marker.sign.written();
        Self::read(format!("{indent}{sign}{padding}{line}{ending}"))
    }

    /// Returns the entry with the edits that it can take.
    pub(super) fn edited(mut self, edit: &ItemEdit, ending: &str) -> Self {
        for tag in &edit.cleared {
            self = self.without_tag(*tag);
        }
        for tag in &edit.set {
            self = self.with_tag(*tag, ending);
        }
        if let Some(ticks) = edit.ticks {
            self = self.with_check(ticks);
        }
        for note in &edit.notes {
            self = self.with_note(note, ending);
        }
        self
    }

    fn with_check(self, ticks: bool) -> Self {
        let Some(at) = self.entry.text.check else {
            return self;
        };
        let (before, rest) = self.source.split_at(at);
        let mut signs = rest.chars();
        let is_ticked = !signs.next().is_some_and(char::is_whitespace);
        if is_ticked == ticks {
            return self;
        }
        let sign = if ticks { 'x' } else { ' ' };
        let next = Self::read(format!("{before}{sign}{}", signs.as_str()));
        let is_good =
            |next: &Self| tags(&next.entry).eq(tags(&self.entry)) && self.differs_in_one_text(next);
        next.filter(is_good).unwrap_or(self)
    }

    fn without_tag(mut self, tag: Tag) -> Self {
        let is_this = |placed: &&PlacedTag| placed.tag == tag;
        while let Some(placed) = self.entry.text.tags.iter().rfind(is_this).cloned() {
            let (before, rest) = self.source.split_at(placed.range.start);
            let after = rest.get(placed.range.len()..).unwrap_or_default();
            let digits = after.chars().take_while(char::is_ascii_digit).count();
            let (number, end) = after.split_at(digits);
            let kept: Vec<Tag> = tags(&self.entry).filter(|kept| *kept != tag).collect();
            // Without other text, the next block begins the entry. Code keeps its indentation.
            let next_block = after.trim_start();
            let line_start = line_start(&self.source, self.source.len() - next_block.len());
            let line = self.source.get(line_start..).unwrap_or_default();
            let own = indentation(line).saturating_sub(self.entry.marker.content_column);
            let next = [
                format!("{before}{after}"),
                format!("{before}{}{next_block}", " ".repeat(own)),
                format!("{before}\\{after}"),
                format!("{before}{number}\\{end}"),
            ]
            .into_iter()
            .filter_map(Self::read)
            .find(|next| {
                let fewer = next.entry.text.tags.len() < self.entry.text.tags.len();
                let others = tags(&next.entry).filter(|other| *other != tag);
                fewer && others.eq(kept.iter().copied()) && self.differs_in_one_text(next)
            });
            match next {
                Some(next) => self = next,
                None => break,
            }
        }
        self
    }

    fn with_tag(self, tag: Tag, ending: &str) -> Self {
        let written = tag.written();
        let marker = &self.entry.marker;
        let next = if let Some(place) = self.entry.text.tag_place {
            let (before, after) = self.source.split_at(place);
            format!("{before}{written} {after}")
        } else {
            let (before, after) = self.source.split_at(marker.length);
            if marker.padding.is_empty() {
                format!("{before} {written}{ending}{after}")
            } else {
                let indent = " ".repeat(marker.content_column);
                format!("{before}{written}{ending}{ending}{indent}{after}")
            }
        };
        let is_good = |next: &Self| {
            let more = next.entry.text.tags.len() == self.entry.text.tags.len() + 1;
            more && tags(&next.entry).any(|set| set == tag) && self.differs_in_one_text(next)
        };
        Self::read(next).filter(is_good).unwrap_or(self)
    }

    /// Returns true if another form has the same words, and differs in one text at most.
    fn differs_in_one_text(&self, other: &Self) -> bool {
        self.entry.text.words == other.entry.text.words
            && differ_in_one_text(&self.entry.shape, &other.entry.shape)
    }

    fn with_note(self, note: &str, ending: &str) -> Self {
        let before = if self.source.ends_with(['\n', '\r']) {
            self.source.clone()
        } else {
            format!("{}{ending}", self.source)
        };
        let indent = " ".repeat(self.entry.marker.content_column);
        let joined = self.last_nested();
        let joined = joined.map(|(gap, prefix)| format!("{before}{gap}{prefix}{note}{ending}"));
        let plain = format!("{indent}- {note}{ending}");
        let forms = joined.into_iter().chain([
            format!("{before}{plain}"),
            format!("{before}{ending}{plain}"),
        ]);
        let closed = block_ends(&self.source)
            .map(|end| format!("{before}{indent}{end}{ending}{ending}{plain}"));
        let next = forms
            .chain(closed)
            .filter_map(Self::read)
            .find(|next| self.differs_by_note(next, note));
        next.unwrap_or(self)
    }

    fn differs_by_note(&self, next: &Self, note: &str) -> bool {
        let entry = format!("Item(\nt {note}\n)\n");
        let shape = &next.entry.shape;
        let added = format!("List(\n{entry})\n");
        let without = match shape.strip_suffix(&added) {
            Some(before) => before.to_owned(),
            None => match shape.strip_suffix(&format!("{entry})\n")) {
                Some(before) => format!("{before})\n"),
                None => return false,
            },
        };
        let same_tags = tags(&self.entry).eq(tags(&next.entry));
        let same_words =
            self.entry.text.words == next.entry.text.words || self.entry.text.words.is_empty();
        same_words && same_tags && differ_in_one_text(&self.entry.shape, &without)
    }

    /// Returns how its last line with a bullet begins, and the blank line before it if it is not
    /// the only one of its form: so continues the list that the entry ends with, if any does.
    fn last_nested(&self) -> Option<(&str, String)> {
        let all: Vec<&str> = lines(&self.source).collect();
        let prefix = |line: &str| {
            let marker = ListMarker::read(line).filter(|marker| marker.sign.number.is_none())?;
            Some(marker.written(marker.sign))
        };
        let nested = all.iter().enumerate().skip(1).rev();
        let mut nested = nested.filter_map(|(at, line)| Some((at, prefix(line)?)));
        let (at, last) = nested.next()?;
        let before = all.get(at - 1).filter(|line| is_blank(line));
        let is_loose = nested.any(|(_, prefix)| prefix == last);
        let gap = before.filter(|_| is_loose).copied();
        Some((gap.unwrap_or_default(), last))
    }

    /// The lines are indented to match.
    pub(super) fn with_marker(&self, marker: &ListMarker) -> Option<Self> {
        let own = &self.entry.marker;
        let mut source = String::with_capacity(self.source.len());
        for (number, line) in lines(&self.source).enumerate() {
            if number == 0 {
                let content = first_line(line, own)?;
                let padding = if is_blank(&content) {
                    ""
                } else {
                    &marker.padding
                };
                source.push_str(&marker.indent);
                source.push_str(&marker.sign.written());
                source.push_str(padding);
                source.push_str(&content);
            } else if is_blank(line) || own.content_column == marker.content_column {
                source.push_str(line);
            } else if let Some(content) = without_columns(line, 0, own.content_column) {
                source.push_str(&" ".repeat(marker.content_column));
                source.push_str(&content);
            } else {
                source.push_str(line.trim_start_matches([' ', '\t']));
            }
        }
        Self::read(source).filter(|moved| moved.entry.shape == self.entry.shape)
    }
}

fn first_line(line: &str, marker: &ListMarker) -> Option<String> {
    let sign_end = marker.length - marker.padding.len();
    let column = marker.sign_column();
    let rest = line.get(sign_end..)?;
    if marker.padding.is_empty() {
        return Some(rest.to_owned());
    }
    without_columns(rest, column, marker.content_column - column)
}

fn tags(entry: &ListEntry) -> impl Iterator<Item = Tag> {
    entry.text.tags.iter().map(|placed| placed.tag)
}

fn differ_in_one_text(one: &str, other: &str) -> bool {
    let one: Vec<&str> = one.lines().collect();
    let other: Vec<&str> = other.lines().collect();
    let same = |(one, other): &(&&str, &&str)| one == other;
    let start = one.iter().zip(&other).take_while(same).count();
    let rest = one.len().min(other.len()) - start;
    let end = one
        .iter()
        .rev()
        .zip(other.iter().rev())
        .take(rest)
        .take_while(same)
        .count();
    let is_text = |lines: &[&str]| {
        let between = lines.get(start..lines.len() - end).unwrap_or_default();
        between.len() <= 1 && between.iter().all(|line| line.starts_with(['t', 'v']))
    };
    is_text(&one) && is_text(&other)
}

/// Returns what may end a block of code or HTML that is left open at the end of a source.
pub(super) fn block_ends(source: &str) -> impl Iterator<Item = String> {
    let longest = |sign: char| {
        let runs = source.split(|c| c != sign).map(str::len);
        runs.max().unwrap_or(0).max(3)
    };
    let fences = ["`".repeat(longest('`')), "~".repeat(longest('~'))];
    fences
        .into_iter()
        .chain(HTML_ENDS.split(' ').map(ToOwned::to_owned))
}
