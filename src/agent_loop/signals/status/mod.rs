//! Explicit signals: status blocks, lines, tags and JSON.
//!
//! The last one wins. Signals with nothing between them are one statement, in which "not done" beats
//! "done". An agent is asked for its signal by a prompt that shows it, so that a signal must stand
//! where an agent makes it: not in a quote or a comment, not in a sentence about it, and in code only
//! if that is the last block of the message.

mod field;
mod find;
mod context;

use std::ops::Range;

use super::LONGEST_UNMASKED;
use crate::agent_loop::text::{BlockKind, Message};
use crate::stopping::exit_check::evidence::{StatedState, StatusSignal};
use crate::text::clean::shortened_unmasked;
use crate::text::pattern::Pattern;
use field::Field;

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
struct Signal {
    range: Range<usize>,
    state: StatedState,
    source: String,
    confidence: Option<u8>,
    /// A line such as `Status: done`, which may speak of a part.
    is_weak: bool,
}

impl Signal {
    /// Returns what fields state together: the first that weighs most.
    fn of_fields(fields: &[Field], range: Range<usize>) -> Option<Self> {
        let stated = fields
            .iter()
            .filter_map(|field| Some((field.state()?, field)));
        let (state, field) = stated.rev().max_by_key(|(state, _)| *state)?;
        Some(Self {
            range,
            state,
            source: field.source.clone(),
            confidence: fields.iter().rev().find_map(Field::confidence),
            is_weak: false,
        })
    }

    fn of_tag(tag: &str, start: usize, state: StatedState) -> Self {
        Self {
            range: start..start + tag.len(),
            state,
            source: tag.to_owned(),
            confidence: None,
            is_weak: false,
        }
    }

    fn is_done(&self) -> bool {
        self.state == StatedState::Done
    }
}

/// Finds the signals of a message. With a promise, it is the only text of `<promise>` that counts.
pub(super) fn read(message: &Message, promise: Option<&str>) -> StatusSignals {
    let mut signals = find::find(&message.visible, promise);
    signals.retain(|signal| {
        let is_of_others = message.is_in_code(signal.range.start)
            || signal.is_done() && context::is_about(&message.visible, &signal.range);
        !is_of_others
    });
    if let Some(code) = last_code(message) {
        let mut of_code = find::find(message.source(code.clone()), promise);
        for signal in &mut of_code {
            signal.range = code.start + signal.range.start..code.start + signal.range.end;
        }
        let is_about = context::is_code_about(message, code.start);
        of_code.retain(|signal| {
            !signal.is_done() || !is_about && !context::is_about(&message.text, &signal.range)
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
fn drop_parts(signals: &mut Vec<Signal>, message: &Message) {
    let is_open_part = |signal: &Signal| signal.is_weak && !signal.is_done();
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
    [heading, line_above].into_iter().any(context::names_part)
}

/// Returns what the last signals say together.
fn last_statement(signals: &[Signal], message: &Message) -> Option<StatusSignal> {
    let mut deciding = signals.last()?;
    let mut start = deciding.range.start;
    for signal in signals.iter().rev().skip(1) {
        // A tag may lie within a line that is a signal too.
        if message
            .source(signal.range.end..start.max(signal.range.end))
            .contains(char::is_alphanumeric)
        {
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

#[cfg(test)]
mod tests;
