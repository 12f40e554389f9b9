//! A position in a text, with a limit on the characters read and the deviations from strict JSON
//! found so far.

use std::collections::BTreeSet;

use super::{Leniency, Stop};

pub(super) struct Scan<'a> {
    text: &'a str,
    /// Invariant: on a character boundary, at most the text's length.
    pub(super) at: usize,
    pub(super) steps: usize,
    pub(super) leniencies: BTreeSet<Leniency>,
}

impl<'a> Scan<'a> {
    pub(super) fn new(text: &'a str, at: usize, steps: usize) -> Self {
        Self {
            text,
            at,
            steps,
            leniencies: BTreeSet::new(),
        }
    }

    pub(super) fn tolerate(&mut self, leniency: Leniency) {
        self.leniencies.insert(leniency);
    }

    pub(super) fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Skips a character that has been peeked.
    pub(super) fn advance(&mut self, past: char) {
        self.at += past.len_utf8();
        self.steps = self.steps.saturating_sub(1);
    }

    /// Skips `length` bytes.
    pub(super) fn skip(&mut self, length: usize) {
        self.at += length;
        self.steps = self.steps.saturating_sub(length);
    }

    /// Takes the next character; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<char>, Stop> {
        if self.steps == 0 {
            return Err(Stop::Broken);
        }
        let next = self.peek();
        if let Some(next) = next {
            self.advance(next);
        }
        Ok(next)
    }

    /// Skips white space and comments.
    pub(super) fn blank(&mut self) -> Result<(), Stop> {
        loop {
            if self.steps == 0 {
                return Err(Stop::Broken);
            }
            let rest = self.rest();
            let blank = rest.len() - rest.trim_start().len();
            self.skip(blank);
            let rest = self.rest();
            let length = if rest.starts_with("//") {
                rest.find('\n').unwrap_or(rest.len())
            } else if rest.starts_with("/*") {
                rest.find("*/").map_or(rest.len(), |end| end + 2)
            } else {
                return Ok(());
            };
            self.tolerate(Leniency::Comment);
            self.skip(length);
        }
    }
}
