//! Reads values without quotes, on a line of settings, amid code or in a sentence.

use super::cursor::{ValueReader, ValueSpan};
use super::literal::LONGEST_VALUE;
use crate::scrub::value::ValueForm;
use crate::scrub::value::name::is_call;
use crate::scrub::value::random::is_strong;
use crate::scrub::value::words::WordSet;

/// Words between a name and its value in a sentence.
static VERBS: WordSet = WordSet::new("verbs");

/// What stands before the name on a line of settings or of a shell.
static LINE_HEADS: WordSet = WordSet::new("line_heads");

impl ValueReader<'_> {
    pub(super) fn bare(&mut self, is_spaced: bool) -> Option<ValueSpan> {
        let rest = self.rest();
        let rest = rest
            .get(..rest.len().min(LONGEST_VALUE))
            .unwrap_or_default();
        let length = rest
            .iter()
            .position(u8::is_ascii_whitespace)
            .unwrap_or(rest.len());
        let whole = rest.get(..length)?;
        let tail = rest.get(length..)?;
        let tail = tail.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let is_last = matches!(tail.trim_ascii(), [] | [b'#', ..]);
        let is_closed = whole.ends_with(b",") || whole.ends_with(b";");
        let is_line = is_last && !has_pairs(whole) && self.begins_line();
        let is_word = whole.iter().all(u8::is_ascii_lowercase);
        let before = self.text.get(..self.position).unwrap_or_default();
        if is_line && is_word && is_spaced && before.trim_ascii_end().ends_with(b"=") {
            // `password = content` in code
            return None;
        }
        if is_line && (!is_closed || has_strong(whole.get(..length - 1)?)) {
            let form = if is_spaced {
                ValueForm::Line
            } else {
                ValueForm::EnvironmentLine
            };
            return Some(self.span(length, form));
        }
        if let Some(length) = self.strong_length(whole) {
            return Some(self.span(length, ValueForm::EnvironmentLine));
        }
        let is_delimiter = |byte: &u8| b"\"'`;,&<>()[]{}|\\".contains(byte);
        let inline = whole.iter().position(is_delimiter).unwrap_or(length);
        if matches!(whole.get(inline), Some(b'(' | b'[' | b'{' | b'<')) {
            return None;
        }
        let whole = whole.get(..inline)?;
        let dots = whole.iter().rev().take_while(|byte| **byte == b'.').count();
        let form = if !is_spaced && self.is_setting() {
            ValueForm::EnvironmentLine
        } else {
            ValueForm::Inline
        };
        Some(self.span(inline - dots, form))
    }

    /// `PASSWORD==value`, where the value begins with a sign of comparisons.
    pub(super) fn strong_setting(&mut self, is_spaced: bool) -> Option<ValueSpan> {
        let value = self.bare(is_spaced)?;
        let text = self.text.get(value.start..value.end)?;
        (!is_spaced && has_strong(text)).then_some(value)
    }

    /// Reads the next field of a line of a table: `name,value,`.
    pub(super) fn field(&mut self) -> Option<ValueSpan> {
        let rest = self.rest().iter().take(LONGEST_VALUE);
        let length = rest
            .take_while(|byte| byte.is_ascii_graphic() && **byte != b',')
            .count();
        let is_end = matches!(self.peek_at(length), None | Some(b',' | b'\r' | b'\n'));
        let is_mixed = length >= 16 && is_end && self.begins_line();
        is_mixed.then(|| self.span(length, ValueForm::Argument))
    }

    /// Reads the only line of a block of YAML: `name: |`, and the value below.
    pub(super) fn block_scalar(&self) -> Option<ValueSpan> {
        if !matches!(self.peek(), Some(b'|' | b'>')) {
            return None;
        }
        let rest = self.rest().get(1..)?;
        let rest = rest.get(..rest.len().min(LONGEST_VALUE))?;
        let mut lines = rest.split(|byte| *byte == b'\n');
        let (marks, line) = (lines.next()?, lines.next()?);
        let is_mark = |byte: &u8| byte.is_ascii_whitespace() || b"+-123456789".contains(byte);
        let indent = line.len() - line.trim_ascii_start().len();
        let mut reader = *self;
        reader.position += 1 + marks.len() + 1 + indent;
        let is_block = marks.iter().all(is_mark) && indent > 0;
        is_block.then(|| reader.span(line.trim_ascii().len(), ValueForm::Line))
    }

    /// `the password is value`, `password value`
    pub(super) fn sentence(&mut self) -> Option<ValueSpan> {
        for verb in VERBS.all() {
            let rest = self.rest();
            let next = rest.get(verb.len());
            if rest.starts_with(verb) && next.is_some_and(|byte| b" :".contains(byte)) {
                self.position += verb.len();
                self.skip(b':');
                self.skip_spaces();
                break;
            }
        }
        let start = self.position;
        if let Some(literal) = self.argument() {
            return Some(literal);
        }
        self.position = start;
        let value = self.bare(true)?;
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
    fn strong_length(&self, whole: &[u8]) -> Option<usize> {
        let name = self.text.get(self.name.start..self.name.end)?;
        let whole = whole.get(..whole.len().min(512))?;
        let before = self.name.start.checked_sub(1);
        let before = before.and_then(|at| self.text.get(at)).unwrap_or(&b'\n');
        let is_apart = before.is_ascii_whitespace() || b"\"'`;&?-(*".contains(before);
        let next = self.text.get(self.name.end);
        let is_key = next.is_some_and(|byte| b"\"'".contains(byte));
        if !is_apart || is_key || name.contains(&b'.') {
            return None;
        }
        let is_braced = *before == b';' && whole.starts_with(b"{");
        let begins_pair = |at: usize| {
            let next = whole.get(at + 1..).unwrap_or_default();
            let end = next.iter().position(|byte| b"&;".contains(byte));
            next.get(..end.unwrap_or(next.len())).is_some_and(is_pair)
        };
        let ends = |at: usize| match (whole.get(at), whole.get(at + 1)) {
            (Some(b'}'), after) if is_braced => after.is_none_or(|after| b";\"'".contains(after)),
            (Some(b';'), _) if *before == b';' => !is_braced,
            (Some(b'&'), _) if b"?&".contains(before) => true,
            (Some(b'&' | b';'), _) => begins_pair(at),
            (Some(quote @ (b'"' | b'\'' | b'`')), _) => self.is_inside(*quote),
            (next, after) => next == Some(&b'<') && after == Some(&b'/'),
        };
        let end = (0..whole.len()).find(|at| ends(*at));
        let end = end.map_or(whole.len(), |end| end + usize::from(is_braced));
        let value = whole.get(..end)?;
        let is_closer = |byte: &&u8| b"\"'`,;.)".contains(byte);
        let closers = value.iter().rev().take_while(is_closer).count();
        let length = value.len() - closers;
        let is_call = |pair: &[u8]| matches!(pair, [a, b'(' | b'['] if a.is_ascii_alphanumeric());
        let is_code = !self.is_among_settings() && value.windows(2).any(is_call);
        (!is_code && has_strong(value.get(..length)?)).then_some(length)
    }

    /// Returns whether the name is one of settings, or follows another: `user=app password=value`.
    fn is_among_settings(&self) -> bool {
        let line = self.line_before(self.name.start);
        let mut words = line.rsplit(u8::is_ascii_whitespace).skip(1);
        let is_setting = |word: &[u8]| word.contains(&b'=') && !word.ends_with(b"=");
        let between = self.text.get(self.name.end..self.position);
        let is_verb = |byte: &u8| byte.is_ascii_alphabetic() || *byte == b'|';
        let is_verbal = between.is_some_and(|between| between.iter().any(is_verb));
        self.name.is_shouted(self.text) || is_verbal || words.next().is_some_and(is_setting)
    }

    /// Returns whether the name stands in a string with these quotes, as far as its line shows.
    pub(super) fn is_inside(&self, quote: u8) -> bool {
        let line = self.line_before(self.name.start);
        line.split(|byte| *byte == quote).count() % 2 == 0
    }

    /// Returns whether the name is one of settings rather than of code: `PGPASSWORD=value psql`,
    /// `Server=db;Password=value`, `?password=value`.
    fn is_setting(&self) -> bool {
        let name = self.text.get(self.name.start..self.name.end);
        let has = |is: fn(&u8) -> bool| name.is_some_and(|name| name.iter().any(is));
        let is_shouted = self.name.is_shouted(self.text);
        let is_member = has(|byte| *byte == b'.');
        let before = self.text.get(..self.name.start).unwrap_or_default();
        is_shouted || !is_member && before.last().is_some_and(|byte| b";&?=".contains(byte))
    }

    /// Returns whether the name is the first thing on its line, but for words such as `export`.
    fn begins_line(&self) -> bool {
        let before = self.text.get(..self.name.start).unwrap_or_default();
        let line = before.iter().rev().take(80).position(|byte| *byte == b'\n');
        let start = match line {
            Some(distance) => before.len() - distance,
            None if before.len() <= 80 => 0,
            None => return false,
        };
        let head = before.get(start..).unwrap_or_default().trim_ascii();
        LINE_HEADS.all().contains(head)
    }
}

fn has_strong(value: &[u8]) -> bool {
    std::str::from_utf8(value).is_ok_and(|value| is_strong(value) && !is_call(value))
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
    name.len() > 2 && name.iter().all(is_of_name) && name.iter().any(is_vowel)
}
