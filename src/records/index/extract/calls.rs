//! The rows of the finished calls.

use serde_json::Value;

use crate::domain::money::{Cost, MicroUsd};
use crate::domain::stored_record::{StoredAgentRound, StoredAttempt, StoredRecord};
use crate::records::index::rows::{CallRow, UNKNOWN};

/// The greatest call number that is accepted.
const LAST_CALL: u32 = 1 << 24;

/// Returns all calls by number. A call without a number, or with a duplicate, gets the next one, so
/// that the cost of each is counted once.
pub(super) fn calls(record: &StoredRecord) -> Vec<CallRow> {
    let mut calls: Vec<CallRow> = Vec::new();
    for (round, agent) in record.agent_rounds() {
        calls.extend(
            agent
                .attempts
                .iter()
                .map(|attempt| call(round, agent, attempt)),
        );
    }
    calls.sort_by_key(|call| call.call);
    let mut last = 0;
    for call in &mut calls {
        last = if call.call > last && call.call != u32::MAX {
            call.call
        } else {
            last + 1
        };
        call.call = last;
    }
    calls
}

/// Returns one call; without a number it sorts last.
fn call(round_number: u8, agent: &StoredAgentRound, attempt: &StoredAttempt) -> CallRow {
    let (provider, model) = match &attempt.model {
        Some(model) => (model.provider.as_str(), model.model.as_str()),
        None => (UNKNOWN, UNKNOWN),
    };
    let tokens = attempt.tokens.unwrap_or_default();
    let failed = attempt.error.is_some() || attempt.stop.is_none();
    let cost = attempt.cost.and_then(|cost| cost.cost());
    CallRow {
        call: attempt
            .call
            .filter(|call| *call <= LAST_CALL)
            .unwrap_or(u32::MAX),
        round_number,
        agent_id: agent.agent_id.as_str().to_owned(),
        answer: agent.answer.clone(),
        purpose: attempt.purpose.clone(),
        provider: provider.to_owned(),
        model: model.to_owned(),
        stop: attempt.stop.as_ref().and_then(stop_name),
        failed,
        // Of a call and its hedge, the slower one is cancelled and has no attempt here.
        hedge_won: !failed && attempt.purpose.as_deref() == Some("hedge"),
        cost: cost.unwrap_or(Cost::at_least(MicroUsd::ZERO)),
        input_tokens: tokens.input.unwrap_or_default(),
        output_tokens: tokens.output.unwrap_or_default(),
        tokens_estimated: tokens.estimated,
        first_token_ms: attempt.latency_ms,
        duration_ms: attempt.duration_ms,
    }
}

/// Returns the name of a reason to stop: text, or the key of an object such as
/// `{ "refused": "…" }`.
fn stop_name(stop: &Value) -> Option<String> {
    match stop {
        Value::String(name) => Some(name.clone()),
        Value::Object(variant) => variant.keys().next().cloned(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => None,
    }
}
