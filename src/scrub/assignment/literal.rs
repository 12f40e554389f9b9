//! Reads string literals: with prefixes, escaped quotes, in pieces, inside calls that keep them.

use std::sync::LazyLock;

use super::forms::{LONGEST_VALUE, ValueReader, ValueSpan, span};
use crate::scrub::value::ValueForm;
use crate::scrub::value::words::list;
use crate::text::byte_pattern::BytePattern;

/// A literal has no more pieces than this.
const MAX_PIECES: usize = 64;

/// What stands before a literal: the end of a line, calls around it that leave it what it is.
static BEGINNING: LazyLock<BytePattern> = LazyLock::new(|| {
    let keeps = list("wrappers").join("|");
    let call = format!(r"(?:new [\w:. \[\]]+|[\w:. \[\]]*?\b(?:{keeps}))\([ \t]*");
    BytePattern::from(format!(r"^(?:[\s(]*\n[\s(]*)?[ \t]*(?:{call})*"))
});

/// The first quote of a literal, with what prefixes and escapes it.
static OPENING: BytePattern = BytePattern::new(r#"^[bBrRuUfFL@$&N]{0,3}(#*)(\\*)(["'`])"#);

/// What joins two pieces of a literal: a sign such as `+`, or the indentation of the next line.
static JOIN: BytePattern = BytePattern::new(r"^(?:\s*[+.\\][\s+.\\]*|\s*?\n([ \t]*))");

impl ValueReader<'_> {
    /// Reads a literal that is passed and not assigned.
    pub(super) fn argument(&self, at: usize) -> Option<ValueSpan> {
        let literal = self.literal(at)?;
        Some(ValueSpan {
            form: ValueForm::Argument,
            ..literal
        })
    }

    /// Reads a string literal, also inside a call that keeps its value, or in pieces that the
    /// language joins.
    pub(super) fn literal(&self, at: usize) -> Option<ValueSpan> {
        let beginning = BEGINNING.regex()?.find(self.near(at))?;
        let (mut literal, mut end) = self.piece(at + beginning.end())?;
        for _ in 0..MAX_PIECES {
            let next = self.joined(literal.start, end);
            let Some((piece, next_end)) = next.and_then(|next| self.piece(next)) else {
                break;
            };
            let is_key = matches!(self.after(next_end).trim_ascii_start(), [b':' | b'=', ..]);
            let text = self.text.get(piece.start..piece.end)?;
            if is_key || text.iter().any(u8::is_ascii_whitespace) {
                break;
            }
            (literal.end, end) = (piece.end, next_end);
        }
        Some(literal)
    }

    /// Reads what stands in quotes; returns also where the last quote ends.
    fn piece(&self, at: usize) -> Option<(ValueSpan, usize)> {
        let opening = OPENING.regex()?.captures(self.near(at))?;
        let length = |group| opening.get(group).map_or(0, |found| found.len());
        let (hashes, mut slashes) = (length(1), length(2));
        let [quote] = *opening.get(3)?.as_bytes() else {
            return None;
        };
        let mut start = at + length(0);
        match self.after(start) {
            [a, b, ..] if *a == quote && *b == quote => start += 2,
            [a, ..] if *a == quote => return None,
            [b'\\', a, ..] if *a == quote && slashes == 0 => {
                // `"\"value\""`
                start += 2;
                slashes = 1;
            }
            _ => {}
        }
        let end = self.closing(start, slashes, quote, hashes)?;
        let after = end + slashes + 1;
        // ``NAME=`a{B`c`` is a value with such signs, and no literal.
        let is_glued = self
            .after(after)
            .first()
            .is_some_and(u8::is_ascii_alphanumeric);
        let value = span(start, end - start, ValueForm::Quoted);
        (quote != b'`' || !is_glued).then_some((value, after))
    }

    /// Returns where the next piece of a literal that starts at `start` may stand. A line continues
    /// it by its indentation: deeper than the line of the literal or, if that begins with the
    /// literal, as deep.
    fn joined(&self, start: usize, end: usize) -> Option<usize> {
        let join = JOIN.regex()?.captures(self.near(end))?;
        if let Some(indent) = join.get(1) {
            let line = self.line_before(start);
            let text = line.trim_ascii_start();
            let least = line.len() - text.len() + usize::from(text.len() > "rb\"\"\"".len());
            if indent.len() < least {
                return None;
            }
        }
        Some(end + join.get(0)?.end())
    }

    /// Returns the end of the literal: the next quote with as many backslashes as the first, but for
    /// those of backslashes themselves, and with as many `#`. If none has, the line's last quote.
    fn closing(&self, start: usize, slashes: usize, quote: u8, hashes: usize) -> Option<usize> {
        let rest = self.after(start);
        let (mut escapes, mut skipped, mut last) = (0, 0, None);
        for (offset, byte) in rest.iter().take(LONGEST_VALUE).enumerate() {
            if offset < skipped {
                continue;
            }
            match byte {
                b'\\' => escapes += 1,
                b'\n' => break,
                byte if *byte == quote => {
                    let end = start + offset - escapes.min(slashes);
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
                        last = Some(start + offset);
                    }
                    escapes = 0;
                }
                _ => escapes = 0,
            }
        }
        last.filter(|_| slashes == 0)
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
