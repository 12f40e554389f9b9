//! What a person sees on a terminal: the bytes that were written to it, read by a terminal emulator.

use std::fmt::Write as _;

use vt100::{Cell, Color, Parser};

/// More lines than any test scrolls out of sight.
const SCROLLBACK: usize = 10_000;

/// A terminal's screen. Its size follows that of the pseudo-terminal; like xterm, it does not wrap
/// lines again when the width changes.
pub(crate) struct Screen {
    parser: Parser,
    written: Vec<u8>,
}

impl std::fmt::Debug for Screen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "\n{}", self.history())
    }
}

impl Screen {
    pub(crate) fn new(columns: u16, rows: u16) -> Self {
        Self {
            parser: Parser::new(cells(rows), cells(columns), SCROLLBACK),
            written: Vec::new(),
        }
    }

    /// Takes what a program writes.
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        self.written.extend_from_slice(bytes);
        self.parser.process(bytes);
    }

    pub(crate) fn resize(&mut self, columns: u16, rows: u16) {
        self.parser.set_size(cells(rows), cells(columns));
    }

    /// Returns the visible text, without the blanks at the end of each line and the empty lines at
    /// the end of the screen.
    pub(crate) fn contents(&self) -> String {
        trimmed(self.parser.screen().rows(0, self.columns()))
    }

    /// Returns the visible text with its colours and weights as marks, such as
    /// `{bold cyan}Answer{/}`.
    pub(crate) fn styled(&self) -> String {
        let rows = self.parser.screen().size().0.get();
        trimmed((0..rows).map(|row| self.styled_row(row)))
    }

    /// Returns all text since the start: the lines that have scrolled out of sight, then the visible
    /// ones.
    pub(crate) fn history(&self) -> String {
        let mut screen = self.parser.screen().clone();
        let mut lines = Vec::new();
        for above in (1..=screen.scrollback_len()).rev() {
            screen.set_scrollback(above);
            lines.extend(screen.rows(0, self.columns()).next());
        }
        screen.set_scrollback(0);
        lines.extend(screen.rows(0, self.columns()));
        trimmed(lines.into_iter())
    }

    pub(crate) fn is_cursor_visible(&self) -> bool {
        !self.parser.screen().hide_cursor()
    }

    /// Returns the cursor's column and row, both from 0.
    pub(crate) fn cursor(&self) -> (u16, u16) {
        let (row, column) = self.parser.screen().cursor_position();
        (column, row)
    }

    /// Returns all bytes since the start.
    pub(crate) fn written(&self) -> &[u8] {
        &self.written
    }

    fn columns(&self) -> u16 {
        self.parser.screen().size().1.get()
    }

    fn styled_row(&self, row: u16) -> String {
        let mut line = String::new();
        let mut style = String::new();
        for column in 0..self.columns() {
            let cell = self.parser.screen().cell(row, column).unwrap();
            if cell.is_wide_continuation() {
                continue;
            }
            let next = style_of(cell);
            if next != style {
                line.push_str(if style.is_empty() { "" } else { "{/}" });
                if !next.is_empty() {
                    let _ = write!(line, "{{{next}}}");
                }
                style = next;
            }
            line.push_str(if cell.has_contents() {
                cell.contents()
            } else {
                " "
            });
        }
        line.push_str(if style.is_empty() { "" } else { "{/}" });
        line
    }
}

fn cells(number: u16) -> std::num::NonZeroU16 {
    std::num::NonZeroU16::new(number).expect("a terminal has a column and a row")
}

fn trimmed(lines: impl Iterator<Item = String>) -> String {
    let lines: Vec<String> = lines.map(|line| line.trim_end().to_owned()).collect();
    lines.join("\n").trim_end().to_owned()
}

fn style_of(cell: &Cell) -> String {
    let weights = [
        (cell.bold(), "bold"),
        (cell.dim(), "dim"),
        (cell.italic(), "italic"),
        (cell.underline(), "underline"),
        (cell.inverse(), "inverse"),
    ];
    let mut words: Vec<String> = weights
        .into_iter()
        .filter(|(is_set, _)| *is_set)
        .map(|(_, name)| name.to_owned())
        .collect();
    words.extend(colour_name(cell.fgcolor(), ""));
    words.extend(colour_name(cell.bgcolor(), "on "));
    words.join(" ")
}

fn colour_name(colour: Color, before: &str) -> Option<String> {
    const NAMES: [&str; 8] = [
        "black", "red", "green", "yellow", "blue", "magenta", "cyan", "white",
    ];
    match colour {
        Color::Default => None,
        Color::Idx(index) => Some(match NAMES.get(usize::from(index)) {
            Some(name) => format!("{before}{name}"),
            None => format!("{before}colour {index}"),
        }),
        Color::Rgb(red, green, blue) => Some(format!("{before}#{red:02x}{green:02x}{blue:02x}")),
    }
}

#[test]
fn screen_shows_colours_scrolled_lines_and_the_cursor() {
    let mut screen = Screen::new(8, 2);
    screen.write("one\r\n\u{1b}[1;31mtwo\u{1b}[0m 日\r\nthree\u{1b}[?25l".as_bytes());
    assert_eq!(screen.contents(), "two 日\nthree");
    assert_eq!(screen.styled(), "{bold red}two{/} 日\nthree");
    assert_eq!(screen.history(), "one\ntwo 日\nthree");
    assert!(!screen.is_cursor_visible());
    assert_eq!(screen.cursor(), (5, 1));
    screen.resize(4, 2);
    assert_eq!(screen.contents(), "two\nthre");
}
