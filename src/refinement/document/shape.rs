//! What a block of Markdown is to a reader, whatever its indentation, bullets and spacing: the
//! kinds of the blocks in it, and the source of their texts. Two documents with the same shapes
//! show the same.

use std::ops::Range;

use pulldown_cmark::{Event, Tag, TagEnd};

use super::item::{PlacedTag, placed_tags};
use super::lines::lines;

/// What the parser says of a text, each with its place in the text.
pub(super) type Events<'t> = [(Event<'t>, Range<usize>)];

pub(super) fn shape(text: &str, events: &Events<'_>) -> String {
    let mut shape = String::new();
    // The text of code and HTML counts with all its white space.
    let mut is_verbatim = false;
    for run in inline_runs(events) {
        let Some((event, _)) = run.first() else {
            continue;
        };
        let line = match event {
            // Paragraphs have no name: in a list without blank lines their events are missing.
            Event::Start(Tag::Paragraph) | Event::End(TagEnd::Paragraph) => continue,
            Event::Rule => "rule".to_owned(),
            event if is_inline(event) && is_verbatim => {
                let pieces = run.iter().map(|(event, _)| match event {
                    Event::Text(piece) | Event::Html(piece) => piece,
                    _ => "",
                });
                let verbatim: String = pieces.collect();
                format!("v {}", verbatim.trim_end_matches(['\n', '\r']))
            }
            event if is_inline(event) => {
                let ranges = run.iter().map(|(_, range)| with_escape(text, range));
                let source = ranges.reduce(joined).and_then(|range| text.get(range));
                let lines: Vec<&str> = lines(source.unwrap_or_default()).map(str::trim).collect();
                format!("t {}", lines.join("\n"))
            }
            Event::Start(Tag::List(_)) => "List(".to_owned(),
            Event::Start(tag) => {
                is_verbatim = matches!(tag, Tag::CodeBlock(_) | Tag::HtmlBlock);
                format!("{tag:?}(")
            }
            _ => {
                is_verbatim = false;
                ")".to_owned()
            }
        };
        // Each stands on one line of the shape.
        shape.extend([&line.replace('\n', "\u{1}").replace('\r', "\u{2}"), "\n"]);
    }
    shape
}

/// Divides events into block events and runs of inline events.
fn inline_runs<'e, 't>(events: &'e Events<'t>) -> impl Iterator<Item = &'e Events<'t>> {
    events.chunk_by(|(one, _), (other, _)| is_inline(one) && is_inline(other))
}

/// Returns the source of the paragraph that a shape is; `None` for any other block. Control
/// characters stand for its line endings.
pub(super) fn paragraph(shape: &str) -> Option<&str> {
    let text = shape.strip_prefix("t ")?.strip_suffix('\n')?;
    (!text.contains('\n')).then_some(text)
}

/// Events leave it out.
pub(super) fn with_escape(text: &str, range: &Range<usize>) -> Range<usize> {
    let before = text.get(..range.start).unwrap_or_default();
    range.start - usize::from(before.ends_with('\\'))..range.end
}

pub(super) fn joined(one: Range<usize>, other: Range<usize>) -> Range<usize> {
    one.start.min(other.start)..one.end.max(other.end)
}

pub(super) fn is_inline(event: &Event<'_>) -> bool {
    let tag = match event {
        Event::Start(tag) => tag.to_end(),
        Event::End(tag) => *tag,
        event => return *event != Event::Rule,
    };
    matches!(
        tag,
        TagEnd::Emphasis
            | TagEnd::Strong
            | TagEnd::Strikethrough
            | TagEnd::Superscript
            | TagEnd::Subscript
            | TagEnd::Link
            | TagEnd::Image
    )
}

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

/// `None` for block events and for what no text is.
fn piece<'e>(event: &'e Event<'_>) -> Option<&'e str> {
    match event {
        Event::Text(text)
        | Event::Code(text)
        | Event::InlineMath(text)
        | Event::DisplayMath(text) => Some(text),
        Event::SoftBreak | Event::HardBreak => Some(" "),
        Event::TaskListMarker(_) | Event::Html(_) => None,
        event => is_inline(event).then_some(""),
    }
}

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
