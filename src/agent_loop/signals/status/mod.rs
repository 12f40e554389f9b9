//! Explicit signals: status blocks, lines, tags and JSON.
//!
//! The last one wins. Signals with nothing between them are one statement, in which "not done" beats
//! "done". An agent is asked for its signal by a prompt that shows it, so that a signal must stand
//! where an agent makes it: not in a quote or a comment, not in a sentence about it, and in code only
//! if that is the last block of the message.

mod line;
mod tag;
mod json;
mod context;
mod value;

use std::ops::Range;

use super::LONGEST_UNMASKED;
use crate::agent_loop::text::{Block, BlockKind, Message};
use crate::stopping::exit_check::evidence::{StatedState, StatusSignal};
use context::SignalContext;
use value::{FieldValue, percent_of, state_of, truth_of};

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
struct SignalCandidate {
    range: Range<usize>,
    state: StatedState,
    source: String,
    confidence: Option<u8>,
    /// A line such as `Status: done`, which may speak of a part.
    is_weak: bool,
}

/// Finds the signals of a message. With a promise, it is the only text of `<promise>` that counts.
pub(super) fn read(message: &Message, promise: Option<&str>) -> StatusSignals {
    let mut candidates = find(&message.visible, 0, message, promise, false);
    candidates.retain(|candidate| !message.is_in_code(candidate.range.start));
    if let Some(code) = last_code(message) {
        let source = message.source(code.clone());
        let mut fenced = find(source, code.start, message, promise, true);
        fenced.retain(|candidate| {
            candidate.state != StatedState::Done
                || !SignalContext::before_code(message, code.start).is_about()
                    && !SignalContext::around(&message.text, &candidate.range).is_about()
        });
        candidates.extend(fenced);
    }
    candidates.sort_by_key(|candidate| candidate.range.start);
    drop_parts(&mut candidates, message);
    let mut ranges = tag::events(&message.visible);
    ranges.extend(candidates.iter().map(|candidate| candidate.range.clone()));
    let confidence = candidates
        .iter()
        .rev()
        .find_map(|candidate| candidate.confidence);
    StatusSignals {
        signal: last_statement(&candidates, message),
        ranges,
        confidence,
    }
}

/// Returns the range of the last block if it is code in which an agent may state its status: a closed
/// fence of text, or a paragraph of nothing but inline code.
fn last_code(message: &Message) -> Option<Range<usize>> {
    let last = message.blocks.last()?;
    let is_code = match last.kind {
        BlockKind::Code => is_fence_of_text(message.source(last.range.clone())),
        _ => last.is_only_code(),
    };
    is_code.then(|| last.range.clone())
}

/// The languages of fences that are no program.
const TEXT_LANGUAGES: [&str; 11] = [
    "",
    "text",
    "txt",
    "plaintext",
    "plain",
    "json",
    "xml",
    "html",
    "yaml",
    "markdown",
    "md",
];

fn is_fence_of_text(code: &str) -> bool {
    let code = code.trim();
    let Some(mark @ ('`' | '~')) = code.chars().next() else {
        return false;
    };
    let (first, rest) = code.split_once('\n').unwrap_or((code, ""));
    let language = first.trim_start_matches(mark).trim().to_lowercase();
    let last = rest.rsplit('\n').next().unwrap_or_default().trim();
    let is_closed = last.len() >= 3 && last.chars().all(|c| c == mark);
    is_closed && TEXT_LANGUAGES.contains(&language.as_str())
}

fn find(
    text: &str,
    offset: usize,
    message: &Message,
    promise: Option<&str>,
    is_code: bool,
) -> Vec<SignalCandidate> {
    let mut candidates = line::find(text, promise);
    candidates.extend(tag::find(text, promise));
    candidates.extend(json::find(text));
    for candidate in &mut candidates {
        candidate.range.start += offset;
        candidate.range.end += offset;
    }
    if !is_code {
        candidates.retain(|candidate| {
            candidate.state != StatedState::Done
                || !SignalContext::around(&message.visible, &candidate.range).is_about()
        });
    }
    candidates
}

/// Drops `Status: done` where it speaks of a part: under the heading of a task, or beside another
/// part that is not done.
fn drop_parts(candidates: &mut Vec<SignalCandidate>, message: &Message) {
    let weak_open = candidates
        .iter()
        .any(|candidate| candidate.is_weak && candidate.state != StatedState::Done);
    candidates.retain(|candidate| {
        !candidate.is_weak
            || candidate.state != StatedState::Done
            || !weak_open && !is_under_part(message, candidate.range.start)
    });
}

fn is_under_part(message: &Message, at: usize) -> bool {
    let before = message
        .blocks
        .iter()
        .take_while(|block| block.range.start < at);
    let heading = before
        .filter(|block| matches!(block.kind, BlockKind::Heading(_)))
        .last();
    let above = previous_line(&message.text, at);
    heading.is_some_and(|heading: &Block| context::names_part(&heading.prose))
        || context::names_part(above)
}

/// Returns the line before the one at a place.
fn previous_line(text: &str, at: usize) -> &str {
    let before = text.get(..at).unwrap_or_default();
    let mut lines = before.rsplit('\n');
    lines.next();
    lines.next().unwrap_or_default()
}

/// Returns what the last signals say together.
fn last_statement(candidates: &[SignalCandidate], message: &Message) -> Option<StatusSignal> {
    let mut deciding = candidates.last()?;
    let mut start = deciding.range.start;
    for candidate in candidates.iter().rev().skip(1) {
        let between = message
            .text
            .get(candidate.range.end..start)
            .unwrap_or_default();
        // A tag may lie within a line that is a signal too.
        if between.contains(char::is_alphanumeric) {
            break;
        }
        if weight(candidate.state) > weight(deciding.state) {
            deciding = candidate;
        }
        start = start.min(candidate.range.start);
    }
    Some(StatusSignal {
        state: deciding.state,
        source: deciding.source.chars().take(LONGEST_UNMASKED).collect(),
    })
}

fn weight(state: StatedState) -> u8 {
    match state {
        StatedState::Done => 0,
        StatedState::NotDone => 1,
        StatedState::Blocked => 2,
    }
}

/// Returns the heavier of two states.
fn heavier(
    first: Option<(StatedState, String)>,
    second: (StatedState, String),
) -> (StatedState, String) {
    match first {
        Some(first) if weight(first.0) >= weight(second.0) => first,
        _ => second,
    }
}

/// Reads a field of a status block: its state, if the key is known and the value says one.
fn field_state(key: &str, value: &FieldValue<'_>) -> Option<StatedState> {
    let key = value::normal_key(key);
    match key.as_str() {
        "exit signal"
        | "exit"
        | "should exit"
        | "all tasks complete"
        | "all tasks completed"
        | "project complete"
        | "is complete"
        | "is done"
        | "done"
        | "complete"
        | "completed"
        | "work complete"
        | "task complete"
        | "completion signal"
        | "loop complete" => {
            let truth = match value {
                FieldValue::Truth(truth) => Some(*truth),
                FieldValue::Text(text) => truth_of(text),
            }?;
            Some(if truth {
                StatedState::Done
            } else {
                StatedState::NotDone
            })
        }
        "status" | "overall status" | "project status" | "final status" | "loop status"
        | "completion status" | "current status" | "ralph status" | "state" | "overall"
        | "statut" | "estado" | "статус" | "状态" | "狀態" | "ステータス" => {
            match value {
                FieldValue::Truth(_) => None,
                FieldValue::Text(text) => state_of(text),
            }
        }
        // An agent that says "complete" with failing tests contradicts itself.
        "tests status" | "test status" => match value {
            FieldValue::Text(text) if value::normal(text).starts_with("fail") => {
                Some(StatedState::NotDone)
            }
            _ => None,
        },
        _ => None,
    }
}

fn field_confidence(key: &str, value: &str) -> Option<u8> {
    (value::normal_key(key) == "confidence").then(|| percent_of(value))?
}

#[cfg(test)]
mod tests;
