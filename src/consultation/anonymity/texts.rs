//! The texts of answers in which a model can name the experts.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Fields of answers with ids and words of this program.
const WORDS: [&str; 8] = [
    "agent_id",
    "artifact_type",
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
    edit_strings(&mut fields, &WORDS, edit);
    let edited = serde_json::from_value(fields);
    debug_assert!(edited.is_ok(), "an answer is read as it is written");
    if let Ok(edited) = edited {
        *answer = edited;
    }
}

/// Calls `edit` for each text inside a value, but for fields of these names.
pub fn edit_strings(value: &mut Value, but: &[&str], edit: &mut dyn FnMut(&mut String)) {
    match value {
        Value::String(text) => edit(text),
        Value::Array(values) => {
            for value in values {
                edit_strings(value, but, edit);
            }
        }
        Value::Object(fields) => {
            for (name, value) in fields {
                if !but.contains(&name.as_str()) {
                    edit_strings(value, but, edit);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
