//! Finds the answer's object in a text: the first object with the most requested fields.

use serde_json::{Map, Value};

use crate::consultation::protocol::answer::AnswerKind;

use super::fields::{self, Name};
use crate::text::json::{self, Deviations, Parse};

/// The deepest nesting of an answer in objects that only wrap it.
const WRAPPED: usize = 3;

/// A text that ends within this many bytes after an opening brace ends in the object's first key.
const FIRST_KEY: usize = 40;

/// The result of a search.
#[derive(Debug)]
pub(super) enum AnswerSearch {
    Answer(AnswerObject),
    /// The text ends in the middle of the answer.
    CutOff,
    /// There is an object without any of the fields.
    OtherObject,
    Nothing,
}

/// The answer's object.
#[derive(Debug)]
pub(super) struct AnswerObject {
    pub(super) object: Map<String, Value>,
    /// The byte range in the text.
    pub(super) range: std::ops::Range<usize>,
    pub(super) deviations: Deviations,
    /// True if it was inside another object, an array or a string.
    pub(super) wrapped: bool,
    /// The number of other objects with requested fields.
    pub(super) others: usize,
    score: usize,
}

pub(super) fn search(text: &str, kind: AnswerKind) -> AnswerSearch {
    let found = in_text(text, kind);
    if !matches!(found, AnswerSearch::Nothing | AnswerSearch::OtherObject)
        || !text.contains("{\\") && !text.contains("\\\"")
    {
        return found;
    }
    // The answer is a JSON string that contains JSON.
    let inner = json::unescape(text);
    match in_text(&inner, kind) {
        AnswerSearch::Answer(inside) => AnswerSearch::Answer(AnswerObject {
            range: 0..text.len(),
            wrapped: true,
            ..inside
        }),
        AnswerSearch::CutOff => AnswerSearch::CutOff,
        AnswerSearch::OtherObject | AnswerSearch::Nothing => found,
    }
}

fn in_text(text: &str, kind: AnswerKind) -> AnswerSearch {
    let mut steps = text.len().saturating_mul(3).saturating_add(10_000);
    let mut best: Option<AnswerObject> = None;
    let mut any = false;
    let mut from = 0;
    while let Some(start) = next_start(text, from) {
        if steps == 0 {
            break;
        }
        from = start + 1;
        match json::parse(text, start, &mut steps) {
            Parse::Whole {
                value,
                end,
                deviations,
            } => {
                from = end.max(from);
                any = true;
                let Some((object, score, wrapped)) = unwrap(value, kind, WRAPPED) else {
                    continue;
                };
                let others = best.as_ref().map_or(0, |best| best.others + 1);
                match &mut best {
                    Some(best) if best.score >= score => best.others = others,
                    _ => {
                        best = Some(AnswerObject {
                            object,
                            range: start..end,
                            deviations,
                            wrapped,
                            others,
                            score,
                        });
                    }
                }
            }
            Parse::CutOff { keys, .. } => {
                // Objects inside an object that is cut off are parts of an answer, not the answer.
                let expected = keys
                    .iter()
                    .filter(|key| fields::of(kind).iter().any(|name| fields::is(name, key)))
                    .count();
                let first = best.is_none()
                    && text
                        .get(..start)
                        .is_some_and(|before| !before.contains('{'));
                if expected > 0 || (first && (!keys.is_empty() || text.len() - start < FIRST_KEY)) {
                    if best.as_ref().is_none_or(|best| best.score < expected) {
                        return AnswerSearch::CutOff;
                    }
                    break;
                }
            }
            Parse::Broken => {}
        }
    }
    match best {
        Some(best) => AnswerSearch::Answer(best),
        None if any => AnswerSearch::OtherObject,
        None => AnswerSearch::Nothing,
    }
}

fn next_start(text: &str, from: usize) -> Option<usize> {
    let rest = text.get(from..)?;
    let found = rest.char_indices().find(|(at, c)| match c {
        '{' => true,
        '[' => rest
            .get(at + 1..)
            .is_some_and(|after| after.trim_start().starts_with('{')),
        _ => false,
    });
    found.map(|(at, _)| from + at)
}

/// Returns the object with the most fields among a value and those it wraps, with their number and
/// whether it was wrapped.
fn unwrap(
    value: Value,
    kind: AnswerKind,
    depth: usize,
) -> Option<(Map<String, Value>, usize, bool)> {
    let inner: Vec<Value> = match value {
        Value::Object(object) => {
            let score = score(&object, fields::of(kind));
            if score > 0 {
                return Some((object, score, false));
            }
            object.into_iter().map(|(_, value)| value).collect()
        }
        Value::Array(items) => items,
        Value::String(text) if text.trim_start().starts_with('{') => {
            let start = text.len() - text.trim_start().len();
            match json::parse(&text, start, &mut (text.len() * 8)) {
                Parse::Whole { value, .. } => vec![value],
                Parse::CutOff { .. } | Parse::Broken => return None,
            }
        }
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => return None,
    };
    let depth = depth.checked_sub(1)?;
    let found = inner
        .into_iter()
        .filter_map(|value| unwrap(value, kind, depth));
    // Of several with the most fields, the first.
    let (object, score, _) = found.rev().max_by_key(|(_, score, _)| *score)?;
    Some((object, score, true))
}

fn score(object: &Map<String, Value>, names: &[Name]) -> usize {
    names
        .iter()
        .filter(|name| {
            // Nearly always the key is the name itself.
            let mut members = object.iter();
            object.contains_key(fields::shown(name))
                || members.any(|(key, value)| fields::matches(name, key, value))
        })
        .count()
}
