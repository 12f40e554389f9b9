//! The place that a reader has reached after a name, and the steps it takes from there.

use super::name::NameSpan;
use crate::scrub::value::ValueForm;

/// A value in the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct ValueSpan {
    pub(super) start: usize,
    pub(super) end: usize,
    /// The end of the first piece of a literal in several; the value is judged by it.
    pub(super) judged_end: usize,
    pub(super) form: ValueForm,
}

/// Reads on from the end of a name.
#[derive(Clone, Copy, Debug)]
pub(super) struct ValueReader<'t> {
    pub(super) text: &'t [u8],
    pub(super) position: usize,
    pub(super) name: NameSpan,
}

impl<'t> ValueReader<'t> {
    pub(super) fn new(text: &'t [u8], name: NameSpan) -> Self {
        Self {
            text,
            position: name.end,
            name,
        }
    }

    pub(super) fn rest(&self) -> &'t [u8] {
        self.text.get(self.position..).unwrap_or_default()
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.peek_at(0)
    }

    pub(super) fn peek_at(&self, offset: usize) -> Option<u8> {
        self.text.get(self.position + offset).copied()
    }

    pub(super) fn skip(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        self.position += usize::from(is_next);
        is_next
    }

    pub(super) fn skip_past(&mut self, byte: u8, limit: usize) -> Option<()> {
        let mut near = self.rest().iter().take(limit);
        self.position += near.position(|other| *other == byte)? + 1;
        Some(())
    }

    pub(super) fn skip_run(&mut self, bytes: &[u8]) {
        let run = self.rest().iter().take(3);
        self.position += run.take_while(|byte| bytes.contains(byte)).count();
    }

    pub(super) fn skip_spaces(&mut self) {
        let spaces = self.rest().iter().take(200);
        self.position += spaces
            .take_while(|byte| matches!(byte, b' ' | b'\t'))
            .count();
    }

    /// Returns what stands on the line before a place, or its last 200 bytes.
    pub(super) fn line_before(&self, at: usize) -> &'t [u8] {
        let before = self.text.get(at.saturating_sub(200)..at);
        let mut lines = before.unwrap_or_default().rsplit(|byte| *byte == b'\n');
        lines.next().unwrap_or_default()
    }

    pub(super) fn quote_at(&self, offset: usize) -> Option<(usize, u8)> {
        let rest = self.rest().get(offset..)?;
        let slashes = rest
            .iter()
            .take(8)
            .take_while(|byte| **byte == b'\\')
            .count();
        let quote = *rest.get(slashes)?;
        matches!(quote, b'"' | b'\'' | b'`').then_some((slashes, quote))
    }

    pub(super) fn skip_quote(&mut self) -> bool {
        let Some((slashes, _)) = self.quote_at(0) else {
            return false;
        };
        self.position += slashes + 1;
        true
    }

    pub(super) fn span(&self, length: usize, form: ValueForm) -> ValueSpan {
        ValueSpan {
            start: self.position,
            end: self.position + length,
            judged_end: self.position + length,
            form,
        }
    }
}

pub(super) fn contains(text: &[u8], part: &[u8]) -> bool {
    position(text, part).is_some()
}

pub(super) fn position(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}
