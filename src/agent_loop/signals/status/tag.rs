//! Signals in tags: `<promise>DONE</promise>`, `<status>done</status>`.

use std::ops::Range;

use super::value::{FieldValue, state_of, truth_of};
use super::{SignalCandidate, field_state};
use crate::stopping::exit_check::evidence::StatedState;

/// The texts of `<promise>` that mean done, unless one is given.
const PROMISES: [&str; 6] = [
    "done",
    "complete",
    "completed",
    "finished",
    "task complete",
    "loop complete",
];

/// The longest content of a tag that is a signal, and the longest attributes, in bytes.
const LONGEST: usize = 300;

/// The most bytes in which the end tag of an event is looked for. Without a bound, many tags that
/// are never closed would take time that grows with the square of their number.
const LONGEST_EVENT: usize = 16 << 10;

pub(super) fn find(text: &str, promise: Option<&str>) -> Vec<SignalCandidate> {
    let mut candidates = Vec::new();
    let mut at = 0;
    while let Some(start) = text
        .get(at..)
        .and_then(|rest| rest.find('<'))
        .map(|found| at + found)
    {
        let Some(tag) = SignalTag::read(text, start) else {
            at = start + 1;
            continue;
        };
        at = tag.end;
        if let Some(state) = tag.state(promise) {
            let range = start..tag.end;
            candidates.push(SignalCandidate {
                source: text.get(range.clone()).unwrap_or_default().to_owned(),
                range,
                state,
                confidence: None,
                is_weak: false,
            });
        }
    }
    candidates
}

/// Returns the ranges of events: their payloads speak of one step, not to the loop.
pub(super) fn events(text: &str) -> Vec<Range<usize>> {
    let mut events = Vec::new();
    let mut at = 0;
    while let Some(start) = text
        .get(at..)
        .and_then(|rest| rest.find("<event "))
        .map(|found| at + found)
    {
        let Some(tag) = SignalTag::read(text, start) else {
            at = start + 1;
            continue;
        };
        events.push(start..tag.end);
        at = tag.end;
    }
    events
}

/// A tag with its end tag.
struct SignalTag<'a> {
    name: &'a str,
    attributes: &'a str,
    content: &'a str,
    end: usize,
}

impl<'a> SignalTag<'a> {
    fn read(text: &'a str, start: usize) -> Option<Self> {
        let rest = text.get(start + 1..)?;
        let name_end = rest.find(|c: char| !c.is_ascii_alphabetic() && c != '_' && c != '-')?;
        let name = rest.get(..name_end)?;
        let known = [
            "promise",
            "status",
            "exit",
            "exit_signal",
            "exit-signal",
            "event",
        ];
        if !known.iter().any(|known| name.eq_ignore_ascii_case(known)) {
            return None;
        }
        let attributes_end = beginning(rest, name_end + LONGEST).find('>')?;
        let attributes = rest.get(name_end..attributes_end)?;
        if attributes.contains('<') || attributes.ends_with('/') {
            return None;
        }
        let content_start = attributes_end + 1;
        let body = rest.get(content_start..)?;
        let longest = if name.eq_ignore_ascii_case("event") {
            LONGEST_EVENT
        } else {
            LONGEST
        };
        // The name is ASCII, so that its end tag is found in any case.
        let ends = beginning(body, longest + "</".len()).match_indices("</");
        let content_end = ends.map(|(at, _)| at).find(|at| {
            let after = body.get(at + 2..).unwrap_or_default();
            let close = after.get(..name.len()).unwrap_or_default();
            let ends = after.get(name.len()..).unwrap_or_default();
            close.eq_ignore_ascii_case(name) && ends.trim_start().starts_with('>')
        })?;
        let close = body.get(content_end..)?.find('>')?;
        Some(Self {
            name,
            attributes,
            content: body.get(..content_end)?,
            end: start + 1 + content_start + content_end + close + 1,
        })
    }

    fn state(&self, promise: Option<&str>) -> Option<StatedState> {
        if self.name.eq_ignore_ascii_case("event") {
            return event_state(self.attributes, promise);
        }
        if self.content.contains('<') {
            return None;
        }
        let content = self
            .content
            .trim_matches(['`', '*', '\'', '"', ' ', '\n', '\t']);
        match self.name.to_ascii_lowercase().as_str() {
            "promise" => is_promise(content, promise).then_some(StatedState::Done),
            "status" => state_of(content),
            _ => match truth_of(content) {
                Some(_) => field_state("exit_signal", &FieldValue::Text(content.into())),
                None => state_of(content),
            },
        }
    }
}

/// Returns at most the first `most` bytes.
fn beginning(text: &str, most: usize) -> &str {
    let mut end = most.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

/// Whether a text is the promise. An empty one never is.
fn is_promise(content: &str, promise: Option<&str>) -> bool {
    let content = normal(content);
    match promise.map(normal) {
        Some(promise) => !promise.is_empty() && promise == content,
        None => PROMISES.contains(&content.as_str()),
    }
}

fn normal(text: &str) -> String {
    let text = text
        .trim()
        .trim_end_matches(['.', '!'])
        .replace('_', " ")
        .to_lowercase();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Reads the topic of an event of ralph-orchestrator: the loop's own end, and a blocked step. Events
/// such as `build.done` and `task.complete` end one task, not the loop.
fn event_state(attributes: &str, promise: Option<&str>) -> Option<StatedState> {
    let (_, topic) = attributes.split_once("topic=")?;
    let quote = topic.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let topic = topic.get(1..)?.split(quote).next()?;
    let is_end = match promise {
        Some(promise) => normal(topic) == normal(promise),
        None => matches!(normal(topic).as_str(), "loop complete" | "loop.complete"),
    };
    if is_end {
        Some(StatedState::Done)
    } else if topic.ends_with(".blocked") {
        Some(StatedState::NotDone)
    } else {
        None
    }
}
