//! The words around a signal: whether it is made, or only spoken of.

use std::ops::Range;

use crate::agent_loop::text::tables::TABLES;
use crate::agent_loop::text::{Message, has_word, sentences};
use crate::text::pattern::Pattern;
use crate::text::word_list::WordList;

/// The longest part of a text before or after a signal that is looked at, in bytes or characters.
const LONGEST: usize = 2_000;

/// The end of a sentence or of a paragraph.
static END: Pattern = Pattern::new(r"[.!?](?:\s|$)|[。！？✅🎉]|\n\s*\n");

/// Whether the sentence around a signal speaks of it instead of making it.
pub(super) fn is_about(text: &str, signal: &Range<usize>) -> bool {
    let before = sentence_before(text.get(..signal.start).unwrap_or_default());
    let after = sentence_after(text.get(signal.end..).unwrap_or_default());
    before.ends_with(['"', '\'', '“', '«', '「', '„', '‘'])
        || after.starts_with(['"', '\'', '”', '»', '」', '’'])
        || has_any(&format!("{before} {after}"), &TABLES.about)
}

/// Whether the sentence before a block of code says that the code is not the agent's own.
pub(super) fn is_code_about(message: &Message, start: usize) -> bool {
    let blocks = message.blocks.iter();
    let before = blocks.take_while(|block| block.range.end <= start && block.range.start < start);
    let prose = before.filter(|block| block.is_prose()).last();
    let last = prose.and_then(|block| sentences(&block.prose).pop());
    let last = last.map_or("", |sentence| sentence.text);
    let words = if introduces(last) {
        &TABLES.about
    } else {
        &TABLES.about_code
    };
    has_any(last, words)
}

fn has_any(sentence: &str, words: &WordList) -> bool {
    let unspaced = &TABLES.about_unspaced;
    has_word(sentence, words) || unspaced.iter().any(|word| sentence.contains(word))
}

fn introduces(line: &str) -> bool {
    line.trim_end_matches(['*', '_', ' '])
        .ends_with([':', '：'])
}

/// Returns the beginning of the sentence that a signal ends; of one on a line of its own, the
/// paragraph above it, or the line above that ends with a colon.
fn sentence_before(text: &str) -> &str {
    let start = text.len().saturating_sub(LONGEST);
    let start = (start..text.len()).find(|at| text.is_char_boundary(*at));
    let text = text.get(start.unwrap_or_default()..).unwrap_or_default();
    let line = text.rsplit('\n').next().unwrap_or_default();
    let above = text.strip_suffix(line).unwrap_or_default();
    if !line.contains(char::is_alphanumeric) {
        let lead = above.trim_end().rsplit('\n').next().unwrap_or_default();
        if introduces(lead) {
            return lead;
        }
    }
    let ends = END.all(text).filter_map(|end| Some(end.get(0)?.end()));
    text.get(ends.last().unwrap_or_default()..)
        .unwrap_or_default()
}

/// Returns the rest of the sentence after a signal, which goes on in the next line if that begins
/// with a small letter.
fn sentence_after(text: &str) -> &str {
    let end = text
        .char_indices()
        .nth(LONGEST)
        .map_or(text.len(), |(at, _)| at);
    let mut lines = text.get(..end).unwrap_or_default().split('\n');
    let first = lines.next().unwrap_or_default();
    let next = lines
        .next()
        .filter(|next| next.starts_with(char::is_lowercase));
    let length = first.len() + next.map_or(0, |next| next.len() + 1);
    let rest = text.get(..length).unwrap_or_default();
    let end = END.all(rest).find_map(|end| Some(end.get(0)?.start()));
    rest.get(..end.unwrap_or(length)).unwrap_or_default()
}

/// Whether a heading or a line names a part of the work: `Task 3: Parser`.
pub(super) fn names_part(text: &str) -> bool {
    has_word(text, &TABLES.parts) && text.contains(|c: char| c.is_ascii_digit())
}
