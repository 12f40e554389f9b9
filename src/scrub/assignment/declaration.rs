//! Reads values that stand apart from their name: behind a type, in a block, after a label.

use super::cursor::{ValueReader, ValueSpan, position};

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
        let is_assigned = self.peek_at(length) == Some(b'=')
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
}
