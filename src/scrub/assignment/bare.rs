//! Reads values without quotes, on a line of settings, amid code or in a sentence.

use super::forms::{ValueReader, ValueSpan, span};
use crate::scrub::value::ValueForm;
use crate::scrub::value::name::{is_call, is_called, reads_as_word};
use crate::scrub::value::random::is_strong;
use crate::scrub::value::words::{WordSet, words};
use crate::text::byte_pattern::BytePattern;

/// A member of an object gets that of another: `a.password=b.c1`.
static OF_MEMBERS: BytePattern = BytePattern::new(
    r"^(?:[A-Za-z]|this|self)\.[\w$.]+=[A-Za-z_$][\w$]*(?:\.[\w$]+)+(?:[,;()\[\]&|?\s]|$)",
);

/// What stands before the name on a line of settings or of a shell.
static LINE_HEADS: WordSet = WordSet::new("line_heads");

impl ValueReader<'_> {
    pub(super) fn bare(&self, at: usize, is_spaced: bool) -> Option<ValueSpan> {
        let line = self.after(at).split(|byte| *byte == b'\n').next()?;
        let start = at + line.len() - line.trim_ascii_start().len();
        let mut words = line.trim_ascii_start().splitn(2, u8::is_ascii_whitespace);
        let whole = words.next()?;
        let tail = words.next().unwrap_or_default().trim_ascii_start();
        let is_spaced = is_spaced || start > at;
        let is_closed = whole.ends_with(b",") || whole.ends_with(b";");
        let is_line = matches!(tail, [] | [b'#', ..])
            && (is_spaced || !has_pairs(whole))
            && self.begins_line();
        let is_word = whole.iter().all(u8::is_ascii_lowercase);
        let before = self.text.get(..at).unwrap_or_default();
        let is_member = || Some(OF_MEMBERS.regex()?.is_match(self.after(self.name.start)));
        if is_line && is_word && is_spaced && before.ends_with(b"=") || is_member()? {
            // `password = content` in code
            return None;
        }
        if is_line && (!is_closed || has_strong(whole.get(..whole.len() - 1)?)) {
            let form = if is_spaced {
                ValueForm::Line
            } else {
                ValueForm::EnvironmentLine
            };
            return Some(span(start, whole.len(), form));
        }
        if let Some(length) = self.strong_length(whole, is_spaced) {
            return Some(span(start, length, ValueForm::EnvironmentLine));
        }
        let is_delimiter = |byte: &u8| b"\"'`;,&<>()[]{}|\\".contains(byte);
        let inline = whole.split(is_delimiter).next()?;
        if matches!(whole.get(inline.len()), Some(b'(' | b'[' | b'{' | b'<')) {
            return None;
        }
        let dots = inline.iter().rev().take_while(|byte| **byte == b'.');
        let form = if !is_spaced && self.is_setting() {
            ValueForm::EnvironmentLine
        } else {
            ValueForm::Inline
        };
        Some(span(start, inline.len() - dots.count(), form))
    }

    /// Returns whether a sign in front of a value compares it: `password == value`, but not
    /// `PASSWORD==X7…`, where it is part of the value.
    pub(super) fn is_compared(&self, at: usize, value: ValueSpan, is_spaced: bool) -> bool {
        let text = self.text.get(value.start..value.end).unwrap_or_default();
        let has_sign = value.start == at && matches!(text, [b'=' | b'~', ..]);
        has_sign && (is_spaced || !has_strong(text))
    }

    /// Reads the next field of a line of a table: `name,value,`.
    pub(super) fn field(&self, at: usize) -> Option<ValueSpan> {
        let mut fields = self.after(at).split(|byte| b",\r\n".contains(byte));
        let field = fields.next()?;
        let is_mixed = field.len() >= 16 && field.iter().all(u8::is_ascii_graphic);
        (is_mixed && self.begins_line()).then(|| span(at, field.len(), ValueForm::Argument))
    }

    /// Reads a cell of a table in Markdown: a value that stands there alone.
    pub(super) fn cell(&self, at: usize) -> Option<ValueSpan> {
        let line = self.after(at).split(|byte| *byte == b'\n').next()?;
        let cell = line.windows(2).position(|pair| pair == b" |");
        let cell = line.get(..cell.unwrap_or(line.len()))?.trim_ascii_end();
        let cell = cell.strip_suffix(b"|").unwrap_or(cell);
        let value = cell
            .strip_suffix(b"`")
            .or_else(|| cell.strip_suffix(b"\""))
            .unwrap_or(cell);
        let is_word = !value.is_empty() && value.iter().all(u8::is_ascii_graphic);
        is_word.then(|| span(at, value.len(), ValueForm::Sentence))
    }

    /// `the password is value`, `password value`
    pub(super) fn sentence(&self, at: usize) -> Option<ValueSpan> {
        if let Some(literal) = self.argument(at) {
            let quote = self.text.get(literal.start - 1)?;
            let text = self.text.get(literal.start..literal.end)?;
            // `"… token " + name + "…"`
            let is_between = matches!(text, [b'+' | b',', ..])
                && (text.ends_with(b"+") || text.contains(&b'('))
                && !has_strong(text);
            return (!is_between && !self.is_inside(*quote)).then_some(literal);
        }
        let value = self.bare(at, false)?;
        let text = self.text.get(value.start..value.end)?;
        let padded = text.trim_ascii_end().strip_suffix(b"=");
        if padded.unwrap_or(text).contains(&b'=') && (!has_strong(text) || is_pair(text)) {
            // `Token token=value` has another name.
            return None;
        }
        Some(ValueSpan {
            form: ValueForm::Sentence,
            ..value
        })
    }

    /// Returns the length of a value that is random whatever signs it has, beside a name that stands
    /// apart: `password=value`, `Server=db;Password=value;Database=x`.
    fn strong_length(&self, whole: &[u8], is_spaced: bool) -> Option<usize> {
        let whole = whole.get(..512).unwrap_or(whole);
        let before = self.text.get(..self.name.start)?.last().unwrap_or(&b'\n');
        let is_tagged = self.line_before(self.name.start).contains(&b'<');
        let begins_pair = |at: usize| {
            let mut next = whole.get(at + 1..)?.split(|byte| b"&;".contains(byte));
            next.next().filter(|part| is_pair(part))
        };
        let ends = |at: usize| match (whole.get(at), whole.get(at + 1)) {
            (Some(b'&'), _) if b"?&".contains(before) => true,
            (Some(b'}'), _) if *before == b'{' => true,
            (Some(b';'), _) if *before == b';' && !whole.starts_with(b"{") => true,
            (Some(b'&' | b';'), _) => begins_pair(at).is_some(),
            (Some(quote @ (b'"' | b'\'' | b'`')), _) => self.is_inside(*quote),
            (next, after) => next == Some(&b'<') && after == Some(&b'/') && is_tagged,
        };
        let end = (0..whole.len()).find(|at| ends(*at));
        let value = whole.get(..end.unwrap_or(whole.len()))?;
        let mut braces = self.line_before(self.name.start).iter().rev();
        let is_in_braces = braces.find(|byte| b"{}".contains(byte)) == Some(&b'{');
        let is_closer = |byte: &&u8| b"\"'`,;.)".contains(byte) || **byte == b'}' && is_in_braces;
        let closers = value.iter().rev().take_while(is_closer).count();
        let value = value.get(..value.len() - closers)?;
        let name = self.name.text(self.text);
        let is_of_code = is_spaced || b",{".contains(before) || name.contains(&b'.');
        let is_call = |at: usize| {
            let before = value.get(..at).unwrap_or_default();
            let mut names = before.rsplit(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_');
            let name = names.next().unwrap_or_default();
            let is_name = name.len() > 2 && name.contains(&b'_') || words(name).any(reads_as_word);
            let rest = value.get(at + 1..).unwrap_or_default();
            matches!(value.get(at), Some(b'(' | b'['))
                && is_name
                && (!is_spaced || is_called(before))
                && !std::str::from_utf8(rest).is_ok_and(is_random_argument)
        };
        let is_member = b",{.".contains(before) || name.contains(&b'.');
        let is_code = is_of_code
            && !self.name.is_shouted(self.text)
            && (is_member || (0..value.len()).any(is_call));
        (!is_code && has_strong(value)).then_some(value.len())
    }

    /// Returns whether the name stands in a string with these quotes, as far as its line shows.
    fn is_inside(&self, quote: u8) -> bool {
        let line = self.line_before(self.name.start);
        line.split(|byte| *byte == quote).count() % 2 == 0
    }

    /// Returns whether the name is one of settings rather than of code: `PGPASSWORD=value psql`,
    /// `Server=db;Password=value`, `?password=value`.
    fn is_setting(&self) -> bool {
        let before = self.text.get(..self.name.start).unwrap_or_default();
        self.name.is_shouted(self.text) || before.last().is_some_and(|byte| b";&?=".contains(byte))
    }

    /// Returns whether the name is the first thing on its line, but for words such as `export`.
    fn begins_line(&self) -> bool {
        let head = self.line_before(self.name.start).trim_ascii();
        LINE_HEADS.all().contains(head)
    }
}

fn has_strong(value: &[u8]) -> bool {
    // What is random in and behind the bracket as well is no call: `hpog2(_Z*qbTX{7Iu^u[`.
    let is_random = |value: &str| {
        let rest = value.split_once(['(', '[']).map(|(_, rest)| rest);
        is_strong(value) && (!is_call(value) || rest.is_some_and(is_random_argument))
    };
    std::str::from_utf8(value).is_ok_and(is_random)
}

/// Returns whether what follows a bracket is random, with two signs or more that few arguments have.
fn is_random_argument(argument: &str) -> bool {
    let rare = "!#$%&*+<=>?@^{|}~".chars();
    rare.filter(|sign| argument.contains(*sign)).count() > 1 && is_strong(argument)
}

/// Returns whether other names follow in a value: `value&expires=3600`, `value;Database=x`.
fn has_pairs(whole: &[u8]) -> bool {
    let mut parts = whole.split(|byte| matches!(byte, b'&' | b';')).skip(1);
    parts.any(is_pair)
}

/// Returns whether a part of a value has a name of its own: `expires=3600`.
fn is_pair(part: &[u8]) -> bool {
    let is_of_name = |byte: &u8| byte.is_ascii_alphabetic() || b"_ -".contains(byte);
    let is_vowel = |byte: &u8| b"aeiouAEIOU".contains(byte);
    let equals = part.iter().position(|byte| *byte == b'=');
    let name = equals.and_then(|at| part.get(..at)).unwrap_or_default();
    name.len() > 2
        && name.iter().all(is_of_name)
        && name.iter().any(is_vowel)
        && words(name).all(|word| word.len() == 2 || reads_as_word(word))
}
