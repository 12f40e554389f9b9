//! The first text of a list entry: its words, its tags, and where a tag can be written.

use std::ops::Range;

use pulldown_cmark::{Event, Tag};

use super::shape::{EventKind, Events, inline_runs, joined, kind_of, with_escape};
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

/// Reads the first text of an entry from the events of its content.
pub(super) fn entry_text(text: &str, events: &Events<'_>) -> EntryText {
    let is_reference = |event: &Event<'_>| {
        matches!(
            event,
            Event::Start(Tag::Link { .. }) | Event::FootnoteReference(_)
        )
    };
    let mut result = EntryText {
        has_reference: events.iter().any(|(event, _)| is_reference(event)),
        ..EntryText::default()
    };
    let (mut is_code, mut is_late) = (false, false);
    for run in inline_runs(events) {
        match run.first() {
            Some((Event::Start(Tag::CodeBlock(_)), _)) => is_code = true,
            Some((Event::End(_), _)) => is_code = false,
            Some((Event::Start(Tag::HtmlBlock) | Event::Rule, _)) => is_late = true,
            Some((Event::TaskListMarker(_), range)) => {
                let bracket = text.get(range.clone()).and_then(|source| source.find('['));
                let check = bracket.map(|bracket| range.start + bracket + 1);
                result.check = result.check.or(check);
            }
            Some(_) | None => {}
        }
        let pieces: Vec<(&str, &Range<usize>)> = run
            .iter()
            .filter_map(|(event, range)| Some((piece(event)?, range)))
            .collect();
        let ranges = pieces.iter();
        let ranges = ranges.map(|(_, range)| with_escape(text, range).start..range.end);
        let Some(range) = ranges.reduce(joined) else {
            continue;
        };
        if !std::mem::replace(&mut is_late, true) && !is_code {
            result.tags = placed_tags(text.get(range.clone()).unwrap_or_default());
            for placed in &mut result.tags {
                placed.range.start += range.start;
                placed.range.end += range.start;
            }
            result.tag_place = Some(range.start);
        }
        is_code = false;
        let words = without_tags(&pieces, &result.tags);
        result.words = words.split_whitespace().collect::<Vec<_>>().join(" ");
        result.end = range.end;
        if !result.words.is_empty() {
            break;
        }
    }
    result
}

/// Returns what an inline event says; `None` for block events and for what no text is.
fn piece<'e>(event: &'e Event<'_>) -> Option<&'e str> {
    match event {
        Event::Text(text)
        | Event::Code(text)
        | Event::InlineMath(text)
        | Event::DisplayMath(text) => Some(text),
        Event::SoftBreak | Event::HardBreak => Some(" "),
        Event::TaskListMarker(_) | Event::Html(_) => None,
        event => matches!(kind_of(event), EventKind::Inline).then_some(""),
    }
}

/// Returns the pieces of a text without the tags in it.
fn without_tags(pieces: &[(&str, &Range<usize>)], tags: &[PlacedTag]) -> String {
    let is_tag = |at: usize| tags.iter().any(|tag| tag.range.contains(&at));
    let mut kept = String::new();
    for (piece, range) in pieces {
        if piece.len() == range.len() {
            let letters = piece.char_indices();
            let letters = letters.filter(|(at, _)| !is_tag(range.start + at));
            kept.extend(letters.map(|(_, letter)| letter));
        } else if !is_tag(range.start) {
            kept.push_str(piece);
        }
    }
    kept
}
