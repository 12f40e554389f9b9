//! The marker of a list entry: its indentation, its bullet or number, and the white space after it.

use super::lines::{is_blank, line_end, white_space, without_ending};

/// How a list entry begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ListMarker {
    /// The white space before it, as written.
    pub(super) indent: String,
    pub(super) sign: MarkerSign,
    /// The white space after it that belongs to it, as written; empty if nothing follows.
    pub(super) padding: String,
    /// The column where the entry's content begins: lines that belong to it are indented so far.
    pub(super) content_column: usize,
    /// The bytes from the beginning of the line to the content.
    pub(super) length: usize,
}

/// A bullet, or a number with what ends it: `.` or `)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MarkerSign {
    pub(super) number: Option<u64>,
    end: char,
}

impl MarkerSign {
    pub(super) fn written(self) -> String {
        let number = self.number.map(|number| number.to_string());
        format!("{}{}", number.unwrap_or_default(), self.end)
    }

    pub(super) fn next(self) -> Self {
        let number = self.number.map(|number| number + 1);
        Self { number, ..self }
    }

    /// Returns true if an entry with text can follow a paragraph without a blank line.
    pub(super) fn interrupts_paragraphs(self) -> bool {
        self.number.is_none_or(|number| number == 1)
    }
}

/// Returns the words of an entry's first line.
pub fn without_marker(line: &str) -> &str {
    let marker = ListMarker::read(line).map_or(0, |marker| marker.length);
    line.get(marker..).unwrap_or_default().trim()
}

impl ListMarker {
    /// The marker of a new list.
    pub(super) fn plain() -> Self {
        let (number, end) = (None, '-');
        Self {
            indent: String::new(),
            sign: MarkerSign { number, end },
            padding: " ".to_owned(),
            content_column: 2,
            length: 2,
        }
    }

    pub(super) fn read(text: &str) -> Option<Self> {
        let line = without_ending(text.get(..line_end(text, 0))?);
        let (indent_column, indent_length) = white_space(line, 0);
        let (indent, rest) = line.split_at_checked(indent_length)?;
        let digits = rest.chars().take_while(char::is_ascii_digit).count();
        let (number, after) = rest.split_at_checked(digits)?;
        let end = after.chars().next()?;
        let sign = match end {
            '-' | '*' | '+' if digits == 0 => MarkerSign { number: None, end },
            // The largest number that begins an entry has nine digits.
            '.' | ')' if (1..=9).contains(&digits) => MarkerSign {
                number: Some(number.parse().ok()?),
                end,
            },
            _ => return None,
        };
        let sign_length = digits + 1;
        let after = rest.get(sign_length..)?;
        let sign_end = indent_column + sign_length;
        let (column, length) = white_space(after, sign_end);
        let (padding_length, content_column) = if is_blank(after) {
            (0, sign_end + 1)
        } else if length == 0 {
            return None;
        } else if column - sign_end > 4 {
            // The content is indented code: one column belongs to the marker.
            (1, sign_end + 1)
        } else {
            (length, column)
        };
        Some(Self {
            indent: indent.to_owned(),
            sign,
            padding: after.get(..padding_length)?.to_owned(),
            content_column,
            length: indent_length + sign_length + padding_length,
        })
    }

    pub(super) fn written(&self, sign: MarkerSign) -> String {
        let padding = Some(self.padding.as_str()).filter(|padding| !padding.is_empty());
        format!(
            "{}{}{}",
            self.indent,
            sign.written(),
            padding.unwrap_or(" ")
        )
    }

    pub(super) fn with_sign(&self, sign: MarkerSign) -> Self {
        Self::read(&format!("{}x", self.written(sign))).unwrap_or_else(Self::plain)
    }

    pub(super) fn sign_column(&self) -> usize {
        white_space(&self.indent, 0).0 + self.sign.written().len()
    }
}
