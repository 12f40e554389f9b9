//! One line of the dashboard before layout: text in tones, wrapped to the available columns and
//! only then coloured.

use std::iter;

use console::measure_text_width;

use super::charset::{Charset, TOGETHER};
use crate::terminal::output::style::Paint;

/// The meaning of a text. No tone is white or black: either may be the background.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tone {
    Plain,
    Heading,
    /// A sum of all.
    Total,
    Good,
    /// Near a limit, or below expectations.
    Warning,
    /// Beyond a limit.
    Bad,
    Quiet,
}

/// A text that begins with a mark and continues under its own beginning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StyledLine {
    mark: LineMark,
    spans: Vec<(Tone, String)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LineMark {
    None,
    Bullet,
    Dash,
    Indent,
}

/// A line that fits, and its width in columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FittedLine {
    pub(super) text: String,
    pub(super) width: usize,
}

impl StyledLine {
    fn of(mark: LineMark, tone: Tone, text: impl Into<String>) -> Self {
        Self {
            mark,
            spans: vec![(tone, text.into())],
        }
    }

    pub(super) fn empty() -> Self {
        Self::of(LineMark::None, Tone::Plain, "")
    }

    pub(super) fn plain(text: impl Into<String>) -> Self {
        Self::of(LineMark::None, Tone::Plain, text)
    }

    pub(super) fn toned(text: impl Into<String>, tone: Tone) -> Self {
        Self::of(LineMark::None, tone, text)
    }

    pub(super) fn heading(text: &str) -> Self {
        Self::of(LineMark::None, Tone::Heading, text)
    }

    pub(super) fn quiet(text: impl Into<String>) -> Self {
        Self::of(LineMark::None, Tone::Quiet, text)
    }

    /// A command to type.
    pub(super) fn command(text: &str) -> Self {
        Self::of(LineMark::Indent, Tone::Total, text)
    }

    /// `• Text`, above what belongs to it.
    pub(super) fn bulleted(text: impl Into<String>) -> Self {
        Self::of(LineMark::Bullet, Tone::Plain, text)
    }

    /// `  - Label: value`, below an item.
    pub(super) fn part(label: &str, value: &str) -> Self {
        Self::of(LineMark::Dash, Tone::Plain, format!("{label}: {value}"))
    }

    /// A row below a heading.
    pub(super) fn row(text: impl Into<String>, tone: Tone) -> Self {
        Self::of(LineMark::Indent, tone, text)
    }

    /// Columns of a row's mark.
    pub(super) const ROW_INDENT: usize = 2;

    /// Returns the line in as many lines of at most `room` columns as it needs.
    pub(super) fn fitted(&self, room: usize, charset: Charset, paint: Paint) -> Vec<FittedLine> {
        let spans: Vec<(Tone, String)> = self
            .spans
            .iter()
            .map(|(tone, text)| (*tone, charset.text(text)))
            .collect();
        let whole: String = spans.iter().map(|(_, text)| text.as_str()).collect();
        // The `≥` stays with its amount.
        let whole = ["≥", ">="].iter().fold(whole, |whole, sign| {
            whole.replace(&format!("{sign} "), &together(&format!("{sign} ")))
        });
        let first = match self.mark {
            LineMark::None => String::new(),
            LineMark::Bullet => format!("{} ", charset.bullet()),
            LineMark::Dash => "  - ".to_owned(),
            LineMark::Indent => " ".repeat(Self::ROW_INDENT),
        };
        let indent = measure_text_width(&first);
        let beneath = " ".repeat(indent);
        let options = textwrap::Options::new(room.max(indent + 1))
            .initial_indent(&first)
            .subsequent_indent(&beneath)
            .word_splitter(textwrap::WordSplitter::NoHyphenation);
        let mark = (Tone::Plain, first.clone());
        let mut tones = iter::once(&mark)
            .chain(&spans)
            .flat_map(|(tone, text)| text.chars().filter(|c| !c.is_whitespace()).map(|_| *tone));
        let fitted = textwrap::wrap(&whole, options).into_iter().map(|piece| {
            let piece = piece.replace(TOGETHER, " ");
            FittedLine {
                width: measure_text_width(&piece),
                text: painted(&piece, &mut tones, paint),
            }
        });
        fitted.collect()
    }
}

/// Returns the text with blanks that do not break.
pub(super) fn together(text: &str) -> String {
    text.replace(' ', &TOGETHER.to_string())
}

/// Colours a piece of text whose visible characters have these tones in turn. Blanks take the tone
/// before them.
fn painted(piece: &str, tones: &mut impl Iterator<Item = Tone>, paint: Paint) -> String {
    let mut runs: Vec<(Tone, String)> = Vec::new();
    for c in piece.chars() {
        let tone = if c.is_whitespace() {
            None
        } else {
            tones.next()
        };
        match (runs.last_mut(), tone) {
            (Some((_, text)), None) => text.push(c),
            (Some((last, text)), Some(tone)) if *last == tone => text.push(c),
            (Some(_) | None, tone) => runs.push((tone.unwrap_or(Tone::Plain), c.to_string())),
        }
    }
    runs.into_iter()
        .map(|(tone, text)| tone.painted(&text, paint))
        .collect()
}

impl Tone {
    fn painted(self, text: &str, paint: Paint) -> String {
        match self {
            Self::Plain => text.to_owned(),
            Self::Heading => paint.heading(text),
            Self::Total => paint.cyan(text),
            Self::Good => paint.green(text),
            Self::Warning => paint.yellow(text),
            Self::Bad => paint.red(text),
            Self::Quiet => paint.dim(text),
        }
    }
}

/// Returns a section: its heading and its lines.
pub(super) fn section(
    heading: &str,
    items: impl IntoIterator<Item = StyledLine>,
) -> Vec<StyledLine> {
    std::iter::once(StyledLine::heading(heading))
        .chain(items)
        .collect()
}

/// Returns a labelled figure in a tone: `• Label: value`.
pub(super) fn figure(label: &str, value: impl Into<String>, tone: Tone) -> StyledLine {
    StyledLine {
        mark: LineMark::Bullet,
        spans: vec![(Tone::Plain, format!("{label}: ")), (tone, value.into())],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrapped_line_is_indented_and_keeps_its_colours() {
        let line = figure("A label of some words", "and a value".to_owned(), Tone::Bad);
        let texts = |paint| {
            line.fitted(16, Charset::Unicode, paint)
                .into_iter()
                .map(|fitted| fitted.text)
                .collect::<Vec<_>>()
        };
        assert_eq!(
            texts(Paint::Plain),
            ["• A label of", "  some words:", "  and a value"]
        );
        let coloured = texts(Paint::Colour);
        assert_eq!(coloured[0].as_str(), "• A label of");
        assert_eq!(coloured[1].as_str(), "  some words:");
        assert_eq!(
            coloured[2],
            format!("  {}", Paint::Colour.red("and a value"))
        );
    }

    #[test]
    fn unbroken_text_stays_on_one_line() {
        let line = figure("Cost", "≥ $1".to_owned(), Tone::Plain);
        for (charset, texts) in [
            (Charset::Unicode, ["• Cost:", "  ≥ $1"]),
            (Charset::Ascii, ["* Cost:", "  >= $1"]),
        ] {
            let fitted = line.fitted(9, charset, Paint::Plain);
            assert_eq!(
                fitted
                    .iter()
                    .map(|fitted| fitted.text.as_str())
                    .collect::<Vec<_>>(),
                texts
            );
        }
    }

    #[test]
    fn text_without_blanks_is_broken_rather_than_cut() {
        let fitted =
            StyledLine::part("abcdefghijklmnop", "x").fitted(10, Charset::Ascii, Paint::Plain);
        assert_eq!(
            fitted
                .iter()
                .map(|fitted| fitted.text.as_str())
                .collect::<Vec<_>>(),
            ["  - abcdef", "    ghijkl", "    mnop:", "    x"]
        );
        assert!(fitted.iter().all(|fitted| fitted.width <= 10));
    }
}
