//! Explicit signals: status blocks, lines, tags and JSON.
//!
//! The last one wins. Signals with nothing between them are one statement, in which "not done"
//! beats "done". The prompt that asks for a signal also shows it. So a signal counts only where an
//! agent makes it: not in a quote or a comment, not in a sentence about it, and in code only in the
//! last block of the message.

mod field;
mod find;

use std::ops::Range;

use self::field::Field;
use super::LONGEST_UNMASKED;
use crate::agent_loop::text::{BlockKind, Message, TABLES, has_word, sentences};
use crate::stopping::exit_check::evidence::{StatedState, StatusSignal};
use crate::text::clean::shortened_unmasked;
use crate::text::pattern::Pattern;
use crate::text::word_list::WordList;

/// The signals of a message.
#[derive(Debug, Default)]
pub(super) struct StatusSignals {
    pub(super) signal: Option<StatusSignal>,
    /// Where signals stand; they are not prose.
    pub(super) ranges: Vec<Range<usize>>,
    /// The confidence that the last block with a signal states, in percent.
    pub(super) confidence: Option<u8>,
}

/// One signal in the text.
#[derive(Clone, Debug)]
struct StatedSignal {
    range: Range<usize>,
    state: StatedState,
    source: String,
    confidence: Option<u8>,
    /// A line such as `Status: done`, which may speak of a part.
    is_weak: bool,
}

impl StatedSignal {
    /// The first that weighs most.
    fn of_fields(fields: &[Field], range: Range<usize>) -> Option<Self> {
        let stated = fields
            .iter()
            .filter_map(|field| Some((field.state()?, field)));
        let (state, field) = stated.rev().max_by_key(|(state, _)| *state)?;
        Some(Self {
            range,
            confidence: fields.iter().rev().find_map(Field::confidence),
            ..Self::of_text(&field.source, 0, state)
        })
    }

    fn of_text(source: &str, start: usize, state: StatedState) -> Self {
        Self {
            range: start..start + source.len(),
            state,
            source: source.to_owned(),
            confidence: None,
            is_weak: false,
        }
    }

    fn is_done(&self) -> bool {
        self.state == StatedState::Done
    }
}

/// With a promise, it is the only text of `<promise>` that counts.
pub(super) fn read(message: &Message, promise: Option<&str>) -> StatusSignals {
    let mut signals = find::find(&message.visible, promise);
    signals.retain(|signal| {
        let is_of_others = message.is_in_code(signal.range.start)
            || signal.is_done() && is_about(&message.text, &signal.range);
        !is_of_others
    });
    if let Some(code) = last_code(message) {
        let mut of_code = find::find(message.source(code.clone()), promise);
        for signal in &mut of_code {
            signal.range = code.start + signal.range.start..code.start + signal.range.end;
        }
        let is_of_others = is_code_about(message, code.start);
        of_code.retain(|signal| {
            !signal.is_done() || !is_of_others && !is_about(&message.text, &signal.range)
        });
        signals.extend(of_code);
    }
    signals.sort_by_key(|signal| signal.range.start);
    drop_parts(&mut signals, message);
    let mut ranges = find::event_ranges(&message.visible);
    ranges.extend(signals.iter().map(|signal| signal.range.clone()));
    StatusSignals {
        signal: last_statement(&signals, message),
        ranges,
        confidence: signals.iter().rev().find_map(|signal| signal.confidence),
    }
}

/// Returns the range of what the last block shows, if it is code in which an agent may state its
/// status: a closed fence of text, or a paragraph of nothing but inline code.
fn last_code(message: &Message) -> Option<Range<usize>> {
    /// A closed fence with a language that is no program.
    static FENCE: Pattern = Pattern::new(
        r"(?is)^\s*(?:```+|~~~+)[ \t]*(?:text|txt|plaintext|plain|json|xml|html|yaml|markdown|md)?[ \t]*\n(.*\n)?[ \t>]*(?:```+|~~~+)\s*$",
    );
    let last = message.blocks.last()?;
    if last.kind != BlockKind::Code {
        return last.is_only_code().then(|| last.range.clone());
    }
    let fence = FENCE.all(message.source(last.range.clone())).next()?;
    let content = fence.get(1)?;
    Some(last.range.start + content.start()..last.range.start + content.end())
}

/// Drops `Status: done` where it speaks of a part: under the heading of a task, or beside another
/// part that is not done.
fn drop_parts(signals: &mut Vec<StatedSignal>, message: &Message) {
    let is_open_part = |signal: &StatedSignal| signal.is_weak && !signal.is_done();
    let has_open_part = signals.iter().any(is_open_part);
    signals.retain(|signal| {
        let may_be_of_part = signal.is_weak && signal.is_done();
        !may_be_of_part || !has_open_part && !is_under_part(message, signal.range.start)
    });
}

fn is_under_part(message: &Message, at: usize) -> bool {
    let blocks = message.blocks.iter();
    let above = blocks.take_while(|block| block.range.start < at);
    let headings = above.filter(|block| matches!(block.kind, BlockKind::Heading(_)));
    let heading = headings.last().map_or("", |heading| heading.prose.as_str());
    let mut lines = message.source(0..at).rsplit('\n');
    let line_above = lines.nth(1).unwrap_or_default();
    // `Task 3: Parser`
    let names_part = |text: &str| {
        has_word(text, TABLES.list("parts")) && text.contains(|c: char| c.is_ascii_digit())
    };
    names_part(heading) || names_part(line_above)
}

fn last_statement(signals: &[StatedSignal], message: &Message) -> Option<StatusSignal> {
    let mut deciding = signals.last()?;
    let mut start = deciding.range.start;
    for signal in signals.iter().rev().skip(1) {
        // A tag may lie within a line that is a signal too.
        let between = message.source(signal.range.end..start.max(signal.range.end));
        if between.contains(char::is_alphanumeric) {
            break;
        }
        if signal.state > deciding.state {
            deciding = signal;
        }
        start = start.min(signal.range.start);
    }
    Some(StatusSignal {
        state: deciding.state,
        source: shortened_unmasked(&deciding.source, LONGEST_UNMASKED),
    })
}

/// The longest part of a text before or after a signal that is looked at, in bytes or characters.
const LONGEST: usize = 2_000;

/// The end of a sentence or of a paragraph.
static END: Pattern = Pattern::new(r"[.!?](?:\s|$)|[。！？✅🎉]|\n\s*\n");

/// Whether the sentence around a signal speaks of it instead of making it.
fn is_about(text: &str, signal: &Range<usize>) -> bool {
    let before = sentence_before(text.get(..signal.start).unwrap_or_default());
    let after = sentence_after(text.get(signal.end..).unwrap_or_default());
    before.ends_with(['"', '\'', '“', '«', '「', '„', '‘'])
        || after.starts_with(['"', '\'', '”', '»', '」', '’'])
        || has_any(&format!("{before} {after}"), TABLES.list("about"))
}

/// Whether the sentence before a block of code says that the code is not the agent's own.
fn is_code_about(message: &Message, start: usize) -> bool {
    let blocks = message.blocks.iter();
    let before = blocks.take_while(|block| block.range.end <= start && block.range.start < start);
    let prose = before.filter(|block| block.is_prose()).last();
    let last = prose.and_then(|block| sentences(&block.prose).pop());
    let last = last.map_or("", |sentence| sentence.text);
    if introduces(last) {
        return has_any(last, TABLES.list("about"));
    }
    // `A JSON output might be handy` is an idea, no instruction.
    let is_idea = has_word(last, &["might", "could", "would"]);
    let has = |list| has_any(last, TABLES.list(list));
    has("about_code") && has("signals") && !is_idea
}

fn has_any(sentence: &str, words: &WordList) -> bool {
    has_word(sentence, words) || TABLES.list("about_unspaced").are_in(sentence)
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
    let mut letters = text.char_indices();
    let end = letters.nth(LONGEST).map_or(text.len(), |(at, _)| at);
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

#[cfg(test)]
mod tests;
