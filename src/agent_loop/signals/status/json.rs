//! Signals in JSON: an object as a line of its own, or as all of the text.

use serde_json::{Map, Value as Json};

use super::value::Value;
use super::{Candidate, field_confidence, field_state, heavier};
use crate::stopping::exit_check::evidence::StatedState;

/// A longer object is data.
const LONGEST: usize = 16_000;

pub(super) fn find(text: &str) -> Vec<Candidate> {
    let body = text.trim();
    let body = without_fence(body);
    if body.starts_with('{') && body.ends_with('}') && body.len() <= LONGEST {
        if let Some(candidate) = read(text, body) {
            return vec![candidate];
        }
    }
    let lines = text.split('\n').map(str::trim);
    let objects =
        lines.filter(|line| line.starts_with('{') && line.ends_with('}') && line.len() <= LONGEST);
    objects.filter_map(|line| read(text, line)).collect()
}

/// Returns the content of a fence, if the text is one.
fn without_fence(text: &str) -> &str {
    let Some(rest) = text.strip_prefix("```") else {
        return text;
    };
    let content = rest.split_once('\n').map_or("", |(_, content)| content);
    content.trim_end().trim_end_matches('`').trim()
}

/// Reads an object, which is a part of the text.
fn read(text: &str, object: &str) -> Option<Candidate> {
    let Json::Object(fields) = serde_json::from_str(object).ok()? else {
        return None;
    };
    let inner = fields.iter().find_map(|(key, value)| match value {
        Json::Object(inner) if key.to_ascii_lowercase().contains("status") => Some(inner),
        _ => None,
    });
    let (state, source) = state(&fields).or_else(|| state(inner?))?;
    let start = (object.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    let confidence = fields.iter().find_map(|(key, value)| match value {
        Json::Number(number) => field_confidence(key, &number.to_string()),
        Json::String(text) => field_confidence(key, text),
        _ => None,
    });
    Some(Candidate {
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
            Json::Bool(truth) => Value::Truth(*truth),
            Json::String(text) => Value::Text(text.as_str().into()),
            _ => continue,
        };
        if let Some(state) = field_state(key, &text) {
            decided = Some(heavier(decided, (state, format!("\"{key}\": {value}"))));
        }
    }
    decided
}
