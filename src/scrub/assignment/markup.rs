//! Reads values of elements: `<password>value</password>`, `<key>name</key><string>value</string>`.

use super::cursor::{ValueReader, ValueSpan};
use super::literal::LONGEST_VALUE;
use crate::scrub::value::ValueForm;

impl ValueReader<'_> {
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
