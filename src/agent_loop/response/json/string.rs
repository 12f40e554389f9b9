//! A JSON string as it arrives.

use memchr::memchr3;

use crate::agent_loop::response::encoding::Utf16Joiner;
use crate::agent_loop::response::tail::TextTail;

/// Reads a string after its opening quote. What is wrong in it becomes U+FFFD, the replacement
/// character, as in a text that is not UTF-8.
#[derive(Debug)]
pub(super) struct StringReader {
    /// Where the text goes; `None` when it is not stored.
    text: Option<TextTail>,
    escape: Escape,
    units: Utf16Joiner,
}

#[derive(Clone, Copy, Debug)]
enum Escape {
    None,
    Backslash,
    Unicode { digits: u8, unit: u16 },
}

/// Where a string is after some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StringProgress {
    Open,
    Closed,
    /// A line ends in the string, which no writer of JSON lets happen.
    Broken,
}

impl StringReader {
    pub(super) fn new(text: Option<TextTail>) -> Self {
        Self {
            text,
            escape: Escape::None,
            units: Utf16Joiner::default(),
        }
    }

    pub(super) fn held(&self) -> usize {
        self.text.as_ref().map_or(0, TextTail::held)
    }

    /// Returns the text so far; `None` when it is not stored.
    pub(super) fn finish(mut self) -> Option<TextTail> {
        self.flush_units();
        self.text
    }

    /// Takes bytes of the string, and returns how many belonged to it.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> (usize, StringProgress) {
        let mut used = 0;
        while let Some(rest) = bytes.get(used..).filter(|rest| !rest.is_empty()) {
            let (taken, progress) = match self.escape {
                Escape::None => self.feed_plain(rest),
                Escape::Backslash => self.feed_escape(rest),
                Escape::Unicode { digits, unit } => self.feed_unicode(rest, digits, unit),
            };
            used += taken;
            if progress != StringProgress::Open {
                return (used, progress);
            }
        }
        (used, StringProgress::Open)
    }

    fn feed_plain(&mut self, bytes: &[u8]) -> (usize, StringProgress) {
        let end = memchr3(b'"', b'\\', b'\n', bytes).unwrap_or(bytes.len());
        let plain = bytes.get(..end).unwrap_or_default();
        if !plain.is_empty() {
            self.push(plain);
        }
        match bytes.get(end) {
            None => (end, StringProgress::Open),
            Some(b'\\') => {
                self.escape = Escape::Backslash;
                (end + 1, StringProgress::Open)
            }
            Some(b'"') => (end + 1, StringProgress::Closed),
            Some(_) => (end, StringProgress::Broken),
        }
    }

    fn feed_escape(&mut self, bytes: &[u8]) -> (usize, StringProgress) {
        self.escape = Escape::None;
        let Some(byte) = bytes.first() else {
            return (0, StringProgress::Open);
        };
        match byte {
            b'u' => {
                self.escape = Escape::Unicode { digits: 0, unit: 0 };
            }
            b'n' => self.push(b"\n"),
            b't' => self.push(b"\t"),
            b'r' => self.push(b"\r"),
            b'b' => self.push(b"\x08"),
            b'f' => self.push(b"\x0c"),
            b'\n' => return (0, StringProgress::Broken),
            other => self.push(&[*other]),
        }
        (1, StringProgress::Open)
    }

    fn feed_unicode(&mut self, bytes: &[u8], digits: u8, unit: u16) -> (usize, StringProgress) {
        let digit = bytes
            .first()
            .and_then(|byte| char::from(*byte).to_digit(16));
        let Some(digit) = digit.and_then(|digit| u16::try_from(digit).ok()) else {
            self.escape = Escape::None;
            self.push("\u{fffd}".as_bytes());
            return (0, StringProgress::Open);
        };
        let unit = (unit << 4) | digit;
        if digits < 3 {
            let digits = digits + 1;
            self.escape = Escape::Unicode { digits, unit };
        } else {
            self.escape = Escape::None;
            self.push_unit(unit);
        }
        (1, StringProgress::Open)
    }

    fn push_unit(&mut self, unit: u16) {
        for character in self.units.push(unit) {
            self.push_char(character);
        }
    }

    fn push_char(&mut self, character: char) {
        if let Some(tail) = &mut self.text {
            tail.push(character.encode_utf8(&mut [0; 4]).as_bytes());
        }
    }

    /// Appends what is not a unit of UTF-16.
    fn push(&mut self, text: &[u8]) {
        self.flush_units();
        if let Some(tail) = &mut self.text {
            tail.push(text);
        }
    }

    fn flush_units(&mut self) {
        if let Some(replacement) = self.units.flush() {
            self.push_char(replacement);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> (String, StringProgress) {
        let mut reader = StringReader::new(Some(TextTail::new(1_000)));
        let mut progress = StringProgress::Open;
        for byte in json.as_bytes() {
            progress = reader.feed(&[*byte]).1;
            if progress != StringProgress::Open {
                break;
            }
        }
        (reader.finish().unwrap().finish().text, progress)
    }

    #[test]
    fn escapes_are_resolved() {
        let text = r#"a\"b\\c\/d\n\t\u00e9\ud83d\ude00""#;
        assert_eq!(
            read(text),
            ("a\"b\\c/d\n\té😀".to_owned(), StringProgress::Closed)
        );
    }

    #[test]
    fn half_a_surrogate_pair_is_replaced() {
        assert_eq!(read(r#"\ud83dx""#).0, "\u{fffd}x");
        assert_eq!(read(r#"\ude00""#).0, "\u{fffd}");
        assert_eq!(read(r#"\ud83d\ud83d\ude00""#).0, "\u{fffd}😀");
        assert_eq!(read(r"\ud83d").0, "\u{fffd}");
    }

    #[test]
    fn unknown_escapes_are_read_as_they_stand() {
        assert_eq!(read(r#"\q\u12zz""#).0, "q\u{fffd}zz");
    }

    #[test]
    fn a_string_does_not_go_beyond_its_line() {
        assert_eq!(
            read("begun\nnext"),
            ("begun".to_owned(), StringProgress::Broken)
        );
        assert_eq!(read("open"), ("open".to_owned(), StringProgress::Open));
    }
}
