//! What of a record does not depend on when it came about, or on what was lost on the way.

use serde_json::Value;

/// Keys of what passes: times, numbers of calls, and what calls that never came back may have cost.
const PASSING: [&str; 8] = [
    "timestamp",
    "created_at",
    "duration_ms",
    "latency_ms",
    "call",
    "purpose",
    "lower_bound",
    "lost_calls",
];

/// The record without what passes; agents in order of their ids, and not of their arrival.
pub(crate) fn lasting(mut record: Value) -> Value {
    normalise(&mut record);
    record
}

fn normalise(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|key, _| !PASSING.contains(&key.as_str()));
            fields.values_mut().for_each(normalise);
        }
        Value::Array(list) => {
            list.iter_mut().for_each(normalise);
            if list.iter().any(|item| item.get("agent_id").is_some()) {
                list.sort_by_cached_key(|item| (item["agent_id"].to_string(), item.to_string()));
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
