//! Colour as a decision already made: without it, every function returns its text unchanged.

use console::Style;

use crate::terminal::charset::Charset;
use crate::text::clean::clean;

/// The sequences of which all styles consist, those of clap's messages included, without their
/// escape character.
const SEQUENCES: [&str; 9] = [
    RESET, "[1m", "[2m", "[3m", "[4m", "[31m", "[32m", "[33m", "[36m",
];

const RESET: &str = "[0m";

/// The colour mode of a stream, and the characters that it can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paint {
    pub has_colour: bool,
    pub charset: Charset,
}

/// The meaning of a text. No tone is white or black: either may be the background.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    #[default]
    Plain,
    Heading,
    Strong,
    /// A total, a command, a title.
    Key,
    Good,
    /// Near a limit, or below expectations.
    Warning,
    /// Beyond a limit.
    Bad,
    Quiet,
}

impl Paint {
    pub const COLOUR: Self = Self {
        has_colour: true,
        charset: Charset::Unicode,
    };
    pub const PLAIN: Self = Self {
        has_colour: false,
        ..Self::COLOUR
    };

    #[must_use]
    pub fn in_ascii(self) -> Self {
        let charset = Charset::Ascii;
        Self { charset, ..self }
    }

    pub fn tone(self, tone: Tone, text: &str) -> String {
        match tone {
            Tone::Plain => text.to_owned(),
            Tone::Heading => self.heading(text),
            Tone::Strong => self.bold(text),
            Tone::Key => self.cyan(text),
            Tone::Good => self.green(text),
            Tone::Warning => self.yellow(text),
            Tone::Bad => self.red(text),
            Tone::Quiet => self.dim(text),
        }
    }

    pub fn bold(self, text: &str) -> String {
        self.with(Style::new().bold(), text)
    }

    pub fn dim(self, text: &str) -> String {
        self.with(Style::new().dim(), text)
    }

    pub fn italic(self, text: &str) -> String {
        self.with(Style::new().italic(), text)
    }

    pub fn red(self, text: &str) -> String {
        self.with(Style::new().red(), text)
    }

    pub fn yellow(self, text: &str) -> String {
        self.with(Style::new().yellow(), text)
    }

    pub fn green(self, text: &str) -> String {
        self.with(Style::new().green(), text)
    }

    pub fn cyan(self, text: &str) -> String {
        self.with(Style::new().cyan(), text)
    }

    /// A heading that stands out from bold text.
    pub fn heading(self, text: &str) -> String {
        self.with(Style::new().bold().cyan(), text)
    }

    /// Returns what may be written to the stream: no control characters but line breaks, tabs and,
    /// with colour, the sequences of styles. A style that is left open ends with the text.
    pub(in crate::terminal) fn printable(self, text: &str) -> String {
        let mut pieces = text.split('\u{1b}');
        let mut printable = clean(pieces.next().unwrap_or_default());
        let mut is_open = false;
        for piece in pieces {
            let own = SEQUENCES
                .into_iter()
                .find(|sequence| self.has_colour && piece.starts_with(sequence));
            let own = own.unwrap_or_default();
            if !own.is_empty() {
                printable.extend(["\u{1b}", own]);
                is_open = own != RESET;
            }
            printable.push_str(&clean(piece.strip_prefix(own).unwrap_or(piece)));
        }
        if is_open {
            printable.extend(["\u{1b}", RESET]);
        }
        printable
    }

    fn with(self, style: Style, text: &str) -> String {
        if self.has_colour && !text.is_empty() {
            style.force_styling(true).apply_to(text).to_string()
        } else {
            text.to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_styles_pass_and_every_other_sequence_does_not() {
        let paint = Paint::COLOUR;
        let own = [
            paint.bold("a"),
            paint.dim("b"),
            paint.italic("c"),
            paint.red("d"),
            paint.yellow("e"),
            paint.green("f"),
            paint.cyan("g"),
            paint.heading("h"),
        ]
        .concat();
        assert_eq!(paint.printable(&own), own);
        assert_eq!(Paint::PLAIN.printable(&paint.bold("a")), "[1ma[0m");
        let foreign = "\u{1b}[2J\u{1b}]52;c;eA==\u{7}\u{9b}2J\u{1b}[8m\u{1b}[1;31mx\u{1b}";
        assert_eq!(paint.printable(foreign), "[2J]52;c;eA==2J[8m[1;31mx");
    }

    #[test]
    fn style_that_is_left_open_ends_with_the_text() {
        let printable = Paint::COLOUR.printable("\u{1b}[31mred");
        assert_eq!(printable, "\u{1b}[31mred\u{1b}[0m");
    }
}
