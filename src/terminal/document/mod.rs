//! A report or a screen as plain data: its parts in reading order, each with its lines. One builder
//! words a subject; `screen`, `markdown` and `html` render what it made.
//!
//! Words of this program are literals with marks of Markdown (`**`, `_`, `` ` ``). Everything else
//! is foreign text, which only a renderer escapes or cleans. So no builder can let it through:
//!
//! ```
//! use conclave::terminal::document::{Line, Part, Table, fact, screen, titled};
//! use conclave::terminal::output::style::Paint;
//!
//! let rows = vec![vec!["openai:gpt-6.1-sol".to_owned(), "4".to_owned()]];
//! let mut parts = vec![
//!     Part::Heading(1, Line::of("Preview of {}", ["a run"])),
//!     Part::Facts(vec![fact("Cost", "about $0.28"), fact("Calls", "9")]),
//! ];
//! parts.extend(titled(2, "By model", Table::of(1, &["", "calls"], rows)));
//! let text = screen(&parts, Some(80), Paint::PLAIN);
//! assert!(text.starts_with("Preview of a run\nCost   about $0.28\nCalls  9\n\nBy model\n"));
//! ```

mod screen;
mod markdown;
mod html;
mod marks;
pub mod plot;

pub use self::html::{Field, FieldKind, Frame, STYLE, page, served_main, served_page};
pub use self::markdown::markdown;
pub use self::screen::screen;

use self::plot::Plot;
use crate::domain::answer::artifact::Severity;
use crate::terminal::output::style::Tone;

/// A part of a document.
#[derive(Clone, Debug)]
pub enum Part {
    /// A title of level 1 to 4. One of level 2 begins a section.
    Heading(u8, Line),
    Paragraph(Line),
    Facts(Vec<Fact>),
    /// The few figures that a page is about.
    Tiles(Vec<Fact>),
    /// Foreign text with blocks of its own; marked as empty if it is.
    Foreign(String),
    Quote(String),
    Code(&'static str, String),
    /// Items; the lines after the first one of an item stand beneath it.
    List(Vec<Vec<Line>>),
    /// What a reader must know first.
    Notice(Vec<Part>),
    /// Articles of equal rank: side by side on a page.
    Articles(Vec<Vec<Part>>),
    Table(Table),
    /// A picture of figures that stand in a table too.
    Plot(Plot),
    /// Parts of which a screen shows the first lines, and how to see the rest.
    Beginning {
        parts: Vec<Part>,
        most_lines: usize,
        rest: String,
    },
    /// Parts that a page shows once their title is opened.
    Folded(Line, Vec<Part>),
    /// The next commands, and what each does.
    Next(Vec<(String, String)>),
    Foot(Fact),
}

/// A name with its values. Without a name, its values stand alone.
#[derive(Clone, Debug, Default)]
pub struct Fact {
    pub label: Line,
    pub values: Vec<Line>,
    /// More are cut.
    pub most_lines: Option<usize>,
}

impl From<Line> for Fact {
    fn from(line: Line) -> Self {
        fact("", line)
    }
}

pub fn fact(label: impl Into<Line>, value: impl Into<Line>) -> Fact {
    Fact {
        label: label.into(),
        values: vec![value.into()],
        most_lines: None,
    }
}

/// A table, whose first columns are text and whose other ones are figures.
#[derive(Clone, Debug, Default)]
pub struct Table {
    pub heads: Vec<&'static str>,
    pub texts: usize,
    pub tail: Tail,
    pub rows: Vec<Vec<Line>>,
}

/// What the last column of a table is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tail {
    /// As those before it.
    #[default]
    None,
    /// A text that a screen cuts at its edge.
    Cut,
    /// A text that continues beneath itself on a screen.
    Wrapped,
}

impl Table {
    /// `None` without rows.
    pub fn of<L: Into<Line>>(
        texts: usize,
        heads: &[&'static str],
        rows: impl IntoIterator<Item = Vec<L>>,
    ) -> Option<Part> {
        Self::with_tail(Tail::None, texts, heads, rows)
    }

    /// `None` without rows.
    pub fn with_tail<L: Into<Line>>(
        tail: Tail,
        texts: usize,
        heads: &[&'static str],
        rows: impl IntoIterator<Item = Vec<L>>,
    ) -> Option<Part> {
        let rows = rows.into_iter();
        let rows: Vec<Vec<Line>> = rows
            .map(|row| row.into_iter().map(Into::into).collect())
            .collect();
        let heads = heads.to_vec();
        (!rows.is_empty()).then_some(Part::Table(Self {
            heads,
            texts,
            tail,
            rows,
        }))
    }
}

/// A line of own words and foreign text.
#[derive(Clone, Debug, Default)]
pub struct Line(Vec<Piece>);

#[derive(Clone, Debug)]
enum Piece {
    Own(&'static str),
    /// Foreign text that may have marks of Markdown.
    Foreign(String),
    /// A name, a figure or a path as it is. Only a screen shows the tone.
    Exact(Tone, String),
    Consultation(String),
    /// Only a page shows it.
    Weight(Severity),
    /// Words on a drawing, which only a page has.
    OnPage(Line),
    /// Words that lead to an address of the same server, where the page is served.
    Link(String, Line),
}

impl From<&'static str> for Line {
    fn from(own: &'static str) -> Self {
        Self::of(own, [])
    }
}

impl From<String> for Line {
    fn from(exact: String) -> Self {
        Self::toned(Tone::Plain, exact)
    }
}

impl Line {
    /// Returns own words with a foreign text at each `{}`.
    pub fn of<const N: usize>(own: &'static str, foreign: [&str; N]) -> Self {
        Self::default().and(own, foreign)
    }

    pub fn foreign(text: impl Into<String>) -> Self {
        Self(vec![Piece::Foreign(text.into())])
    }

    pub fn toned(tone: Tone, text: impl Into<String>) -> Self {
        Self(vec![Piece::Exact(tone, text.into())])
    }

    #[must_use]
    pub fn then(mut self, other: impl Into<Self>) -> Self {
        self.0.extend(other.into().0);
        self
    }

    /// Adds own words with a foreign text at each `{}`.
    #[must_use]
    pub fn and<const N: usize>(mut self, own: &'static str, foreign: [&str; N]) -> Self {
        let mut foreign = foreign.into_iter();
        for (at, own) in own.split("{}").enumerate() {
            if at > 0 {
                let text = foreign.next().unwrap_or_default();
                self.0.push(Piece::Foreign(text.to_owned()));
            }
            self.0.push(Piece::Own(own));
        }
        self
    }

    /// Adds own words around a foreign text; nothing without one.
    #[must_use]
    pub fn with(self, own: &'static str, foreign: &str) -> Self {
        if foreign.trim().is_empty() {
            self
        } else {
            self.and(own, [foreign])
        }
    }

    /// Nothing without any.
    #[must_use]
    pub fn joined(lines: impl IntoIterator<Item = Self>, separator: &'static str) -> Self {
        let mut lines = lines.into_iter();
        let first = lines.next().unwrap_or_default();
        lines.fold(first, |joined, line| joined.and(separator, []).then(line))
    }

    #[must_use]
    pub(super) fn consultations<I: ToString>(mut self, ids: impl IntoIterator<Item = I>) -> Self {
        for (at, id) in ids.into_iter().enumerate() {
            self.0.push(Piece::Own(if at > 0 { ", " } else { "" }));
            self.0.push(Piece::Consultation(id.to_string()));
        }
        self
    }

    #[must_use]
    pub(super) fn weight(mut self, severity: Severity) -> Self {
        self.0.push(Piece::Weight(severity));
        self
    }

    #[must_use]
    pub fn on_page(self) -> Self {
        Self(vec![Piece::OnPage(self)])
    }

    /// The address begins with `/`, and foreign text in it is encoded.
    pub fn link(address: String, words: impl Into<Self>) -> Self {
        Self(vec![Piece::Link(address, words.into())])
    }

    fn is_empty(&self) -> bool {
        self.0.iter().all(|piece| match piece {
            Piece::Link(_, words) => words.is_empty(),
            Piece::Own(text) => text.is_empty(),
            Piece::Foreign(text) | Piece::Exact(_, text) | Piece::Consultation(text) => {
                text.is_empty()
            }
            Piece::Weight(_) | Piece::OnPage(_) => true,
        })
    }
}

/// Nothing without parts.
pub fn titled(
    level: u8,
    title: impl Into<Line>,
    parts: impl IntoIterator<Item = Part>,
) -> Vec<Part> {
    let mut titled = vec![Part::Heading(level, title.into())];
    titled.extend(parts);
    if titled.len() == 1 {
        Vec::new()
    } else {
        titled
    }
}

pub fn paragraph<const N: usize>(own: &'static str, foreign: [&str; N]) -> Part {
    Part::Paragraph(Line::of(own, foreign))
}

/// `None` without lines.
pub fn list(lines: impl IntoIterator<Item = Line>) -> Option<Part> {
    nested_list(lines.into_iter().map(|line| vec![line]))
}

/// `None` without items.
pub fn nested_list(items: impl IntoIterator<Item = Vec<Line>>) -> Option<Part> {
    let items: Vec<Vec<Line>> = items.into_iter().collect();
    (!items.is_empty()).then_some(Part::List(items))
}

/// `None` without texts.
pub fn list_of<T: AsRef<str>>(texts: &[T]) -> Option<Part> {
    list(texts.iter().map(|text| Line::foreign(text.as_ref())))
}

/// `None` for a blank one.
pub fn foreign(text: &str) -> Option<Part> {
    (!text.trim().is_empty()).then(|| Part::Foreign(text.to_owned()))
}
