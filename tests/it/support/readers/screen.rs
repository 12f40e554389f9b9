//! What a person sees on a terminal: the bytes that were written to it, read by a terminal
//! emulator.

use std::fmt::Write as _;

use vt100::{Cell, Color, Parser};

/// More lines than any test scrolls out of sight.
const SCROLLBACK: usize = 10_000;

/// Sequences that begin and end a synchronized update (DEC mode 2026).
const UPDATE: (&[u8], &[u8]) = (b"\x1b[?2026h", b"\x1b[?2026l");
/// Sequences that switch off and on that text continues on the next line (DEC mode 7).
const NO_WRAP: (&[u8], &[u8]) = (b"\x1b[?7l", b"\x1b[?7h");

/// A terminal's screen. Its size follows that of the pseudo-terminal; like xterm, it does not wrap
/// lines again when the width changes. Unlike the emulator alone, it knows synchronized updates and
/// text that must not wrap.
pub(crate) struct Screen {
    parser: Parser,
    written: Vec<u8>,
    /// The number of bytes that are on the screen: an update is shown when it is complete.
    shown: usize,
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
            shown: 0,
        }
    }

    /// Takes what a program writes.
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        self.written.extend_from_slice(bytes);
        while let Some(part) = next_part(&self.written[self.shown..]) {
            let part = self.shown..self.shown + part;
            self.shown = part.end;
            show(&mut self.parser, &self.written[part]);
        }
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

    /// Returns all text since the start: the lines that have scrolled out of sight, then the
    /// visible ones.
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

    /// Returns the cells.
    pub(crate) fn cells(&self) -> &vt100::Screen {
        self.parser.screen()
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

/// Returns the length of the next part to show: an update or a text that must not wrap, when it is
/// complete, or everything before the next of these.
fn next_part(bytes: &[u8]) -> Option<usize> {
    let begin = [UPDATE, NO_WRAP]
        .into_iter()
        .filter_map(|(begin, end)| Some((find(bytes, begin)?, end)))
        .min_by_key(|(index, _)| *index);
    match begin {
        Some((0, end)) => find(bytes, end).map(|index| index + end.len()),
        Some((index, _)) => Some(index),
        None => {
            // The beginning of a sequence may still be incomplete.
            let is_open = |bytes: &[u8]| {
                let begins = |(begin, _): (&[u8], _)| begin.starts_with(bytes);
                [UPDATE, NO_WRAP].into_iter().any(begins)
            };
            let open = (0..bytes.len()).find(|start| is_open(&bytes[*start..]));
            Some(open.unwrap_or(bytes.len())).filter(|length| *length > 0)
        }
    }
}

fn find(bytes: &[u8], text: &[u8]) -> Option<usize> {
    bytes.windows(text.len()).position(|window| window == text)
}

/// Shows a text; what stands between the sequences of `NO_WRAP` ends at the last column.
fn show(parser: &mut Parser, bytes: &[u8]) {
    let Some(begin) = find(bytes, NO_WRAP.0) else {
        return parser.process(bytes);
    };
    parser.process(&bytes[..begin]);
    let rest = &bytes[begin + NO_WRAP.0.len()..];
    let end = find(rest, NO_WRAP.1).expect("wrapping is switched on again");
    let mut is_sequence = false;
    for character in String::from_utf8_lossy(&rest[..end]).chars() {
        is_sequence |= character == '\u{1b}';
        let screen = parser.screen();
        let is_full = screen.cursor_position().1 >= screen.size().1.get();
        if is_sequence || character.is_control() || !is_full {
            parser.process(character.encode_utf8(&mut [0; 4]).as_bytes());
        }
        // A sequence ends with a letter.
        is_sequence &= !character.is_ascii_alphabetic();
    }
    show(parser, &rest[end + NO_WRAP.1.len()..]);
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

#[test]
fn update_is_shown_when_it_is_complete_and_does_not_wrap() {
    let mut screen = Screen::new(4, 3);
    screen.write(b"a\x1b[?2026h\r\x1b[?7lto");
    assert_eq!(screen.contents(), "a");
    screen.write(b"\x1b[1mo long\x1b[0m\r\nnext\x1b[?7h\x1b[?2026l");
    assert_eq!(screen.contents(), "too\nnext");
}
