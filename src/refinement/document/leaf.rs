//! The first text of a list entry: its words, its tags, and where a tag can be written.

use std::ops::Range;

use pulldown_cmark::{Event, Tag};

use super::shape::{EventKind, kind_of, with_escape};
use super::tags::{PlacedTag, placed_tags};

/// The first text of a list entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct EntryText {
    /// Without markup, tags and checkbox, with one space between words.
    pub(super) words: String,
    /// With ranges in the document.
    pub(super) tags: Vec<PlacedTag>,
    /// Where a tag can be written; `None` if the entry begins with code or HTML.
    pub(super) tag_place: Option<usize>,
    /// The sign in the checkbox before the text: a blank or an `x`.
    pub(super) check: Option<usize>,
    /// Where the text ends that the words are from.
    pub(super) end: usize,
    /// Whether a link or a footnote is anywhere in the entry.
    pub(super) has_reference: bool,
}

/// Reads the first text of an entry from the entry's events.
#[derive(Debug, Default)]
pub(super) struct EntryTextReader {
    result: EntryText,
    /// The pieces of the text that is read, each with its place.
    pieces: Vec<(String, Range<usize>)>,
    /// Where the text begins and ends.
    range: Option<Range<usize>>,
    is_code: bool,
    /// Whether an earlier block of the entry has been read.
    is_late: bool,
    is_done: bool,
}

impl EntryTextReader {
    pub(super) fn read(&mut self, text: &str, event: &Event<'_>, range: &Range<usize>) {
        let is_reference = matches!(
            event,
            Event::Start(Tag::Link { .. }) | Event::FootnoteReference(_)
        );
        self.result.has_reference |= is_reference;
        if self.is_done {
            return;
        }
        match kind_of(event) {
            EventKind::Open(_) | EventKind::Close | EventKind::Paragraph | EventKind::Rule => {
                self.end_text(text);
                match event {
                    Event::Start(Tag::CodeBlock(_)) => self.is_code = true,
                    Event::Start(Tag::HtmlBlock) | Event::Rule => self.is_late = true,
                    _ => {}
                }
            }
            EventKind::Inline => self.read_inline(text, event, range),
        }
    }

    fn read_inline(&mut self, text: &str, event: &Event<'_>, range: &Range<usize>) {
        let piece = match event {
            Event::TaskListMarker(_) => {
                let source = text.get(range.clone()).unwrap_or_default();
                let bracket = source.find('[');
                let check = bracket.map(|bracket| range.start + bracket + 1);
                self.result.check = self.result.check.or(check);
                return;
            }
            Event::Html(_) => return,
            Event::Text(text)
            | Event::Code(text)
            | Event::InlineMath(text)
            | Event::DisplayMath(text) => text,
            Event::SoftBreak | Event::HardBreak => " ",
            _ => "",
        };
        let first = with_escape(text, range).start;
        let start = self.range.as_ref().map_or(first, |range| range.start);
        let end = self
            .range
            .as_ref()
            .map_or(0, |range| range.end)
            .max(range.end);
        self.range = Some(start..end);
        self.pieces.push((piece.to_owned(), range.clone()));
    }

    fn end_text(&mut self, text: &str) {
        let is_code = std::mem::take(&mut self.is_code);
        let pieces = std::mem::take(&mut self.pieces);
        let Some(range) = self.range.take() else {
            return;
        };
        let is_first = !std::mem::replace(&mut self.is_late, true);
        if is_first && !is_code {
            let source = text.get(range.clone()).unwrap_or_default();
            self.result.tags = placed_tags(source)
                .into_iter()
                .map(|placed| PlacedTag {
                    range: range.start + placed.range.start..range.start + placed.range.end,
                    ..placed
                })
                .collect();
            self.result.tag_place = Some(range.start);
        }
        let tags = &self.result.tags;
        let words: String = pieces
            .iter()
            .map(|(piece, range)| without_tags(piece, range, tags))
            .collect();
        self.result.words = words.split_whitespace().collect::<Vec<_>>().join(" ");
        self.result.end = range.end;
        self.is_done = !self.result.words.is_empty();
    }

    pub(super) fn finish(mut self, text: &str) -> EntryText {
        self.end_text(text);
        self.result
    }
}

/// Returns a piece of a text without the tags in it.
fn without_tags(piece: &str, range: &Range<usize>, tags: &[PlacedTag]) -> String {
    let mut kept = String::new();
    let mut at = range.start;
    let part = |from: usize, to: usize| {
        let is_source = piece.len() == range.len();
        is_source
            .then(|| piece.get(from - range.start..to - range.start))
            .flatten()
            .unwrap_or(if from < to { piece } else { "" })
    };
    for tag in tags {
        if tag.range.end <= at || tag.range.start >= range.end {
            continue;
        }
        if tag.range.start > at {
            kept.push_str(part(at, tag.range.start));
        }
        at = tag.range.end.min(range.end);
    }
    if at < range.end {
        kept.push_str(part(at, range.end));
    }
    kept
}
