//! Rows that are redrawn in place, as the text that draws them. Writes nothing itself.
//!
//! Invariant: between two drawings the cursor is at the start of the first row. A terminal that
//! wraps its lines again when its width changes keeps the cursor at that character, so that erasing
//! from there leaves no row of the old width behind.

use std::fmt::Write as _;

/// Moves to the start of the line and erases from there to the end of the screen.
const ERASE: &str = "\r\u{1b}[J";
/// Erases from the cursor to the end of the line, and returns to the start of the line.
const END_ROW: &str = "\u{1b}[K\r";

/// Columns and rows of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::terminal) struct TerminalSize {
    pub(in crate::terminal) columns: usize,
    pub(in crate::terminal) rows: usize,
}

impl TerminalSize {
    /// The columns of a line: the last one stays free.
    pub(in crate::terminal) fn room(self) -> usize {
        self.columns.saturating_sub(1).max(1)
    }
}

/// The rows that are on the terminal now.
#[derive(Debug, Default)]
pub(super) struct DrawnRows {
    rows: Vec<String>,
    size: Option<TerminalSize>,
}

impl DrawnRows {
    /// Returns what changes the drawn rows into these; nothing when they are the same. No row may
    /// be wider than the terminal.
    pub(super) fn draw(&mut self, mut rows: Vec<String>, size: TerminalSize) -> String {
        // The line above the rows stays in sight.
        rows.truncate(size.rows.saturating_sub(1).max(1));
        let is_same_size = self.size.replace(size) == Some(size);
        let text = if self.rows.is_empty() || !is_same_size {
            self.all(&rows)
        } else {
            self.changes(&rows)
        };
        self.rows = rows;
        text
    }

    pub(super) fn erase(&mut self) -> &'static str {
        if std::mem::take(&mut self.rows).is_empty() {
            ""
        } else {
            ERASE
        }
    }

    /// Takes the rows for gone: something else has written to the terminal, and the cursor is below
    /// it.
    pub(super) fn forget(&mut self) {
        self.rows.clear();
    }

    fn all(&self, rows: &[String]) -> String {
        if rows.is_empty() && self.rows.is_empty() {
            return String::new();
        }
        let mut text = format!("{ERASE}{}\r", rows.join("\r\n"));
        push_move(&mut text, rows.len().saturating_sub(1), 'A');
        text
    }

    fn changes(&self, rows: &[String]) -> String {
        let mut text = String::new();
        let mut at = 0;
        for (index, row) in rows.iter().enumerate() {
            match self.rows.get(index) {
                Some(drawn) if drawn == row => continue,
                Some(_) => push_move(&mut text, index - at, 'B'),
                None => {
                    // A line break makes room also at the end of the screen.
                    push_move(&mut text, index - 1 - at, 'B');
                    text.push('\n');
                }
            }
            text.extend([row, END_ROW]);
            at = index;
        }
        if rows.len() < self.rows.len() {
            push_move(&mut text, rows.len() - at, 'B');
            text.push_str(ERASE);
            at = rows.len();
        }
        push_move(&mut text, at, 'A');
        text
    }
}

/// Moves the cursor up (`A`) or down (`B`).
fn push_move(text: &mut String, lines: usize, direction: char) {
    if lines > 0 {
        // Only a formatter that fails could make this fail.
        let _ = write!(text, "\u{1b}[{lines}{direction}");
    }
}
