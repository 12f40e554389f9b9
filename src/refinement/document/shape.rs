//! What a block of Markdown is to a reader, whatever its indentation, bullets and spacing: the
//! kinds of the blocks in it, and the source of their texts. Two documents with the same shapes
//! show the same.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Tag, TagEnd};

use super::item::{PlacedTag, placed_tags};
use super::lines::lines;

/// What the parser says of a text, each with its place in the text.
pub(super) type Events<'t> = [(Event<'t>, Range<usize>)];

/// Returns the shape of what these events are of.
pub(super) fn shape(text: &str, events: &Events<'_>) -> String {
    let mut shape = String::new();
    // The text of an open block of code or HTML, which counts with all its white space.
    let mut verbatim: Option<String> = None;
    for run in inline_runs(events) {
        let Some((event, _)) = run.first() else {
            continue;
        };
        match (kind_of(event), &mut verbatim) {
            (EventKind::Open(name), _) => {
                shape.extend([&format!("{name:?}"), "(\n"]);
                match event {
                    Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) => {
                        push_part(&mut shape, "i", info);
                        verbatim = Some(String::new());
                    }
                    Event::Start(Tag::CodeBlock(CodeBlockKind::Indented) | Tag::HtmlBlock) => {
                        verbatim = Some(String::new());
                    }
                    _ => {}
                }
            }
            (EventKind::Close, _) => {
                if let Some(verbatim) = verbatim.take() {
                    push_part(&mut shape, "v", verbatim.trim_end_matches(['\n', '\r']));
                }
                shape.push_str(")\n");
            }
            (EventKind::Paragraph, _) => {}
            (EventKind::Rule, _) => shape.push_str("rule\n"),
            (EventKind::Inline, Some(verbatim)) => {
                for (event, _) in run {
                    if let Event::Text(content) | Event::Html(content) = event {
                        verbatim.push_str(content);
                    }
                }
            }
            (EventKind::Inline, None) => {
                let ranges = run.iter().map(|(_, range)| with_escape(text, range));
                let source = ranges.reduce(joined).and_then(|range| text.get(range));
                let source: Vec<&str> = lines(source.unwrap_or_default()).map(str::trim).collect();
                push_part(&mut shape, "t", &source.join("\n"));
            }
        }
    }
    shape
}

/// Divides events into block events and runs of inline events.
pub(super) fn inline_runs<'e, 't>(events: &'e Events<'t>) -> impl Iterator<Item = &'e Events<'t>> {
    let is_inline = |event: &Event<'_>| matches!(kind_of(event), EventKind::Inline);
    events.chunk_by(move |(one, _), (other, _)| is_inline(one) && is_inline(other))
}

/// Adds a text on one line of the shape.
fn push_part(shape: &mut String, kind: &str, text: &str) {
    shape.extend([kind, " "]);
    shape.extend(text.chars().map(|c| match c {
        '\n' => '\u{1}',
        '\r' => '\u{2}',
        c => c,
    }));
    shape.push('\n');
}

/// Returns the source of the paragraph that a shape is; `None` for any other block. Control
/// characters stand for its line endings.
pub(super) fn paragraph(shape: &str) -> Option<&str> {
    let text = shape.strip_prefix("t ")?.strip_suffix('\n')?;
    (!text.contains('\n')).then_some(text)
}

/// Returns the range of an inline event with the backslash that escapes its first character: events
/// leave it out.
pub(super) fn with_escape(text: &str, range: &Range<usize>) -> Range<usize> {
    let before = text.get(..range.start).unwrap_or_default();
    range.start - usize::from(before.ends_with('\\'))..range.end
}

pub(super) fn joined(one: Range<usize>, other: Range<usize>) -> Range<usize> {
    one.start.min(other.start)..one.end.max(other.end)
}

/// What an event is to the shape.
pub(super) enum EventKind {
    /// A block begins.
    Open(TagEnd),
    Close,
    /// A paragraph begins or ends. It has no name: in a list without blank lines its events are
    /// missing.
    Paragraph,
    Rule,
    Inline,
}

pub(super) fn kind_of(event: &Event<'_>) -> EventKind {
    let tag = match event {
        Event::Start(tag) => tag.to_end(),
        Event::End(tag) => *tag,
        Event::Rule => return EventKind::Rule,
        _ => return EventKind::Inline,
    };
    match tag {
        TagEnd::Paragraph => EventKind::Paragraph,
        TagEnd::Emphasis
        | TagEnd::Strong
        | TagEnd::Strikethrough
        | TagEnd::Superscript
        | TagEnd::Subscript
        | TagEnd::Link
        | TagEnd::Image => EventKind::Inline,
        _ if matches!(event, Event::Start(_)) => EventKind::Open(tag),
        _ => EventKind::Close,
    }
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
