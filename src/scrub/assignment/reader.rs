//! Decides by the sign after a name how its value is read.

use super::cursor::{ValueReader, ValueSpan};
use crate::scrub::value::ValueForm;

impl ValueReader<'_> {
    /// `None` if nothing is assigned.
    pub(super) fn value(mut self) -> Option<ValueSpan> {
        let is_quoted_name = self.skip_quote();
        while self.skip(b']') || self.skip(b'?') || self.skip(b'!') {}
        let before_spaces = self.position;
        self.skip_spaces();
        let is_spaced = self.position > before_spaces;
        if is_spaced && !is_quoted_name && self.is_flag() {
            return self.assigned(false);
        }
        match self.peek()? {
            b'=' if matches!(self.peek_at(1), Some(b'=' | b'~')) => {
                self.position += 1;
                let mut setting = self;
                self.skip_run(b"=~");
                self.argument()
                    .or_else(|| setting.strong_setting(is_spaced))
            }
            b'=' => {
                self.position += 1;
                self.skip(b'>');
                self.assigned(is_spaced)
            }
            b'.' if self.peek_at(1) == Some(b'=') => {
                self.position += 2;
                self.literal()
            }
            b'-' if self.peek_at(1) == Some(b' ') => {
                self.position += 1;
                self.argument()
            }
            b':' if self.is_walrus() => self.assigned(true),
            b':' if self.peek_at(1) == Some(b':') => None,
            b':' => self.after_colon(),
            b'!' => {
                self.skip_run(b"!=");
                self.argument()
            }
            b'<' if self.rest().starts_with(b"</key>") => self.next_element(),
            b')' if is_quoted_name => self.fallback(),
            b'|' if self.is_cell() => self.sentence(),
            b'?' | b'|' | b'+' | b'<' => {
                self.skip_run(b"?|+<");
                if !self.skip(b'=') && !self.skip(b'-') {
                    return None;
                }
                self.assigned(true)
            }
            b',' => {
                self.position += 1;
                match self.skip_label() {
                    true => self.assigned(true),
                    false if self.is_set_symbol() => self.literal(),
                    false if is_quoted_name => self.argument(),
                    false => self.field(),
                }
            }
            b'(' if !is_quoted_name => {
                self.position += 1;
                self.argument()
            }
            b'{' => self.in_block(),
            b'>' if is_quoted_name || self.is_tag() => self.element(),
            b'\n' | b'\r' | b'v' | b'V' | b'd' if self.skip_label() => self.assigned(true),
            _ if is_quoted_name || !is_spaced => None,
            quote @ (b'"' | b'\'' | b'`') => {
                let literal = self.argument()?;
                let text = self.text.get(literal.start..literal.end)?;
                // `"… token " + name + "…"`
                let is_between = matches!(text, [b'+' | b',', ..])
                    && (text.ends_with(b"+") || text.contains(&b'('));
                (!is_between && !self.is_inside(quote)).then_some(literal)
            }
            _ => self.declaration().or_else(|| self.sentence()),
        }
    }

    fn after_colon(&mut self) -> Option<ValueSpan> {
        self.position += 1;
        self.skip_type();
        if self.rest().starts_with(b"** ") {
            // `**API key:** value`
            self.position += 3;
        }
        self.skip_spaces();
        if self.peek() == Some(b'{') && self.peek_at(1) != Some(b'{') {
            return self.in_block();
        }
        if let Some(block) = self.block_scalar() {
            return Some(block);
        }
        let value = self.assigned(true)?;
        if value.form != ValueForm::Inline {
            return Some(value);
        }
        let after = self.text.get(value.end..).unwrap_or_default();
        let after = after.iter().find(|byte| !matches!(byte, b' ' | b'\t'));
        let is_type = after.is_some_and(|byte| b",)=;{}".contains(byte));
        Some(ValueSpan {
            form: if is_type {
                ValueForm::Annotation
            } else {
                value.form
            },
            ..value
        })
    }

    fn assigned(&mut self, is_spaced: bool) -> Option<ValueSpan> {
        let start = self.position;
        if let Some(literal) = self.literal() {
            return Some(literal);
        }
        self.position = start;
        self.skip_spaces();
        let is_spaced = is_spaced || self.position > start;
        self.fallback().or_else(|| self.bare(is_spaced))
    }

    /// Skips `:=`, `::=` or `:::=`.
    fn is_walrus(&mut self) -> bool {
        let colons = self.rest().iter().take_while(|byte| **byte == b':').count();
        let is_walrus = colons < 4 && self.peek_at(colons) == Some(b'=');
        self.position += if is_walrus { colons + 1 } else { 0 };
        is_walrus
    }

    /// Skips the sign between the cells of `| password | value |`.
    fn is_cell(&mut self) -> bool {
        let line = self.line_before(self.name.start);
        let is_cell = line.trim_ascii_start().starts_with(b"|") && self.peek_at(1) == Some(b' ');
        self.position += if is_cell { 2 } else { 0 };
        is_cell
    }

    /// `set :password, "value"`
    fn is_set_symbol(&self) -> bool {
        let before = self.text.get(..self.name.start).unwrap_or_default();
        before.ends_with(b"set :")
    }

    /// `--password`, `ENV PASSWORD`
    fn is_flag(&self) -> bool {
        let before = self.text.get(..self.name.start).unwrap_or_default();
        let name = self.text.get(self.name.start..).unwrap_or_default();
        name.starts_with(b"--") && !self.rest().starts_with(b"=")
            || before.ends_with(b"ENV ")
            || before.ends_with(b"setx ")
    }
}
