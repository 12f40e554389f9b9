//! The words around a signal: whether it is made, or only spoken of.

use std::ops::Range;

use crate::agent_loop::text::tables::tables;
use crate::agent_loop::text::{Message, sentences};
use crate::domain::word_list::WordList;

/// The words around a signal, in lower case.
pub(super) struct SignalContext {
    words: String,
    about: &'static WordList,
    is_quoted: bool,
}

impl SignalContext {
    /// Reads the sentence around a signal in prose.
    pub(super) fn around(text: &str, range: &Range<usize>) -> Self {
        let before = sentence_before(text.get(..range.start).unwrap_or_default());
        let after = sentence_after(text.get(range.end..).unwrap_or_default());
        let is_quoted = before.ends_with(['"', '\'', '“', '«', '「', '„', '‘'])
            || after.starts_with(['"', '\'', '”', '»', '」', '’']);
        Self {
            words: format!("{before} {after}").to_lowercase().replace('’', "'"),
            about: &tables().about,
            is_quoted,
        }
    }

    /// Reads the sentence before a block of code.
    pub(super) fn before_code(message: &Message, start: usize) -> Self {
        let before = message
            .blocks
            .iter()
            .take_while(|block| block.range.end <= start && block.range.start < start)
            .filter(|block| block.is_prose())
            .last();
        let prose = before.map_or("", |block| block.prose.as_str());
        let last = sentences(prose).last().map_or("", |sentence| sentence.text);
        let introduces = last
            .trim_end_matches(['*', '_', ' '])
            .ends_with([':', '：']);
        Self {
            words: last.to_lowercase().replace('’', "'"),
            about: if introduces {
                &tables().about
            } else {
                &tables().about_code
            },
            is_quoted: false,
        }
    }

    /// Whether the words speak of the signal instead of making it.
    pub(super) fn is_about(&self) -> bool {
        let mut words = self
            .words
            .split(|c: char| !c.is_alphanumeric() && c != '\'')
            .map(|word| word.trim_matches('\''));
        self.is_quoted
            || words.any(|word| self.about.has(word))
            || tables()
                .about_unspaced
                .iter()
                .any(|word| self.words.contains(word))
    }
}

/// Returns the beginning of the sentence that a signal ends, or the line before it that ends with a
/// colon.
fn sentence_before(text: &str) -> &str {
    let mut start = text.len();
    let mut is_own_line = true;
    for line in text.rsplit('\n') {
        let line_start = start.saturating_sub(line.len());
        let trimmed = line.trim();
        if start == text.len() {
            // The signal's own line.
            is_own_line = trimmed
                .trim_matches(|c: char| !c.is_alphanumeric())
                .is_empty();
            if let Some(end) = last_end(line) {
                return text.get(line_start + end..).unwrap_or_default();
            }
        } else if trimmed.is_empty() {
            if !is_own_line {
                return text.get(start + 1..).unwrap_or_default();
            }
        } else {
            let introduces = trimmed
                .trim_end_matches(['*', '_', ' '])
                .ends_with([':', '：']);
            if introduces {
                return text.get(line_start..).unwrap_or_default();
            }
            let after_blank = text.get(start + 1..).unwrap_or_default().starts_with('\n')
                || text.get(start..).unwrap_or_default().contains("\n\n");
            if after_blank
                || last_end(line)
                    .is_some_and(|end| line.get(end..).is_none_or(|rest| rest.trim().is_empty()))
            {
                return text.get((start + 1).min(text.len())..).unwrap_or_default();
            }
        }
        start = line_start.saturating_sub(1);
        if start == 0 {
            return text;
        }
    }
    text
}

/// Returns where the last sentence that ends in a line ends.
fn last_end(line: &str) -> Option<usize> {
    let mut ends = line.char_indices().filter(|(at, c)| {
        let after = line
            .get(at + c.len_utf8()..)
            .and_then(|rest| rest.chars().next());
        matches!(c, '.' | '!' | '?') && after.is_none_or(char::is_whitespace)
            || matches!(c, '。' | '！' | '？' | '✅' | '🎉')
    });
    ends.next_back().map(|(at, c)| at + c.len_utf8())
}

/// Returns the rest of the sentence after a signal.
fn sentence_after(text: &str) -> &str {
    let mut end = text.len();
    if let Some(line_end) = text.find('\n') {
        let next = text.get(line_end + 1..).unwrap_or_default();
        // The sentence goes on if the next line begins with a small letter.
        if next.chars().next().is_some_and(char::is_lowercase) {
            let next_end = next.find('\n').unwrap_or(next.len());
            end = line_end + 1 + next_end;
        } else {
            end = line_end;
        }
    }
    let rest = text.get(..end).unwrap_or_default();
    let stop = rest.char_indices().find(|(at, c)| {
        let after = rest
            .get(at + c.len_utf8()..)
            .and_then(|rest| rest.chars().next());
        matches!(c, '.' | '!' | '?') && after.is_none_or(char::is_whitespace)
    });
    stop.map_or(rest, |(at, _)| rest.get(..at).unwrap_or_default())
}

/// Whether a heading or a line names a part of the work: `Task 3: Parser`.
pub(super) fn names_part(text: &str) -> bool {
    let lower = text.to_lowercase();
    let has_part = lower
        .split(|c: char| !c.is_alphanumeric())
        .any(|word| tables().parts.has(word));
    has_part && lower.contains(|c: char| c.is_ascii_digit())
}
