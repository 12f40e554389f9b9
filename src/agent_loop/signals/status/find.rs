//! Finds signals in a text: blocks and lines, tags, and objects of JSON.

use std::ops::Range;

use regex::Captures;
use serde_json::Value;

use super::StatedSignal;
use super::field::{Field, normal, state_of, truth_of};
use crate::agent_loop::text::TABLES;
use crate::stopping::exit_check::evidence::StatedState;
use crate::text::pattern::Pattern;

/// A line that is longer is prose.
const LONGEST_LINE: usize = 200;
/// A longer tag is text.
const LONGEST_TAG: usize = 640;
/// A longer object is data.
const LONGEST_OBJECT: usize = 16_000;

/// `---RALPH_STATUS---`, and with the first group `---END_RALPH_STATUS---`.
static BLOCK_MARK: Pattern = Pattern::new(
    r"(?i)^[*` ]*---[- ]*(?:(end(?:[a-z_ -]{0,37}status)?)|[a-z_ -]{0,34}status)[- ]*---[*` ]*$",
);

/// An event of ralph-orchestrator, with its topic and its end tag.
static EVENT: Pattern = Pattern::prepared("", |_| {
    let topic = r#"topic=(?:"([^"<>]*)"|'([^'<>]*)')"#;
    format!(r"(?is)<event\s(?:[^<>]*?{topic})?[^<>]*>.*?</event\s*>")
});

/// A tag with its end tag.
static TAG: Pattern = Pattern::prepared("", |_| {
    let name = "promise|status|exit|exit[_-]signal";
    format!(r"(?i)<(?P<name>{name})(?:\s[^<>]*)?>(?P<content>[^<]*)</(?P<end>{name})\s*>")
});

/// With a promise, it is the only text of `<promise>` that counts.
pub(super) fn find(text: &str, promise: Option<&str>) -> Vec<StatedSignal> {
    let whole = text.trim();
    let start = text.len() - text.trim_start().len();
    if let Some(signal) = of_object(whole, start) {
        return vec![signal];
    }
    let mut signals = of_lines(text, promise);
    let events = EVENT.all(text);
    signals.extend(events.filter_map(|event| of_event(&event, promise)));
    // The payload of an event speaks of one step.
    let blank = |event: &Captures<'_>| " ".repeat(event.get(0).map_or(0, |event| event.len()));
    let visible = EVENT.replace_in(text, blank);
    signals.extend(TAG.all(&visible).filter_map(|tag| of_tag(&tag, promise)));
    signals
}

fn of_lines(text: &str, promise: Option<&str>) -> Vec<StatedSignal> {
    let mut signals = Vec::new();
    let mut block: Option<StatusBlock> = None;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let range = start..start + line.trim_end().len();
        let content = start + line.len() - line.trim_start().len();
        start += line.len();
        let line = line.trim();
        let mark = BLOCK_MARK.all(line).next();
        let is_end = mark.as_ref().is_some_and(|mark| mark.get(1).is_some());
        // An empty line ends a block whose end is missing.
        let is_cut = line.is_empty() && block.as_ref().is_some_and(|it| !it.fields.is_empty());
        if mark.is_some() || is_cut {
            let end = if is_end { range.end } else { range.start };
            signals.extend(block.take().and_then(|open| open.finish(end, is_end)));
            block = (mark.is_some() && !is_end).then_some(StatusBlock {
                start: range.start,
                fields: Vec::new(),
            });
        } else if let Some(block) = &mut block {
            let field = Field::of_line(line).filter(|_| line.len() <= LONGEST_LINE);
            block.fields.extend(field);
        } else if line.starts_with('{') {
            signals.extend(of_object(line, content));
        } else if line.len() <= LONGEST_LINE {
            signals.extend(of_line(line, range, promise));
        }
    }
    signals.extend(block.and_then(|open| open.finish(text.len(), false)));
    signals
}

/// A status block up to the current line.
struct StatusBlock {
    start: usize,
    fields: Vec<Field>,
}

impl StatusBlock {
    /// Without its end it was cut, and is believed in what is complete; a form to fill in is an
    /// instruction, not a status.
    fn finish(self, end: usize, is_closed: bool) -> Option<StatedSignal> {
        let mut forms = self.fields.iter().filter(|field| field.is_form());
        if forms.any(|field| matches!(field.key.as_str(), "status" | "exit signal")) {
            return None;
        }
        let mut stated = self.fields.iter().filter(|field| field.state().is_some());
        let has_exit_signal = stated.any(|field| field.key == "exit signal");
        let signal = StatedSignal::of_fields(&self.fields, self.start..end)?;
        (signal.state != StatedState::Done || is_closed || has_exit_signal).then_some(signal)
    }
}

/// Reads `EXIT_SIGNAL: true`, `**Status:** Done`, and a line of nothing but the word that ends a
/// loop of ralph-orchestrator; not a line of a table or a quote.
fn of_line(line: &str, range: Range<usize>, promise: Option<&str>) -> Option<StatedSignal> {
    let signal = |state, is_weak| StatedSignal {
        range,
        is_weak,
        ..StatedSignal::of_text(line, 0, state)
    };
    let word = promise.unwrap_or("LOOP_COMPLETE").trim();
    let bare = line.trim_matches(|c: char| !c.is_alphanumeric() && c != '_');
    if word.contains('_') && bare == word {
        return Some(signal(StatedState::Done, false));
    }
    let field = Field::of_line(line).filter(|_| !line.starts_with(['|', '>']))?;
    let is_own =
        TABLES.list("exit_keys").has(&field.key) || TABLES.list("status_keys").has(&field.key);
    let state = field.state().filter(|_| is_own)?;
    Some(signal(state, field.key == "status"))
}

/// The members of the object, or of the status in it.
fn of_object(object: &str, start: usize) -> Option<StatedSignal> {
    if !object.starts_with('{') || !object.ends_with('}') || object.len() > LONGEST_OBJECT {
        return None;
    }
    let members = serde_json::from_str::<serde_json::Map<String, Value>>(object).ok()?;
    let is_status = |key: &str| key.to_ascii_lowercase().contains("status");
    let inner = members
        .iter()
        .find(|(key, value)| value.is_object() && is_status(key));
    let inner = inner.and_then(|(_, value)| value.as_object());
    std::iter::once(&members).chain(inner).find_map(|members| {
        let fields = members
            .iter()
            .filter_map(|(key, value)| Field::of_member(key, value));
        let range = start..start + object.len();
        StatedSignal::of_fields(&fields.collect::<Vec<_>>(), range)
    })
}

fn of_tag(tag: &Captures<'_>, promise: Option<&str>) -> Option<StatedSignal> {
    let name = tag.name("name")?.as_str().to_ascii_lowercase();
    let whole = tag.get(0)?;
    let is_closed = tag.name("end")?.as_str().eq_ignore_ascii_case(&name);
    if !is_closed || whole.len() > LONGEST_TAG {
        return None;
    }
    let content = tag.name("content")?.as_str();
    let content = content.trim_matches(['`', '*', '\'', '"', ' ', '\n', '\t']);
    let state = match name.as_str() {
        "promise" => is_promise(content, promise).then_some(StatedState::Done),
        "status" => state_of(content),
        _ => truth_of(content).or_else(|| state_of(content)),
    }?;
    Some(StatedSignal::of_text(whole.as_str(), whole.start(), state))
}

/// An empty text never is.
fn is_promise(content: &str, promise: Option<&str>) -> bool {
    let normal = |text: &str| normal(text.trim().trim_end_matches(['.', '!']));
    let content = normal(content);
    match promise.map(normal) {
        Some(promise) => !promise.is_empty() && promise == content,
        None => TABLES.list("promises").has(&content),
    }
}

/// The loop's own end, and a blocked step. Events such as `build.done` and `task.complete` end one
/// task, not the loop.
fn of_event(event: &Captures<'_>, promise: Option<&str>) -> Option<StatedSignal> {
    let topic = event.get(1).or(event.get(2))?.as_str();
    let is_end = match promise {
        Some(promise) => normal(topic) == normal(promise),
        None => matches!(normal(topic).as_str(), "loop complete" | "loop.complete"),
    };
    let state = match (is_end, topic.ends_with(".blocked")) {
        (true, _) => StatedState::Done,
        (false, true) => StatedState::NotDone,
        (false, false) => return None,
    };
    let event = event.get(0)?;
    Some(StatedSignal::of_text(event.as_str(), event.start(), state))
}

/// With their end tags.
pub(super) fn event_ranges(text: &str) -> Vec<Range<usize>> {
    let events = EVENT.all(text);
    events
        .filter_map(|event| Some(event.get(0)?.range()))
        .collect()
}
