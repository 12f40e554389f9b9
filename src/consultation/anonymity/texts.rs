//! The texts of answers in which a model can name the experts.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Fields of answers with ids and words of this program.
const WORDS: [&str; 9] = [
    "agent_id",
    "artifact_type",
    "composed_from",
    "expert_order",
    "magnitude",
    "model",
    "outcome",
    "pair",
    "severity",
];

/// Calls `edit` for each text of an answer, the names of agents included. Artifacts of Round 1 are
/// left as they are: no expert has seen another one.
pub fn edit_texts<T>(answer: &mut T, edit: &mut dyn FnMut(&mut String))
where
    T: Serialize + DeserializeOwned,
{
    let Ok(mut fields) = serde_json::to_value(&*answer) else {
        return;
    };
    let kind = fields.get("artifact_type").and_then(Value::as_str);
    if let Some("independent" | "casting") = kind {
        return;
    }
    edit_strings(&mut fields, edit);
    if let Ok(edited) = serde_json::from_value(fields) {
        *answer = edited;
    }
}

/// Calls `edit` for each text inside a value.
pub fn edit_strings(value: &mut Value, edit: &mut dyn FnMut(&mut String)) {
    match value {
        Value::String(text) => edit(text),
        Value::Array(values) => {
            for value in values {
                edit_strings(value, edit);
            }
        }
        Value::Object(fields) => {
            for (name, value) in fields {
                if !WORDS.contains(&name.as_str()) {
                    edit_strings(value, edit);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
