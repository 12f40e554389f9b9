//! The blocks at the top level of a document, in order, with the entries of its lists. Positions
//! are whole lines, without the blank lines after a block.
//!
//! Front matter is skipped by its caller: an outline begins at a position.

use std::ops::Range;

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag};

use super::lines::{end_without_blank_lines, indentation, is_blank, line_end, line_start, lines};
use super::marker::ListMarker;
use super::shape::{EntryText, entry_text};
use super::shape::{Events, shape};

/// A block at the top level.
#[derive(Debug)]
pub(super) struct TopBlock {
    pub(super) range: Range<usize>,
    pub(super) content: BlockContent,
}

#[derive(Debug)]
pub(super) enum BlockContent {
    Heading {
        level: HeadingLevel,
        words: String,
        shape: String,
    },
    List(Vec<ListEntry>),
    Other {
        shape: String,
    },
}

/// An entry at the top level of a list.
#[derive(Clone, Debug)]
pub(super) struct ListEntry {
    pub(super) range: Range<usize>,
    pub(super) marker: ListMarker,
    pub(super) text: EntryText,
    /// The shape of its content.
    pub(super) shape: String,
}

impl TopBlock {
    /// Empty for other blocks.
    pub(super) fn entries(&self) -> &[ListEntry] {
        match &self.content {
            BlockContent::List(entries) => entries,
            BlockContent::Heading { .. } | BlockContent::Other { .. } => &[],
        }
    }
}

/// The Markdown that documents are read as: what the common sites for code show.
pub(super) const DIALECT: Options = Options::ENABLE_TABLES
    .union(Options::ENABLE_STRIKETHROUGH)
    .union(Options::ENABLE_TASKLISTS)
    .union(Options::ENABLE_FOOTNOTES);

pub(super) fn outline(text: &str, from: usize) -> Vec<TopBlock> {
    let body = text.get(from..).unwrap_or_default();
    let events: Vec<_> = Parser::new_ext(body, DIALECT)
        .into_offset_iter()
        .map(|(event, range)| (event, from + range.start..from + range.end))
        .collect();
    let mut blocks: Vec<TopBlock> = elements(&events)
        .into_iter()
        .filter_map(|events| block(text, from, events))
        .collect();
    extend_entries(text, &mut blocks);
    blocks
}

fn elements<'e, 't>(events: &'e Events<'t>) -> Vec<&'e Events<'t>> {
    let mut elements = Vec::new();
    let (mut start, mut depth) = (0, 0_usize);
    for (at, (event, _)) in events.iter().enumerate() {
        match event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            elements.extend(events.get(start..=at));
            start = at + 1;
        }
    }
    elements
}

fn content<'e, 't>(element: &'e Events<'t>) -> &'e Events<'t> {
    let end = element.len().saturating_sub(1);
    element.get(1..end).unwrap_or_default()
}

fn block(text: &str, from: usize, events: &Events<'_>) -> Option<TopBlock> {
    let (first, range) = events.first()?;
    let content = match first {
        Event::Start(Tag::Heading { level, .. }) => BlockContent::Heading {
            level: *level,
            words: words(events),
            shape: shape(text, events),
        },
        Event::Start(Tag::List(_)) => {
            let entries = elements(content(events)).into_iter();
            // Each entry must have a marker that is understood.
            let entries: Option<Vec<_>> = entries.map(|events| entry(text, events)).collect();
            entries.map_or_else(
                || BlockContent::Other {
                    shape: text.get(range.clone()).unwrap_or_default().to_owned(),
                },
                BlockContent::List,
            )
        }
        _ => BlockContent::Other {
            shape: shape(text, events),
        },
    };
    let lines = whole_lines(text, range);
    // A byte order mark is no part of a line.
    let range = lines.start.max(from)..lines.end;
    Some(TopBlock { range, content })
}

/// `None` if its first line has no marker.
fn entry(text: &str, events: &Events<'_>) -> Option<ListEntry> {
    let (_, range) = events.first()?;
    let range = whole_lines(text, range);
    let marker = ListMarker::read(text.get(range.clone())?)?;
    let content = content(events);
    Some(ListEntry {
        range,
        marker,
        text: entry_text(text, content),
        shape: shape(text, content),
    })
}

fn words(events: &Events<'_>) -> String {
    let pieces = events.iter().map(|(event, _)| match event {
        Event::Text(piece) | Event::Code(piece) => piece,
        Event::SoftBreak | Event::HardBreak => " ",
        _ => "",
    });
    pieces.collect()
}

fn whole_lines(text: &str, range: &Range<usize>) -> Range<usize> {
    let start = line_start(text, range.start);
    start..end_without_blank_lines(text, start, range.end)
}

/// Extends entries by lines that belong to them without an event: definitions of links.
fn extend_entries(text: &str, blocks: &mut [TopBlock]) {
    let mut limit = text.len();
    for block in blocks.iter_mut().rev() {
        if let BlockContent::List(entries) = &mut block.content {
            let mut entry_limit = limit;
            for entry in entries.iter_mut().rev() {
                entry.range.end = extended(text, entry, entry_limit);
                entry_limit = entry.range.start;
            }
            if let Some(last) = entries.last() {
                block.range.end = block.range.end.max(last.range.end);
            }
        }
        limit = block.range.start;
    }
}

fn extended(text: &str, entry: &ListEntry, limit: usize) -> usize {
    let mut end = entry.range.end;
    let mut at = end;
    for line in lines(text.get(end..limit).unwrap_or_default()) {
        at += line.len();
        if is_blank(line) {
            continue;
        }
        if indentation(line) < entry.marker.content_column {
            break;
        }
        end = at;
    }
    end.min(line_end(text, limit))
}
