//! Removes the entries that move away.

use std::ops::Range;

use super::super::super::super::byte_edit::ByteEdit;
use super::super::super::lines::{is_blank, is_blank_at, is_blank_before, line_start};
use super::super::super::outline::ListEntry;
use super::super::check::SEPARATOR;
use super::{Joins, Placing};

impl Placing<'_> {
    /// Returns where entries move away that follow each other.
    pub(super) fn moved_runs(&self, entries: &[ListEntry]) -> Vec<Range<usize>> {
        let mut runs: Vec<Range<usize>> = Vec::new();
        for (at, entry) in entries.iter().enumerate() {
            if !self.moved.contains(&entry.range.start) {
                continue;
            }
            match runs.last_mut() {
                Some(run) if run.end == at => run.end = at + 1,
                _ => runs.push(at..at + 1),
            }
        }
        runs
    }

    /// Removes entries that follow each other, with the blank lines that separate them from others.
    pub(super) fn remove(&mut self, entries: &[ListEntry], run: &Range<usize>) {
        let (Some(first), Some(last)) = (entries.get(run.start), entries.get(run.end - 1)) else {
            return;
        };
        let before = run.start.checked_sub(1).and_then(|at| entries.get(at));
        let after = entries.get(run.end);
        let mut range = first.range.start..last.range.end;
        let mut text = String::new();
        if self.joins == Joins::Separated {
            text = self.separator(is_blank_before(self.text, range.start));
            if !is_blank_at(self.text, range.end) {
                text.push_str(self.ending);
            }
        } else if let Some(after) = after {
            range.end = after.range.start;
            let may_join = after.marker.sign.interrupts_paragraphs();
            if before.is_none() && !may_join && !is_blank_before(self.text, range.start) {
                text.push_str(self.ending);
            }
        } else if is_blank_at(self.text, range.end) {
            match before {
                Some(before) => range.start = before.range.end,
                None => {
                    self.emptied.insert(range.start);
                }
            }
        } else if !is_blank_before(self.text, range.start) && !self.is_heading_at(range.end) {
            text.push_str(self.ending);
        }
        self.edits.push(ByteEdit { range, text });
    }

    /// Removes one of the two blank lines around each list that is gone and not begun again.
    pub(super) fn close_gaps(&mut self) {
        for edit in &mut self.edits {
            let start = edit.range.start;
            if !self.emptied.contains(&start) || self.insertions.has_text_at(edit.range.end) {
                continue;
            }
            let blank = line_start(self.text, start.saturating_sub(1));
            let line = self.text.get(blank..start).unwrap_or_default();
            if !line.is_empty() && is_blank(line) {
                edit.range.start = blank;
            }
        }
    }

    /// Returns the comment that ends a list where a blank line does not.
    pub(super) fn separator(&self, follows_blank: bool) -> String {
        let blank = if follows_blank { "" } else { self.ending };
        format!("{blank}{SEPARATOR}{}", self.ending)
    }

    fn is_heading_at(&self, at: usize) -> bool {
        self.text
            .get(at..)
            .is_some_and(|rest| rest.starts_with('#'))
    }
}
