//! Reads values without quotes, on a line of settings, amid code or in a sentence.

use super::cursor::{ValueReader, ValueSpan};
use super::literal::LONGEST_VALUE;
use crate::scrub::value::ValueForm;
use crate::scrub::value::words::WordSet;

/// Words between a name and its value in a sentence.
static VERBS: WordSet = WordSet::new("verbs");

/// What stands before the name on a line of settings or of a shell.
static LINE_HEADS: WordSet = WordSet::new("line_heads");

impl ValueReader<'_> {
    pub(super) fn bare(&mut self, is_spaced: bool) -> Option<ValueSpan> {
        if self.rest().starts_with(b"\\\n") {
            self.position += 2;
            self.skip_spaces();
        }
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
        let is_line = is_last && !is_closed && !has_pairs(whole) && self.begins_line();
        if is_line {
            let form = if is_spaced {
                ValueForm::Line
            } else {
                ValueForm::EnvironmentLine
            };
            return Some(self.span(length, form));
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
        if padded.unwrap_or(text).contains(&b'=') {
            // `Token token=value` has another name.
            return None;
        }
        Some(ValueSpan {
            form: ValueForm::Sentence,
            ..value
        })
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

/// Returns whether other names follow in a value: `value&expires=3600`, `value;Database=x`.
fn has_pairs(whole: &[u8]) -> bool {
    let mut parts = whole.split(|byte| matches!(byte, b'&' | b';')).skip(1);
    parts.any(|part| part.contains(&b'=') && part.first().is_some_and(u8::is_ascii_alphabetic))
}
