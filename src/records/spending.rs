//! Tokens and money as the record writes them: the total, and its parts by provider, model, agent
//! and round.
//!
//! Invariant: in every grouping the parts add up to the total, to the micro-dollar and to the
//! token.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::consultation::transcript::Transcript;
use crate::consultation::transcript::spend::Spend;
use crate::domain::money::Cost;
use crate::domain::tokens::{Usage, UsageSource};

/// The record's `cost`.
pub(super) fn spending(transcript: &Transcript) -> Value {
    let total = transcript.total();
    let mut cost = spend(&total);
    if let Value::Object(cost) = &mut cost {
        cost.insert("lost_calls".to_owned(), json!(transcript.lost_calls.len()));
        cost.insert(
            "by_provider".to_owned(),
            grouped(transcript.spend_by_provider()),
        );
        cost.insert(
            "by_model".to_owned(),
            grouped(transcript.spend_by(|asked| asked.model.clone())),
        );
        cost.insert(
            "by_agent".to_owned(),
            grouped(transcript.spend_by(|asked| asked.agent_id.clone())),
        );
        cost.insert(
            "by_round".to_owned(),
            grouped(transcript.spend_by(|asked| format!("round_{}", asked.round_number))),
        );
    }
    cost
}

fn grouped<K: ToString>(groups: BTreeMap<K, Spend>) -> Value {
    Value::Object(
        groups
            .into_iter()
            .map(|(key, group)| (key.to_string(), spend(&group)))
            .collect::<Map<String, Value>>(),
    )
}

fn spend(spend: &Spend) -> Value {
    let mut written = json!({ "tokens": tokens(&spend.tokens), "calls": spend.calls });
    if let (Value::Object(written), Value::Object(money)) = (&mut written, money(spend.cost)) {
        written.extend(money);
    }
    written
}

/// Writes an amount, in dollars and in exact micro-dollars.
pub(super) fn money(cost: Cost) -> Value {
    json!({ "usd": cost.known.usd(), "micro_usd": cost.known, "lower_bound": cost.lower_bound })
}

/// Writes token counts. `input` is the whole prompt; `cached` and `cache_write` are parts of it,
/// `reasoning` is a part of `output`.
pub(super) fn tokens(usage: &Usage) -> Value {
    json!({
        "input": usage.prompt(),
        "output": usage.output,
        "total": usage.total(),
        "cached": usage.cache_read,
        "cache_write": usage.cache_write,
        "reasoning": usage.reasoning,
        "estimated": usage.source == UsageSource::Estimated,
    })
}
