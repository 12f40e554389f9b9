//! Reads values that stand apart from their name: behind a type, in a block, after a label, as the
//! default of a missing variable, as the text of an element.

use super::cursor::{ValueReader, ValueSpan, contains, position};
use super::literal::LONGEST_VALUE;
use crate::scrub::value::ValueForm;

impl ValueReader<'_> {
    /// `var password string = "value"`
    pub(super) fn declaration(mut self) -> Option<ValueSpan> {
        let is_type = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_*&[]".contains(byte);
        let length = self.rest().iter().take(24).take_while(is_type).count();
        self.position += length;
        self.skip_spaces();
        if length == 0 || !self.skip(b'=') {
            return None;
        }
        self.literal()
    }

    /// `variable "password" { default = "value" }`, `Password { get; set; } = "value"`
    pub(super) fn in_block(&mut self) -> Option<ValueSpan> {
        let rest = self.rest();
        let block = rest.get(..rest.len().min(240)).unwrap_or_default();
        let close = block.iter().position(|byte| *byte == b'}');
        let inside = block.get(..close.unwrap_or(block.len()))?;
        for label in ["default", "value", "Default", "Value"] {
            if let Some(at) = position(inside, label.as_bytes()) {
                let before = at.checked_sub(1).and_then(|before| inside.get(before));
                if before.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_') {
                    continue;
                }
                let mut reader = *self;
                reader.position += at;
                if reader.skip_label() {
                    return reader.literal();
                }
            }
        }
        self.position += close? + 1;
        self.skip_spaces();
        self.skip(b'=').then_some(())?;
        self.literal()
    }

    /// Skips a type between a colon and `=`: `: &'static str =`.
    pub(super) fn skip_type(&mut self) {
        let is_type = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_&<>[]?|.*: ,'".contains(byte);
        let length = self.rest().iter().take(60).take_while(is_type).count();
        let annotation = self.rest().get(..length).unwrap_or_default().trim_ascii();
        let begins_type = annotation
            .first()
            .is_some_and(|byte| byte.is_ascii_alphabetic() || b"&*[".contains(byte));
        let rest = self.rest().get(..length);
        let is_assigned = rest.is_some_and(|text| text.ends_with(b" "))
            && self.peek_at(length) == Some(b'=')
            && !matches!(self.peek_at(length + 1), Some(b'=' | b'>'));
        let is_spaced = self.peek() == Some(b' ');
        if is_assigned && begins_type && is_spaced {
            self.position += length + 1;
        }
    }

    /// Skips the label of a value that stands apart from its name: `, "value": `, `\n  value: `.
    pub(super) fn skip_label(&mut self) -> bool {
        let is_between = |byte: &&u8| byte.is_ascii_whitespace() || b",{\"'\\".contains(byte);
        let between = self.rest().iter().take(80).take_while(is_between).count();
        let rest = self.rest().get(between..).unwrap_or_default();
        let label = ["value", "default"].into_iter().find(|label| {
            let head = rest.get(..label.len()).unwrap_or_default();
            head.eq_ignore_ascii_case(label.as_bytes())
        });
        let Some(label) = label else {
            return false;
        };
        let after = rest.get(label.len()..).unwrap_or_default();
        let is_sign = |byte: &&u8| b"\"'\\ \t:=".contains(byte);
        let sign = after.iter().take(8).take_while(is_sign).count();
        let signs = after.get(..sign).unwrap_or_default();
        let Some(operator) = signs.iter().position(|byte| b":=".contains(byte)) else {
            return false;
        };
        self.position += between + label.len() + operator + 1;
        true
    }

    /// Reads the default of a missing variable: `env.KEY || "value"`.
    pub(super) fn fallback(self) -> Option<ValueSpan> {
        const MARKS: &[&str] = &[
            "||",
            "??",
            " or ",
            "unwrap_or(",
            "unwrap_or_else(|_|",
            "\", ",
            "', ",
        ];
        let rest = self.rest();
        let line = rest.get(..rest.len().min(160)).unwrap_or_default();
        let line = line.split(|byte| *byte == b'\n').next()?;
        let name = self.name.start.saturating_sub(20)..self.position;
        let before = self.text.get(name)?.to_ascii_lowercase();
        let lookup = line.get(..line.len().min(40))?.to_ascii_lowercase();
        if line.starts_with(b")") && !contains(&before, b"env") {
            return None;
        }
        if !line.starts_with(b")") && !contains(&lookup, b"env") {
            return None;
        }
        for mark in MARKS {
            if let Some(at) = position(line, mark.as_bytes()) {
                let mut reader = self;
                reader.position += at + mark.len();
                if let Some(literal) = reader.argument() {
                    return Some(literal);
                }
            }
        }
        None
    }

    /// Reads the text of an element: `<password>value</password>`.
    pub(super) fn element(&mut self) -> Option<ValueSpan> {
        self.position += 1;
        let spaces = self.rest().iter().take(80);
        self.position += spaces.take_while(|byte| byte.is_ascii_whitespace()).count();
        let mut rest = self.rest().iter().take(LONGEST_VALUE);
        let length = rest.position(|byte| *byte == b'<')?;
        let inside = self.rest().get(..length)?.trim_ascii_end().len();
        Some(self.span(inside, ValueForm::Quoted))
    }

    /// `<key>name</key><string>value</string>`
    pub(super) fn next_element(&mut self) -> Option<ValueSpan> {
        self.skip_past(b'>', 8)?;
        let spaces = self.rest().iter().take(80);
        self.position += spaces.take_while(|byte| byte.is_ascii_whitespace()).count();
        if !self.rest().starts_with(b"<string>") {
            return None;
        }
        self.position += b"<string".len();
        self.element()
    }

    pub(super) fn is_tag(&self) -> bool {
        let before = self.name.start.checked_sub(1);
        before.and_then(|at| self.text.get(at)) == Some(&b'<')
    }
}
