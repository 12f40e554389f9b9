//! What a block of Markdown is to a reader, whatever its indentation, bullets and spacing: the
//! kinds of the blocks in it, and the source of their texts. Two documents with the same shapes
//! show the same.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Tag, TagEnd};

use super::lines::lines;

/// Collects the shape of a block from its events.
#[derive(Debug, Default)]
pub(super) struct ShapeReader {
    shape: String,
    /// The source of the inline events since the last block event.
    inline: Option<Range<usize>>,
    /// The text of an open block of code or HTML, which counts with all its white space.
    verbatim: Option<String>,
}

impl ShapeReader {
    pub(super) fn read(&mut self, text: &str, event: &Event<'_>, range: &Range<usize>) {
        match kind_of(event) {
            EventKind::Open(name) => {
                self.flush(text);
                self.shape.push_str(name);
                self.shape.push_str("(\n");
                match event {
                    Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) => {
                        self.push_part("i", info);
                        self.verbatim = Some(String::new());
                    }
                    Event::Start(Tag::CodeBlock(CodeBlockKind::Indented) | Tag::HtmlBlock) => {
                        self.verbatim = Some(String::new());
                    }
                    _ => {}
                }
            }
            EventKind::Close => {
                self.flush(text);
                if let Some(verbatim) = self.verbatim.take() {
                    self.push_part("v", verbatim.trim_end_matches(['\n', '\r']));
                }
                self.shape.push_str(")\n");
            }
            EventKind::Paragraph => self.flush(text),
            EventKind::Rule => {
                self.flush(text);
                self.shape.push_str("rule\n");
            }
            EventKind::Inline => match (event, &mut self.verbatim) {
                (Event::Text(content) | Event::Html(content), Some(verbatim)) => {
                    verbatim.push_str(content);
                }
                _ => self.extend(&with_escape(text, range)),
            },
        }
    }

    pub(super) fn finish(mut self, text: &str) -> String {
        self.flush(text);
        self.shape
    }

    fn extend(&mut self, range: &Range<usize>) {
        let start = self
            .inline
            .as_ref()
            .map_or(range.start, |before| before.start.min(range.start));
        let end = self
            .inline
            .as_ref()
            .map_or(range.end, |before| before.end.max(range.end));
        self.inline = Some(start..end);
    }

    fn flush(&mut self, text: &str) {
        if let Some(range) = self.inline.take() {
            let source = text.get(range).unwrap_or_default();
            let source: Vec<&str> = lines(source).map(str::trim).collect();
            self.push_part("t", &source.join("\n"));
        }
    }

    /// Adds a text on one line of the shape.
    fn push_part(&mut self, kind: &str, text: &str) {
        self.shape.push_str(kind);
        self.shape.push(' ');
        self.shape.extend(text.chars().map(|c| match c {
            '\n' => '\u{1}',
            '\r' => '\u{2}',
            c => c,
        }));
        self.shape.push('\n');
    }
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

/// What an event is to the shape.
pub(super) enum EventKind {
    /// A block with a name begins.
    Open(&'static str),
    Close,
    /// A paragraph begins or ends. It has no name: in a list without blank lines its events are
    /// missing.
    Paragraph,
    Rule,
    Inline,
}

pub(super) fn kind_of(event: &Event<'_>) -> EventKind {
    match event {
        Event::Start(tag) => block_name(tag),
        Event::End(tag) => block_end(*tag),
        Event::Rule => EventKind::Rule,
        Event::Text(_)
        | Event::Code(_)
        | Event::InlineMath(_)
        | Event::DisplayMath(_)
        | Event::Html(_)
        | Event::InlineHtml(_)
        | Event::FootnoteReference(_)
        | Event::SoftBreak
        | Event::HardBreak
        | Event::TaskListMarker(_) => EventKind::Inline,
    }
}

fn block_name(tag: &Tag<'_>) -> EventKind {
    EventKind::Open(match tag {
        Tag::Paragraph => return EventKind::Paragraph,
        Tag::Heading { level, .. } => match level {
            HeadingLevel::H1 => "h1",
            HeadingLevel::H2 => "h2",
            HeadingLevel::H3 => "h3",
            HeadingLevel::H4 => "h4",
            HeadingLevel::H5 => "h5",
            HeadingLevel::H6 => "h6",
        },
        Tag::BlockQuote(_) => "quote",
        Tag::CodeBlock(CodeBlockKind::Indented) => "indented code",
        Tag::CodeBlock(CodeBlockKind::Fenced(_)) => "code",
        Tag::HtmlBlock => "html",
        Tag::List(None) => "bullets",
        Tag::List(Some(_)) => "numbers",
        Tag::Item => "entry",
        Tag::FootnoteDefinition(_) => "footnote",
        Tag::DefinitionList => "definitions",
        Tag::DefinitionListTitle => "term",
        Tag::DefinitionListDefinition => "definition",
        Tag::Table(_) => "table",
        Tag::TableHead => "head",
        Tag::TableRow => "row",
        Tag::TableCell => "cell",
        Tag::MetadataBlock(_) => "metadata",
        Tag::Emphasis
        | Tag::Strong
        | Tag::Strikethrough
        | Tag::Superscript
        | Tag::Subscript
        | Tag::Link { .. }
        | Tag::Image { .. } => return EventKind::Inline,
    })
}

fn block_end(tag: TagEnd) -> EventKind {
    match tag {
        TagEnd::Paragraph => EventKind::Paragraph,
        TagEnd::Heading(_)
        | TagEnd::BlockQuote(_)
        | TagEnd::CodeBlock
        | TagEnd::HtmlBlock
        | TagEnd::List(_)
        | TagEnd::Item
        | TagEnd::FootnoteDefinition
        | TagEnd::DefinitionList
        | TagEnd::DefinitionListTitle
        | TagEnd::DefinitionListDefinition
        | TagEnd::Table
        | TagEnd::TableHead
        | TagEnd::TableRow
        | TagEnd::TableCell
        | TagEnd::MetadataBlock(_) => EventKind::Close,
        TagEnd::Emphasis
        | TagEnd::Strong
        | TagEnd::Strikethrough
        | TagEnd::Superscript
        | TagEnd::Subscript
        | TagEnd::Link
        | TagEnd::Image => EventKind::Inline,
    }
}
