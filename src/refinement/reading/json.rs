//! Answers that are JSON: their strings become lines, with the labels that stand in keys.

use serde_json::Value;

use crate::refinement::label::outcome_at;

/// Returns the labelled lines of a text that is one JSON value; `None` for other texts.
pub(super) fn labelled_text(text: &str) -> Option<String> {
    let bare = without_fence(text.trim());
    if !bare.starts_with(['{', '[']) {
        return None;
    }
    let value: Value = serde_json::from_str(bare).ok()?;
    let mut lines = Vec::new();
    collect(&value, "", &mut lines);
    Some(lines.join("\n\n"))
}

fn without_fence(text: &str) -> &str {
    let inner = text
        .strip_prefix("```")
        .and_then(|rest| rest.trim_end().strip_suffix("```"))
        .and_then(|rest| rest.split_once('\n'));
    inner.map_or(text, |(_, inner)| inner.trim())
}

fn collect(value: &Value, label: &str, lines: &mut Vec<String>) {
    match value {
        Value::String(text) if label.is_empty() => lines.push(text.clone()),
        Value::String(text) => lines.push(format!("{label}: {text}")),
        Value::Array(values) => {
            for value in values {
                collect(value, label, lines);
            }
        }
        Value::Object(fields) => match entry(fields) {
            Some(line) if label.is_empty() => lines.push(line),
            _ => {
                for (key, value) in fields {
                    let key = labelled(label, key);
                    collect(value, &key, lines);
                }
            }
        },
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Returns a key as a label. Names of fields that only hold an answer are none.
fn labelled(label: &str, key: &str) -> String {
    const HOLDERS: [&str; 8] = [
        "recommendation",
        "position",
        "answer",
        "answers",
        "findings",
        "result",
        "questions",
        "text",
    ];
    if label.is_empty() {
        let is_holder = HOLDERS.contains(&key.to_lowercase().as_str());
        return if is_holder {
            String::new()
        } else {
            key.to_owned()
        };
    }
    format!("{label} {key}")
}

/// Returns the line of an object with a question, an outcome and one text:
/// `{"question": "Q1", "status": "ANSWERED", "answer": "…"}`.
fn entry(fields: &serde_json::Map<String, Value>) -> Option<String> {
    let texts: Vec<&str> = fields.values().filter_map(Value::as_str).collect();
    let outcome = texts.iter().find(|text| is_outcome(text))?;
    let short = |text: &&&str| text.len() <= 12 && text.contains(|c: char| c.is_ascii_digit());
    let number = texts.iter().find(short)?;
    let mut others = texts
        .iter()
        .filter(|text| *text != outcome && *text != number);
    let text = others.next()?;
    others
        .next()
        .is_none()
        .then(|| format!("{number} {outcome}: {text}"))
}

fn is_outcome(text: &str) -> bool {
    outcome_at(text, 0).is_some_and(|(_, found)| found.end == text.len())
}
