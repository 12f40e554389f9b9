//! Reads the artifacts of the original: its JSON is brought into this program's form, and what is
//! missing or of an unexpected type then is empty.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::domain::artifact::Verdict;
use crate::domain::stored_record::StoredAgent;

use super::fields::{JsonFields, snake};
use super::tolerant::tolerant;

/// The fields that name agents.
const AGENTS: [&str; 5] = [
    "agent",
    "agent_id",
    "challenger",
    "supporting_agents",
    "target_agent",
];

/// The lists of a verdict whose entries can be bare texts, and the field that the text belongs in.
const TEXTS: [(&str, &str); 3] = [
    ("evidence", "claim"),
    ("dissent", "concern"),
    ("recommendations", "option"),
];

/// The panel, for finding a seat's id where a record has its name or another spelling.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seats<'a>(pub(super) &'a [StoredAgent]);

impl Seats<'_> {
    /// Returns the id of the seat that a text names; other text is returned unchanged.
    pub(super) fn id(self, text: &str) -> String {
        let same = |name: &str| letters(name).eq(letters(text));
        let exact = self.0.iter().find(|agent| agent.id.as_str() == text);
        let seat = exact.or_else(|| {
            self.0
                .iter()
                .find(|agent| !text.is_empty() && (same(agent.id.as_str()) || same(&agent.name)))
        });
        seat.map_or(text, |agent| agent.id.as_str()).to_owned()
    }

    pub(super) fn agent(self, fields: JsonFields<'_>, name: &str) -> String {
        self.id(&fields.text_or_empty(name))
    }
}

/// Returns letters and digits in lower case: `security_expert` and `Security Expert` are equal.
pub(super) fn letters(name: &str) -> impl Iterator<Item = char> {
    name.chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
}

/// Reads the content of an artifact other than a verdict.
pub(super) fn content<T: DeserializeOwned + Default>(
    fields: JsonFields<'_>,
    seats: Seats<'_>,
) -> T {
    tolerant(converted(fields.value(), seats)).unwrap_or_default()
}

pub(super) fn verdict(fields: JsonFields<'_>, seats: Seats<'_>) -> Verdict {
    let mut verdict = converted(fields.value(), seats);
    for (list, field) in TEXTS {
        let entries = verdict.get_mut(list).and_then(Value::as_array_mut);
        for entry in entries.into_iter().flatten() {
            if entry.is_string() {
                *entry = json!({ field: entry.take() });
            }
        }
    }
    tolerant(verdict).unwrap_or_default()
}

/// Returns JSON with names in `snake_case`, and with seats' ids for the names of agents.
fn converted(value: &Value, seats: Seats<'_>) -> Value {
    match value {
        Value::Array(items) => items.iter().map(|item| converted(item, seats)).collect(),
        Value::Object(fields) => {
            let mut ours = Map::new();
            for (name, value) in fields {
                let our_name = snake(name);
                if our_name != *name && fields.contains_key(&our_name) {
                    continue;
                }
                let value = if AGENTS.contains(&our_name.as_str()) {
                    with_ids(value, seats)
                } else {
                    converted(value, seats)
                };
                ours.insert(our_name, value);
            }
            Value::Object(ours)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

fn with_ids(names: &Value, seats: Seats<'_>) -> Value {
    match names {
        Value::String(name) => Value::String(seats.id(name)),
        Value::Array(names) => names.iter().map(|name| with_ids(name, seats)).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => Value::Null,
    }
}
