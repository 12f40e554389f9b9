//! Reads string literals: with prefixes, escaped quotes, in pieces, inside calls that keep them.

use super::cursor::{ValueReader, ValueSpan};
use crate::scrub::value::ValueForm;
use crate::scrub::value::words::WordSet;

/// A value is no longer than this.
pub(super) const LONGEST_VALUE: usize = 4096;

/// A literal has no more pieces than this.
const MAX_PIECES: usize = 64;

/// Calls around a literal that leave it what it is.
static WRAPPERS: WordSet = WordSet::new("wrappers");

/// The reason why a literal continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Join {
    /// A sign: `"…" + "…"`.
    Sign,
    /// The indentation of the next line.
    LineEnd,
}

impl ValueReader<'_> {
    /// Reads a literal that is passed and not assigned.
    pub(super) fn argument(&mut self) -> Option<ValueSpan> {
        let literal = self.literal()?;
        Some(ValueSpan {
            form: ValueForm::Argument,
            ..literal
        })
    }

    /// Reads a string literal, also inside a call that keeps its value, or in pieces that the
    /// language joins.
    pub(super) fn literal(&mut self) -> Option<ValueSpan> {
        self.skip_line_end();
        self.skip_spaces();
        for _ in 0..3 {
            if !self.skip_wrapper() {
                break;
            }
        }
        let mut literal = self.piece()?;
        for _ in 0..MAX_PIECES {
            let Some(join) = self.skip_join(literal.start) else {
                break;
            };
            let Some(piece) = self.piece() else {
                break;
            };
            let text = self.text.get(piece.start..piece.end).unwrap_or_default();
            let is_key = join == Join::LineEnd && self.is_before_value();
            if is_key || text.iter().any(u8::is_ascii_whitespace) {
                break;
            }
            literal.end = piece.end;
        }
        Some(literal)
    }

    fn piece(&mut self) -> Option<ValueSpan> {
        let prefix = self.rest().iter().take(4);
        let prefix = prefix
            .take_while(|byte| b"bBrRuUfFL@$#&N".contains(byte))
            .count();
        let (mut slashes, quote) = self.quote_at(prefix)?;
        let hashes = self
            .rest()
            .iter()
            .take(prefix)
            .filter(|byte| **byte == b'#')
            .count();
        self.position += prefix + slashes + 1;
        match self.rest() {
            [a, b, ..] if *a == quote && *b == quote => self.position += 2,
            [a, ..] if *a == quote => return None,
            [b'\\', a, ..] if *a == quote && slashes == 0 => {
                // `"\"value\""`
                self.position += 2;
                slashes = 1;
            }
            _ => {}
        }
        let start = self.position;
        let end = self.closing(slashes, quote, hashes)?;
        self.position = end + slashes + 1;
        Some(ValueSpan {
            start,
            end,
            judged_end: end,
            form: ValueForm::Quoted,
        })
    }

    /// Skips a line end before a literal: `token =`, `TOKEN = (`.
    fn skip_line_end(&mut self) {
        let is_gap = |byte: &&u8| byte.is_ascii_whitespace() || **byte == b'(';
        let gap = self.rest().iter().take(80).take_while(is_gap).count();
        let has_line_end = self
            .rest()
            .get(..gap)
            .is_some_and(|gap| gap.contains(&b'\n'));
        if has_line_end && self.quote_at(gap).is_some() {
            self.position += gap;
        }
    }

    /// Skips what stands between the pieces of a literal that starts at `start`: `"…" +`, a line's
    /// end.
    fn skip_join(&mut self, start: usize) -> Option<Join> {
        let is_join = |byte: &&u8| byte.is_ascii_whitespace() || b"+.\\".contains(byte);
        let between = self.rest().iter().take(80).take_while(is_join).count();
        let signs = self.rest().get(..between).unwrap_or_default();
        let has_line_end = signs.contains(&b'\n');
        let has_sign = signs.iter().any(|byte| b"+.\\".contains(byte));
        let join = if signs.contains(&b'+') || (has_line_end && has_sign) {
            Join::Sign
        } else if has_line_end && self.continues(start, signs) {
            Join::LineEnd
        } else {
            return None;
        };
        self.position += between;
        Some(join)
    }

    /// Returns whether the line after a gap continues a literal by its indentation: deeper than the
    /// line of the literal or, if that begins with the literal, as deep.
    fn continues(&self, start: usize, gap: &[u8]) -> bool {
        let line = self.line_before(start);
        let indent = line.iter().take_while(|byte| byte.is_ascii_whitespace());
        let indent = indent.count();
        let begins = line.len() - indent <= "rb\"\"\"".len();
        let next = gap.rsplit(|byte| *byte == b'\n').next();
        let next = next.map_or(0, <[u8]>::len);
        next > indent || (begins && next == indent)
    }

    /// Returns whether a key ends here: `"user": `, `'user' => `.
    fn is_before_value(&self) -> bool {
        let mut rest = self.rest().iter();
        let next = rest.find(|byte| !matches!(byte, b' ' | b'\t'));
        matches!(next, Some(b':' | b'='))
    }

    /// Returns the end of the literal: the next quote with as many backslashes as the first, but for
    /// those of backslashes themselves, and with as many `#`. If none has, the line's last quote.
    fn closing(&self, slashes: usize, quote: u8, hashes: usize) -> Option<usize> {
        let rest = self.rest();
        let (mut escapes, mut skipped, mut last) = (0, 0, None);
        for (offset, byte) in rest.iter().take(LONGEST_VALUE).enumerate() {
            if offset < skipped {
                continue;
            }
            match byte {
                b'\\' => escapes += 1,
                b'\n' => break,
                byte if *byte == quote => {
                    let end = self.position + offset - escapes.min(slashes);
                    let after = rest.get(offset + 1..).unwrap_or_default();
                    let is_same = escapes <= slashes || escapes % (2 * slashes + 2) == slashes;
                    let reopened = if slashes == 0 {
                        reopened(quote, after)
                    } else {
                        0
                    };
                    if is_same && reopened > 0 {
                        skipped = offset + 1 + reopened;
                    } else if is_same
                        && after.iter().take_while(|byte| **byte == b'#').count() >= hashes
                    {
                        return Some(end);
                    } else {
                        last = Some(self.position + offset);
                    }
                    escapes = 0;
                }
                _ => escapes = 0,
            }
        }
        last.filter(|_| slashes == 0)
    }

    /// Skips `Some(`, `String::from(`, `new Password(`.
    fn skip_wrapper(&mut self) -> bool {
        let is_path = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_:. []".contains(byte);
        let length = self.rest().iter().take(48).take_while(is_path).count();
        let path = self.rest().get(..length).unwrap_or_default();
        if self.peek_at(length) != Some(b'(') {
            return false;
        }
        let is_new = path.starts_with(b"new ");
        let last = path
            .rsplit(|byte| b":. ]".contains(byte))
            .next()
            .unwrap_or_default();
        if is_new || WRAPPERS.all().contains(last) {
            self.position += length + 1;
            self.skip_spaces();
            return true;
        }
        false
    }
}

/// Returns the length of what continues a literal after a quote in it: `it''s`, `it'"'"'s`,
/// `it'\''s`.
fn reopened(quote: u8, after: &[u8]) -> usize {
    match after {
        [first, next, ..] if *first == quote && next.is_ascii_graphic() && *next != quote => 1,
        [b'"', b'\'', b'"', b'\'', ..] if quote == b'\'' => 4,
        [b'\\', b'\'', b'\'', ..] if quote == b'\'' => 3,
        _ => 0,
    }
}
