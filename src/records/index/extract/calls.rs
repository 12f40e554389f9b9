//! The rows of the finished calls.

use serde_json::Value;

use crate::domain::cost::money::{Cost, MicroUsd};
use crate::domain::record::stored_record::{StoredAgentRound, StoredAttempt, StoredRecord};
use crate::records::index::rows::{Columns, UNKNOWN};

use super::{micro_usd, whole};

/// The greatest call number that is accepted.
const LAST_CALL: u32 = 1 << 24;

/// A call without a number, or with a duplicate, gets the next one, so that the cost of each is
/// counted once.
pub(super) fn calls(record: &StoredRecord) -> Vec<Columns> {
    let mut calls = Vec::new();
    for (round, agent) in record.agent_rounds() {
        for attempt in &agent.attempts {
            let number = attempt.call.filter(|call| *call <= LAST_CALL);
            calls.push((number.unwrap_or(u32::MAX), call(round, agent, attempt)));
        }
    }
    calls.sort_by_key(|(number, _)| *number);
    let mut last = 0;
    let numbered = |(number, mut columns): (u32, Columns)| {
        last = if number > last && number != u32::MAX {
            number
        } else {
            last + 1
        };
        columns.push(("call", last.into()));
        columns
    };
    calls.into_iter().map(numbered).collect()
}

/// Without its number.
fn call(round_number: u8, agent: &StoredAgentRound, attempt: &StoredAttempt) -> Columns {
    let (provider, model) = match &attempt.model {
        Some(model) => (model.provider.as_str(), model.model.as_str()),
        None => (UNKNOWN, UNKNOWN),
    };
    let tokens = attempt.tokens.unwrap_or_default();
    let failed = attempt.error.is_some() || attempt.stop.is_none();
    // Of a call and its hedge, the slower one is cancelled and has no attempt here.
    let hedge_won = !failed && attempt.purpose.as_deref() == Some("hedge");
    let cost = attempt.cost.and_then(|cost| cost.cost());
    let cost = cost.unwrap_or(Cost::at_least(MicroUsd::ZERO));
    vec![
        ("round_number", round_number.into()),
        ("agent_id", agent.agent_id.as_str().to_owned().into()),
        ("answer", agent.answer.clone().into()),
        ("purpose", attempt.purpose.clone().into()),
        ("provider", provider.to_owned().into()),
        ("model", model.to_owned().into()),
        ("stop", attempt.stop.as_ref().and_then(stop_name).into()),
        ("failed", failed.into()),
        ("hedge_won", hedge_won.into()),
        ("micro_usd", micro_usd(cost)),
        ("lower_bound", cost.lower_bound.into()),
        ("by_plan", cost.by_plan.into()),
        ("input_tokens", whole(tokens.input.unwrap_or_default())),
        ("output_tokens", whole(tokens.output.unwrap_or_default())),
        ("tokens_estimated", tokens.estimated.into()),
        ("first_token_ms", whole(attempt.latency_ms)),
        ("duration_ms", whole(attempt.duration_ms)),
    ]
}

/// A text, or the key of an object such as `{ "refused": "…" }`.
fn stop_name(stop: &Value) -> Option<String> {
    match stop {
        Value::String(name) => Some(name.clone()),
        Value::Object(variant) => variant.keys().next().cloned(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::types::Value as Column;
    use serde_json::json;

    use super::*;

    #[test]
    fn hedge_that_failed_did_not_win() {
        let agent: StoredAgentRound = serde_json::from_value(json!({
            "agent_id": "security",
            "tokens": {},
            "attempts": [
                { "purpose": "hedge", "stop": "end" },
                { "purpose": "hedge" },
                { "purpose": "answer", "stop": "end" },
            ],
        }))
        .unwrap();
        let won = agent.attempts.iter().map(|attempt| {
            let columns = call(1, &agent, attempt);
            let mut columns = columns.into_iter();
            columns.find(|(name, _)| *name == "hedge_won").unwrap().1
        });
        assert_eq!(won.collect::<Vec<_>>(), [1, 0, 0].map(Column::Integer));
    }
}
