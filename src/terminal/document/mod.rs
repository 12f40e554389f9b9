//! A report as plain data: its parts in reading order, each with its lines. One builder words a
//! subject; `markdown` and `html` render what it made.
//!
//! Words of this program are literals with marks of Markdown (`**`, `_`, `` ` ``). Everything else
//! is foreign text, which only a renderer escapes. So no builder can let it through.

mod markdown;
mod html;
mod marks;

use maud::Markup;

pub use self::html::page;
pub use self::markdown::markdown;

use crate::domain::artifact::Severity;

/// A part of a document.
#[derive(Clone, Debug)]
pub enum Part {
    /// A title of level 1 to 4. One of level 2 begins a section.
    Heading(u8, Line),
    Paragraph(Line),
    /// Short facts, each on a line of its own.
    Facts(Vec<Line>),
    /// Foreign text with blocks of its own; marked as empty if it is.
    Foreign(String),
    Quote(String),
    /// A text as it is, in this language.
    Code(&'static str, String),
    /// Items; the lines after the first one of an item stand beneath it.
    List(Vec<Vec<Line>>),
    /// What a reader must know first.
    Notice(Vec<Part>),
    /// Articles of equal rank: side by side on a page.
    Articles(Vec<Vec<Part>>),
    Table(Table),
    /// A picture of figures that stand in a table too; only a page shows it.
    Drawing(Markup),
    /// The last line.
    Foot(Line),
}

/// A table, whose first columns are text and whose other ones are figures.
#[derive(Clone, Debug)]
pub struct Table {
    pub heads: Vec<&'static str>,
    pub texts: usize,
    pub rows: Vec<Vec<Line>>,
}

impl Table {
    /// Returns a table; `None` without rows.
    pub fn of(texts: usize, heads: &[&'static str], rows: Vec<Vec<Line>>) -> Option<Part> {
        let heads = heads.to_vec();
        (!rows.is_empty()).then_some(Part::Table(Self { heads, texts, rows }))
    }
}

/// A line of own words and foreign text.
#[derive(Clone, Debug, Default)]
pub struct Line(Vec<Piece>);

#[derive(Clone, Debug)]
enum Piece {
    Own(&'static str),
    Foreign(String),
    /// The id of another consultation.
    Consultation(String),
    /// Only a page shows it.
    Weight(Severity),
}

impl Line {
    /// Returns own words with a foreign text at each `{}`.
    pub fn of<const N: usize>(own: &'static str, foreign: [&str; N]) -> Self {
        Self::default().and(own, foreign)
    }

    /// Returns foreign text alone.
    pub fn foreign(text: impl Into<String>) -> Self {
        Self(vec![Piece::Foreign(text.into())])
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

    /// Adds other consultations, with commas between them.
    #[must_use]
    pub(super) fn consultations<'a>(mut self, ids: impl IntoIterator<Item = &'a String>) -> Self {
        for (at, id) in ids.into_iter().enumerate() {
            self.0.push(Piece::Own(if at > 0 { ", " } else { "" }));
            self.0.push(Piece::Consultation(id.clone()));
        }
        self
    }

    /// Adds the weight of an objection, for pages.
    #[must_use]
    pub(super) fn weight(mut self, severity: Severity) -> Self {
        self.0.push(Piece::Weight(severity));
        self
    }
}

/// Returns a heading with its parts beneath; nothing without parts.
pub fn titled(level: u8, title: &'static str, parts: impl IntoIterator<Item = Part>) -> Vec<Part> {
    let mut titled = vec![Part::Heading(level, Line::of(title, []))];
    titled.extend(parts);
    if titled.len() == 1 {
        Vec::new()
    } else {
        titled
    }
}

/// Returns a paragraph of own words with a foreign text at each `{}`.
pub fn paragraph<const N: usize>(own: &'static str, foreign: [&str; N]) -> Part {
    Part::Paragraph(Line::of(own, foreign))
}

/// Returns the lines as a list; `None` without lines.
pub fn list(lines: impl IntoIterator<Item = Line>) -> Option<Part> {
    nested_list(lines.into_iter().map(|line| vec![line]))
}

/// Returns a list whose items have lines beneath them; `None` without items.
pub fn nested_list(items: impl IntoIterator<Item = Vec<Line>>) -> Option<Part> {
    let items: Vec<Vec<Line>> = items.into_iter().collect();
    (!items.is_empty()).then_some(Part::List(items))
}

/// Returns foreign texts as a list; `None` without texts.
pub fn list_of<T: AsRef<str>>(texts: &[T]) -> Option<Part> {
    list(texts.iter().map(|text| Line::foreign(text.as_ref())))
}

/// Returns a foreign text as a block; `None` for a blank one.
pub fn foreign(text: &str) -> Option<Part> {
    (!text.trim().is_empty()).then(|| Part::Foreign(text.to_owned()))
}
