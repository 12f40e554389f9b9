//! Makes records of interrupted and uninterrupted runs comparable.

use serde_json::Value;

/// Keys that differ between two runs of the same consultation: times, call numbers, and the
/// possible cost of lost calls.
const VARYING_KEYS: [&str; 10] = [
    "timestamp",
    "created_at",
    "duration_ms",
    "latency_ms",
    "call",
    "purpose",
    "lower_bound",
    "actual_cost_lower_bound",
    "lost_calls",
    "in_doubt_micro_usd",
];

/// Returns the record without the varying keys, with agents in the order of their ids instead of
/// their arrival.
pub(crate) fn comparable(mut record: Value) -> Value {
    normalise(&mut record);
    record
}

fn normalise(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|key, _| !VARYING_KEYS.contains(&key.as_str()));
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
