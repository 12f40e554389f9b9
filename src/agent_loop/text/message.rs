//! A message as blocks of Markdown.

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::echo::echoes;
use super::normal::{normal, without_quotations};
use crate::text::clean::front_matter;
use crate::text::pattern::Pattern;

/// What stands in prose for inline code and quoted words.
pub const PLACEHOLDER: char = '\u{fffc}';

/// The last message of an agent.
#[derive(Debug, Default)]
pub struct Message {
    /// The text in normal form; what repeats the prompt is blank.
    pub text: String,
    /// The text with blanks instead of code blocks, quotes and comments; of the same length.
    pub visible: String,
    pub blocks: Vec<Block>,
    /// The ranges of inline code in the text.
    pub inline_code: Vec<Range<usize>>,
}

/// A block without blocks inside.
#[derive(Debug)]
pub struct Block {
    pub kind: BlockKind,
    /// The prose; empty for what is not prose. Inline code and quoted words are U+FFFC.
    pub prose: String,
    /// The range in the text.
    pub range: Range<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockKind {
    /// With its level, from 1 to 6.
    Heading(u8),
    Paragraph,
    /// A list item, with the state of its checkbox.
    Item(Option<bool>),
    /// A paragraph or a heading of a list item after its first.
    ItemParagraph,
    Code,
    Quote,
    Table,
    Html,
}

impl Block {
    fn new(kind: BlockKind, range: Range<usize>) -> Self {
        Self {
            kind,
            prose: String::new(),
            range,
        }
    }

    pub fn is_prose(&self) -> bool {
        !matches!(
            self.kind,
            BlockKind::Code | BlockKind::Quote | BlockKind::Table | BlockKind::Html
        )
    }

    pub fn is_only_code(&self) -> bool {
        self.prose.contains(PLACEHOLDER) && !self.prose.contains(char::is_alphanumeric)
    }
}

/// Inline code that marks a gap in the work; prose speaks of it as of a word.
static GAP: Pattern = Pattern::new(
    r"(?i)^(?:(?:todo|fixme)(?:!?[:(].*)?|unimplemented!\(.*\)|(?:\w+ )*notimplemented\w*.*)$",
);

static COMMENT: Pattern = Pattern::new(r"(?s)<!--.*?-->");

impl Message {
    /// With a prompt, what repeats it is left out.
    pub fn read(message: &str, prompt: Option<&str>) -> Self {
        let mut text = normal(message);
        if let Some(front) = front_matter(&text) {
            blank(&mut text, &[front]);
        }
        if let Some(prompt) = prompt {
            let echoes = echoes(&text, &normal(prompt));
            blank(&mut text, &echoes);
        }
        let mut reader = MessageReader::default();
        let options =
            Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TABLES | Options::ENABLE_TASKLISTS;
        for (event, range) in Parser::new_ext(&text, options).into_offset_iter() {
            reader.handle(event, range);
        }
        let mut visible = text.clone();
        blank(&mut visible, &reader.hidden);
        let comments = COMMENT
            .all(&visible)
            .filter_map(|comment| Some(comment.get(0)?.range()));
        let comments: Vec<Range<usize>> = comments.collect();
        blank(&mut visible, &comments);
        Self {
            text,
            visible,
            blocks: reader.blocks,
            inline_code: reader.inline_code,
        }
    }

    pub fn is_in_code(&self, at: usize) -> bool {
        self.inline_code.iter().any(|range| range.contains(&at))
    }

    /// Empty if the range is none.
    pub fn source(&self, range: Range<usize>) -> &str {
        self.text.get(range).unwrap_or_default()
    }
}

fn blank(text: &mut String, ranges: &[Range<usize>]) {
    let mut bytes = std::mem::take(text).into_bytes();
    for range in ranges {
        let hidden = bytes.get_mut(range.clone()).unwrap_or_default();
        for byte in hidden.iter_mut().filter(|byte| **byte != b'\n') {
            *byte = b' ';
        }
    }
    // The ranges begin and end between characters.
    *text = String::from_utf8_lossy(&bytes).into_owned();
}

#[derive(Default)]
struct MessageReader {
    blocks: Vec<Block>,
    hidden: Vec<Range<usize>>,
    inline_code: Vec<Range<usize>>,
    block: Option<Block>,
    quotes: usize,
    /// Around what is no prose: tables, code, struck words and images.
    silent: usize,
    /// The list items around, and whether each has a block already.
    items: Vec<bool>,
}

impl MessageReader {
    fn handle(&mut self, event: Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(Tag::BlockQuote(_)) => {
                if self.quotes == 0 {
                    self.push(BlockKind::Quote, range);
                }
                self.quotes += 1;
            }
            Event::End(TagEnd::BlockQuote(_)) => self.quotes = self.quotes.saturating_sub(1),
            _ if self.quotes > 0 => {}
            Event::Start(Tag::Table(_)) => {
                self.push(BlockKind::Table, range);
                self.silent += 1;
            }
            Event::Start(Tag::CodeBlock(_)) => {
                self.push(BlockKind::Code, range);
                self.silent += 1;
            }
            Event::Start(Tag::Strikethrough | Tag::Image { .. }) => self.silent += 1,
            Event::End(
                TagEnd::Table | TagEnd::CodeBlock | TagEnd::Strikethrough | TagEnd::Image,
            ) => self.silent = self.silent.saturating_sub(1),
            Event::Code(code) => {
                let stands_for = PLACEHOLDER.to_string();
                self.add(if GAP.is_in(&code) { &code } else { &stands_for }, &range);
                self.inline_code.push(range);
            }
            Event::Text(text) => self.add(&text, &range),
            Event::SoftBreak | Event::HardBreak => self.add("\n", &range),
            Event::InlineHtml(_) => self.add(" ", &range),
            Event::Start(Tag::HtmlBlock) => self.push(BlockKind::Html, range),
            Event::Start(Tag::Heading { level, .. }) => {
                self.begin(BlockKind::Heading(level as u8), range);
            }
            Event::Start(Tag::Paragraph) => self.begin(BlockKind::Paragraph, range),
            Event::Start(Tag::Item) => {
                self.finish_block();
                self.items.push(false);
            }
            Event::TaskListMarker(checked) => {
                self.add("", &range);
                if let Some(block) = &mut self.block {
                    block.kind = BlockKind::Item(Some(checked));
                }
            }
            Event::End(TagEnd::Item) => {
                self.finish_block();
                self.items.pop();
            }
            Event::End(TagEnd::Paragraph | TagEnd::Heading(_))
            | Event::Start(Tag::List(_))
            | Event::Rule => self.finish_block(),
            _ => {}
        }
    }

    fn begin(&mut self, kind: BlockKind, range: Range<usize>) {
        self.finish_block();
        let kind = match (kind, self.items.last_mut()) {
            (BlockKind::Paragraph, Some(has_block @ false)) => {
                *has_block = true;
                BlockKind::Item(None)
            }
            (BlockKind::Paragraph, Some(true)) => BlockKind::ItemParagraph,
            (kind, _) => kind,
        };
        self.block = Some(Block::new(kind, range));
    }

    /// The text of a tight list's item has no paragraph of its own.
    fn add(&mut self, text: &str, range: &Range<usize>) {
        if self.silent > 0 {
            return;
        }
        if self.block.is_none() && !self.items.is_empty() {
            self.begin(BlockKind::Paragraph, range.clone());
        }
        if let Some(block) = &mut self.block {
            block.prose.push_str(text);
            block.range.end = block.range.end.max(range.end);
        }
    }

    fn finish_block(&mut self) {
        if let Some(mut block) = self.block.take() {
            without_quotations(&mut block.prose, PLACEHOLDER);
            self.blocks.push(block);
        }
    }

    fn push(&mut self, kind: BlockKind, range: Range<usize>) {
        self.finish_block();
        if matches!(kind, BlockKind::Quote | BlockKind::Code) {
            self.hidden.push(range.clone());
        }
        self.blocks.push(Block::new(kind, range));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the prose of a message, a block a line.
    fn prose(message: &str) -> Vec<String> {
        let message = Message::read(message, None);
        let prose = message.blocks.into_iter().filter(Block::is_prose);
        prose.map(|block| block.prose).collect()
    }

    #[test]
    fn prose_has_no_code_quote_comment_table_or_link_target() {
        for (message, expected) in [
            ("**All** *tasks*\nare done.", vec!["All tasks\nare done."]),
            ("# Title\n\nText", vec!["Title", "Text"]),
            ("Run `cargo test` now", vec!["Run \u{fffc} now"]),
            ("```\nall done\n```\nafter", vec!["after"]),
            ("```\nnever closed\nall done", vec![]),
            ("text\n\n    indented code", vec!["text"]),
            ("> all done\n> and more\n\nafter", vec!["after"]),
            ("before <!-- all done --> after", vec!["before   after"]),
            ("<!--\nall done\n-->\n\nafter", vec!["after"]),
            ("[all done](http://done)", vec!["all done"]),
            ("![all done](x.png) text", vec![" text"]),
            ("~~all done~~ not", vec![" not"]),
            (
                "| a | b |\n|---|---|\n| all done | `x` |\n\nafter",
                vec!["after"],
            ),
            (
                "- one\n- two\n  - three\n\n  more",
                vec!["one", "two", "three", "more"],
            ),
            (
                "1. `code` first\n2. second",
                vec!["\u{fffc} first", "second"],
            ),
            ("- [x] a\n- [ ] b", vec!["a", "b"]),
            ("---\ntitle: done\n---\nbody", vec!["body"]),
            ("He said \"all done\" today", vec!["He said \u{fffc} today"]),
            ("\u{1b}[32mgreen\u{1b}[0m\r\nline", vec!["green\nline"]),
        ] {
            assert_eq!(prose(message), expected, "{message:?}");
        }
    }

    #[test]
    fn kinds_of_blocks_are_known() {
        let message = Message::read(
            "# A\n\nb\n\n- [x] c\n- d\n\n  e\n\n```\nf\n```\n\n> g\n\n| h |\n|---|\n| i |\n\n<div>\n",
            None,
        );
        let kinds: Vec<BlockKind> = message.blocks.iter().map(|block| block.kind).collect();
        assert_eq!(
            kinds,
            [
                BlockKind::Heading(1),
                BlockKind::Paragraph,
                BlockKind::Item(Some(true)),
                BlockKind::Item(None),
                BlockKind::ItemParagraph,
                BlockKind::Code,
                BlockKind::Quote,
                BlockKind::Table,
                BlockKind::Html,
            ]
        );
    }

    #[test]
    fn visible_text_has_the_length_of_the_text() {
        let message = Message::read("a `b` ```c```\n\n```\ndé\n```\n> e\n\n<!-- f -->\ng", None);
        assert_eq!(message.visible.len(), message.text.len());
        assert!(message.visible.contains("a `b`"));
        assert!(message.visible.ends_with('g'));
        for hidden in ["d", "e", "f"] {
            assert!(!message.visible.contains(hidden), "{hidden}");
        }
        assert!(message.is_in_code(3));
        assert!(!message.is_in_code(0));
    }
}
