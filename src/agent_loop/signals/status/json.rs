//! Signals in JSON: an object as a line of its own, or as all of the text.

use serde_json::{Map, Value as Json};

use super::value::FieldValue;
use super::{SignalCandidate, field_confidence, field_state, heavier};
use crate::stopping::exit_check::evidence::StatedState;

/// A longer object is data.
const LONGEST: usize = 16_000;

pub(super) fn find(text: &str) -> Vec<SignalCandidate> {
    let body = without_fence(text.trim());
    let whole = text.find('{').unwrap_or_default();
    if let Some(candidate) = read(body, whole) {
        return vec![candidate];
    }
    let mut candidates = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let indent = line.len() - line.trim_start().len();
        candidates.extend(read(line.trim(), start + indent));
        start += line.len();
    }
    candidates
}

/// Returns the content of a fence, if the text is one.
fn without_fence(text: &str) -> &str {
    let Some(rest) = text.strip_prefix("```") else {
        return text;
    };
    let content = rest.split_once('\n').map_or("", |(_, content)| content);
    content.trim_end().trim_end_matches('`').trim()
}

/// Reads an object that begins at `start`.
fn read(object: &str, start: usize) -> Option<SignalCandidate> {
    if !object.starts_with('{') || !object.ends_with('}') || object.len() > LONGEST {
        return None;
    }
    let Json::Object(fields) = serde_json::from_str(object).ok()? else {
        return None;
    };
    let inner = fields.iter().find_map(|(key, value)| match value {
        Json::Object(inner) if key.to_ascii_lowercase().contains("status") => Some(inner),
        _ => None,
    });
    let (state, source) = state(&fields).or_else(|| state(inner?))?;
    let confidence = fields.iter().find_map(|(key, value)| match value {
        Json::Number(number) => field_confidence(key, &number.to_string()),
        Json::String(text) => field_confidence(key, text),
        _ => None,
    });
    Some(SignalCandidate {
        range: start..start + object.len(),
        state,
        source,
        confidence,
        is_weak: false,
    })
}

fn state(fields: &Map<String, Json>) -> Option<(StatedState, String)> {
    let mut decided = None;
    for (key, value) in fields {
        let text = match value {
            Json::Bool(truth) => FieldValue::Truth(*truth),
            Json::String(text) => FieldValue::Text(text.as_str().into()),
            _ => continue,
        };
        if let Some(state) = field_state(key, &text) {
            decided = Some(heavier(decided, (state, format!("\"{key}\": {value}"))));
        }
    }
    decided
}
