//! The blocks at the top level of a document, in order, with the entries of its lists. Positions
//! are whole lines, without the blank lines after a block.
//!
//! Front matter is skipped by its caller: an outline begins at a position.

use std::ops::Range;

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::leaf::{EntryText, EntryTextReader};
use super::lines::{end_without_blank_lines, indentation, is_blank, line_end, line_start, lines};
use super::marker::ListMarker;
use super::shape::ShapeReader;

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
#[derive(Debug)]
pub(super) struct ListEntry {
    pub(super) range: Range<usize>,
    pub(super) marker: ListMarker,
    pub(super) text: EntryText,
    /// The shape of its content.
    pub(super) shape: String,
}

/// The Markdown that documents are read as: what the common sites for code show.
pub(super) const DIALECT: Options = Options::ENABLE_TABLES
    .union(Options::ENABLE_STRIKETHROUGH)
    .union(Options::ENABLE_TASKLISTS)
    .union(Options::ENABLE_FOOTNOTES);

/// Reads the blocks of a text from a position on.
pub(super) fn outline(text: &str, from: usize) -> Vec<TopBlock> {
    let body = text.get(from..).unwrap_or_default();
    let mut reader = OutlineReader {
        text,
        from,
        blocks: Vec::new(),
        open: None,
        depth: 0,
    };
    for (event, range) in Parser::new_ext(body, DIALECT).into_offset_iter() {
        reader.read(&event, from + range.start..from + range.end);
    }
    let mut blocks = reader.blocks;
    extend_entries(text, &mut blocks);
    blocks
}

struct OutlineReader<'t> {
    text: &'t str,
    from: usize,
    blocks: Vec<TopBlock>,
    open: Option<OpenBlock>,
    depth: usize,
}

struct OpenBlock {
    range: Range<usize>,
    shape: ShapeReader,
    content: OpenContent,
}

enum OpenContent {
    Heading {
        level: HeadingLevel,
        words: String,
    },
    List {
        entries: Vec<ListEntry>,
        entry: Option<Box<OpenEntry>>,
        /// Whether each entry has a marker that is understood.
        is_readable: bool,
    },
    Other,
}

struct OpenEntry {
    range: Range<usize>,
    shape: ShapeReader,
    text: EntryTextReader,
}

impl OutlineReader<'_> {
    fn read(&mut self, event: &Event<'_>, range: Range<usize>) {
        let is_start = matches!(event, Event::Start(_));
        let is_end = matches!(event, Event::End(_));
        if self.open.is_none() {
            let content = match event {
                Event::Start(Tag::Heading { level, .. }) => OpenContent::Heading {
                    level: *level,
                    words: String::new(),
                },
                Event::Start(Tag::List(_)) => OpenContent::List {
                    entries: Vec::new(),
                    entry: None,
                    is_readable: true,
                },
                _ => OpenContent::Other,
            };
            self.open = Some(OpenBlock {
                range: range.clone(),
                shape: ShapeReader::default(),
                content,
            });
        }
        if is_end {
            self.depth = self.depth.saturating_sub(1);
        }
        if let Some(block) = &mut self.open {
            block.read(self.text, event, &range, self.depth);
        }
        if is_start {
            self.depth += 1;
        }
        if self.depth == 0 {
            self.finish_block();
        }
    }

    fn finish_block(&mut self) {
        let Some(block) = self.open.take() else {
            return;
        };
        let shape = block.shape.finish(self.text);
        let content = match block.content {
            OpenContent::Heading { level, words } => BlockContent::Heading {
                level,
                words,
                shape,
            },
            OpenContent::List {
                entries,
                is_readable: true,
                ..
            } => BlockContent::List(entries),
            OpenContent::List { .. } => BlockContent::Other {
                shape: self
                    .text
                    .get(block.range.clone())
                    .unwrap_or_default()
                    .to_owned(),
            },
            OpenContent::Other => BlockContent::Other { shape },
        };
        let lines = whole_lines(self.text, &block.range);
        // A byte order mark is no part of a line.
        let range = lines.start.max(self.from)..lines.end;
        self.blocks.push(TopBlock { range, content });
    }
}

impl OpenBlock {
    /// Reads an event; the depth is that of the element it begins or ends.
    fn read(&mut self, text: &str, event: &Event<'_>, range: &Range<usize>, depth: usize) {
        match &mut self.content {
            OpenContent::Other => self.shape.read(text, event, range),
            OpenContent::Heading { words, .. } => {
                self.shape.read(text, event, range);
                match event {
                    Event::Text(piece) | Event::Code(piece) => words.push_str(piece),
                    Event::SoftBreak | Event::HardBreak => words.push(' '),
                    _ => {}
                }
            }
            OpenContent::List {
                entries,
                entry,
                is_readable,
            } => match (event, depth) {
                (_, 0) => {}
                (Event::Start(Tag::Item), 1) => {
                    *entry = Some(Box::new(OpenEntry {
                        range: range.clone(),
                        shape: ShapeReader::default(),
                        text: EntryTextReader::default(),
                    }));
                }
                (Event::End(TagEnd::Item), 1) => {
                    match entry.take().map(|entry| entry.finish(text)) {
                        Some(Some(entry)) => entries.push(entry),
                        Some(None) | None => *is_readable = false,
                    }
                }
                _ => {
                    if let Some(entry) = entry {
                        entry.shape.read(text, event, range);
                        entry.text.read(text, event, range);
                    }
                }
            },
        }
    }
}

impl OpenEntry {
    /// Returns the entry; `None` if its first line has no marker.
    fn finish(self, text: &str) -> Option<ListEntry> {
        let range = whole_lines(text, &self.range);
        let marker = ListMarker::read(text.get(range.clone())?)?;
        Some(ListEntry {
            range,
            marker,
            text: self.text.finish(text),
            shape: self.shape.finish(text),
        })
    }
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
