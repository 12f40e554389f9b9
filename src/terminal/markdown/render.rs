//! Renders Markdown for a terminal: wrapped to its width, and styled where there is colour. A pipe
//! gets the source instead. Model text in the source is already escaped, so nothing here interprets
//! HTML.

use console::measure_text_width;
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use crate::text::clean::clean;

use super::table::table_lines;
use crate::terminal::output::style::Paint;
use crate::terminal::output::wrap::options;

/// Longer lines are hard to read on any terminal.
pub const WIDEST: usize = 100;

pub fn render(markdown: &str, width: usize, paint: Paint) -> String {
    let width = width.saturating_sub(1).clamp(10, WIDEST);
    let mut page = Page {
        paint,
        width,
        lines: Vec::new(),
        containers: Vec::new(),
        lists: Vec::new(),
        text: String::new(),
        bold: 0,
        italic: 0,
        heading: None,
        code: None,
        table: None,
        link: Vec::new(),
        gap: false,
    };
    for event in Parser::new_ext(
        markdown,
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH,
    ) {
        page.take(event);
    }
    page.finish()
}

/// The page as it grows.
struct Page {
    paint: Paint,
    width: usize,
    lines: Vec<String>,
    /// The prefix of every line: one entry for each open quote or list item.
    containers: Vec<Container>,
    /// Numbers of the open lists; `None` for bullets.
    lists: Vec<Option<u64>>,
    /// The text of the open paragraph, heading or cell.
    text: String,
    bold: usize,
    italic: usize,
    heading: Option<HeadingLevel>,
    code: Option<String>,
    /// The rows of the open table; the first is its head.
    table: Option<Vec<Vec<String>>>,
    link: Vec<String>,
    /// The next block is separated from the last one by an empty line.
    gap: bool,
}

enum Container {
    Quote,
    /// The bullet or number, until it has been written.
    Item {
        marker: Option<String>,
        indent: usize,
    },
}

impl Page {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.open(tag),
            Event::End(tag) => self.close(tag),
            Event::Text(text) => match &mut self.code {
                Some(code) => code.push_str(&text),
                None => self.write(&text),
            },
            Event::Code(code) => {
                let code = if self.paint == Paint::PLAIN {
                    format!("`{code}`")
                } else {
                    self.paint.cyan(&code)
                };
                self.text.push_str(&code);
            }
            Event::Html(html) | Event::InlineHtml(html) => self.write(&html),
            Event::SoftBreak => self.text.push(' '),
            Event::HardBreak => self.text.push('\n'),
            Event::Rule => {
                let rule = "─".repeat(self.width.min(40));
                self.put(&self.paint.dim(&rule));
            }
            Event::FootnoteReference(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.write(&text);
            }
            Event::TaskListMarker(done) => self.text.push_str(if done { "[x] " } else { "[ ] " }),
        }
    }

    fn open(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Heading { level, .. } => {
                self.flush();
                self.heading = Some(level);
            }
            Tag::BlockQuote(_) => {
                self.flush();
                self.separate();
                self.containers.push(Container::Quote);
            }
            Tag::CodeBlock(_) => {
                self.flush();
                self.code = Some(String::new());
            }
            Tag::List(first) => {
                self.flush();
                if self.lists.is_empty() {
                    self.separate();
                }
                self.lists.push(first);
            }
            Tag::Item => {
                self.flush();
                self.gap = false;
                let marker = match self.lists.last_mut() {
                    Some(Some(number)) => {
                        *number += 1;
                        format!("{}. ", *number - 1)
                    }
                    Some(None) | None => "• ".to_owned(),
                };
                self.containers.push(Container::Item {
                    indent: measure_text_width(&marker),
                    marker: Some(marker),
                });
            }
            Tag::Table(_) => {
                self.flush();
                self.table = Some(Vec::new());
            }
            Tag::TableHead | Tag::TableRow => {
                if let Some(table) = &mut self.table {
                    table.push(Vec::new());
                }
            }
            Tag::Emphasis => self.italic += 1,
            Tag::Strong => self.bold += 1,
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                self.link.push(dest_url.into_string());
            }
            _ => {}
        }
    }

    fn close(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph => {
                self.flush();
                self.gap = true;
            }
            TagEnd::Heading(_) => {
                self.flush();
                self.heading = None;
                self.gap = true;
            }
            TagEnd::BlockQuote(_) => {
                self.flush();
                self.containers.pop();
                self.gap = true;
            }
            TagEnd::CodeBlock => {
                let code = self.code.take().unwrap_or_default();
                self.put_code(&code);
            }
            TagEnd::List(_) => {
                self.flush();
                self.lists.pop();
                self.gap = self.lists.is_empty();
            }
            TagEnd::Item => {
                self.flush();
                if let Some(Container::Item {
                    marker: Some(_), ..
                }) = self.containers.last()
                {
                    self.put("");
                }
                self.containers.pop();
                self.gap = false;
            }
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.text);
                if let Some(row) = self.table.as_mut().and_then(|rows| rows.last_mut()) {
                    row.push(cell);
                }
            }
            TagEnd::Table => {
                if let Some(table) = self.table.take() {
                    self.separate();
                    for line in table_lines(&table, self.room(), self.paint) {
                        self.put_line(&line);
                    }
                    self.gap = true;
                }
            }
            TagEnd::Emphasis => self.italic = self.italic.saturating_sub(1),
            TagEnd::Strong => self.bold = self.bold.saturating_sub(1),
            TagEnd::Link | TagEnd::Image => {
                if let Some(url) = self.link.pop()
                    && !self.text.ends_with(&url)
                {
                    self.text
                        .push_str(&self.paint.dim(&format!(" ({})", clean(&url))));
                }
            }
            _ => {}
        }
    }

    fn write(&mut self, text: &str) {
        let mut text = clean(text);
        if self.italic > 0 {
            text = self.paint.italic(&text);
        }
        if self.bold > 0 && self.heading.is_none() {
            text = self.paint.bold(&text);
        }
        self.text.push_str(&text);
    }

    fn flush(&mut self) {
        let text = std::mem::take(&mut self.text);
        if text.trim().is_empty() || self.table.is_some() {
            return;
        }
        match self.heading {
            None => self.put(&text),
            Some(level @ (HeadingLevel::H1 | HeadingLevel::H2)) => {
                let rule = if level == HeadingLevel::H1 {
                    "═"
                } else {
                    "─"
                };
                let underline = rule.repeat(measure_text_width(&text).min(self.room()));
                self.put(&self.paint.heading(&text));
                self.put_line(&self.paint.cyan(&underline));
            }
            Some(HeadingLevel::H3 | HeadingLevel::H4 | HeadingLevel::H5 | HeadingLevel::H6) => {
                self.put(&self.paint.bold(&format!("▸ {text}")));
            }
        }
    }

    /// Returns the columns left inside the open containers.
    fn room(&self) -> usize {
        let taken: usize = self.containers.iter().map(Container::width).sum();
        self.width.saturating_sub(taken).max(8)
    }

    fn put(&mut self, text: &str) {
        self.separate();
        // Between words only: model names keep their hyphens on one line.
        let unbroken = options(self.room(), text);
        for line in text.split('\n') {
            let mut style = String::new();
            for wrapped in textwrap::wrap(line, &unbroken) {
                // A style that is open at the end of a line continues in the next, but not over its
                // prefix.
                let whole = format!("{style}{wrapped}");
                style = open_style(&whole);
                let end = if style.is_empty() { "" } else { "\u{1b}[0m" };
                self.put_line(&format!("{whole}{end}"));
            }
        }
    }

    fn put_code(&mut self, code: &str) {
        self.separate();
        let room = self.room().saturating_sub(2).max(8);
        for line in clean(code).trim_end().replace('\t', "    ").lines() {
            // Code breaks only where the line is full: every blank counts.
            let options =
                textwrap::Options::new(room).word_separator(textwrap::WordSeparator::AsciiSpace);
            let parts = if measure_text_width(line) <= room {
                vec![line.into()]
            } else {
                textwrap::wrap(line, options)
            };
            for part in parts {
                self.put_line(&format!("  {}", self.paint.cyan(&part)));
            }
        }
        self.gap = true;
    }

    fn separate(&mut self) {
        if std::mem::take(&mut self.gap) && !self.lines.is_empty() {
            self.put_line("");
        }
    }

    fn put_line(&mut self, line: &str) {
        let mut whole = String::new();
        for container in &mut self.containers {
            match container {
                Container::Quote => whole.push_str(&self.paint.dim("│ ")),
                Container::Item { marker, indent } => match marker.take_if(|_| !line.is_empty()) {
                    Some(marker) => whole.push_str(&marker),
                    None => whole.push_str(&" ".repeat(*indent)),
                },
            }
        }
        whole.push_str(line);
        self.lines.push(whole.trim_end().to_owned());
    }

    fn finish(mut self) -> String {
        self.flush();
        self.lines.join("\n") + "\n"
    }
}

impl Container {
    fn width(&self) -> usize {
        match self {
            Self::Quote => 2,
            Self::Item { indent, .. } => *indent,
        }
    }
}

fn open_style(line: &str) -> String {
    let mut open = String::new();
    for (at, _) in line.match_indices("\u{1b}[") {
        let sequence = line
            .get(at..)
            .and_then(|rest| rest.split_inclusive('m').next())
            .unwrap_or_default();
        if sequence == "\u{1b}[0m" {
            open.clear();
        } else {
            open.push_str(sequence);
        }
    }
    open
}
