//! Reads the finished calls from a record.

use std::borrow::Cow;

use crate::domain::money::{Cost, MicroUsd};

use super::agents::split;
use super::rounds::money;
use crate::records::index::lenient_json::Text;
use crate::records::index::record_fields::{AgentFields, AttemptFields, RecordFields};
use crate::records::index::rows::{CallRow, UNKNOWN};

/// The greatest call number that is accepted.
const LAST_CALL: u64 = 1 << 24;

/// Returns all calls by number. A call without a number, or with a duplicate, gets the next one, so
/// that the cost of each is counted once.
pub(super) fn calls<'a>(record: &RecordFields<'a>) -> Vec<CallRow<'a>> {
    let mut calls = Vec::new();
    for (number, round) in &record.responses.0 {
        for agent in round
            .agents
            .all()
            .iter()
            .filter_map(|agent| agent.0.as_ref())
        {
            calls.extend(
                agent
                    .attempts
                    .all()
                    .iter()
                    .filter_map(|attempt| attempt.0.as_ref())
                    .map(|attempt| call(*number, agent, attempt)),
            );
        }
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
fn call<'a>(round_number: u8, agent: &AgentFields<'a>, attempt: &AttemptFields<'a>) -> CallRow<'a> {
    let (provider, model) = attempt.model.0.clone().map(split).unwrap_or_default();
    let tokens = attempt.tokens.0.as_ref();
    let failed = attempt.error.0.is_some() || attempt.stop.0.is_none();
    CallRow {
        call: attempt
            .call
            .0
            .filter(|call| *call <= LAST_CALL)
            .and_then(|call| u32::try_from(call).ok())
            .unwrap_or(u32::MAX),
        round_number,
        agent_id: named(&agent.agent_id),
        answer: agent.answer.0.clone(),
        purpose: attempt.purpose.0.clone(),
        provider: provider.unwrap_or(Cow::Borrowed(UNKNOWN)),
        model: model.unwrap_or(Cow::Borrowed(UNKNOWN)),
        stop: attempt.stop.0.clone(),
        failed,
        // Of a call and its hedge, the slower one is cancelled and has no attempt here.
        hedge_won: !failed && attempt.purpose.0.as_deref() == Some("hedge"),
        cost: attempt
            .cost
            .0
            .as_ref()
            .and_then(|cost| money(cost.micro_usd, cost.lower_bound))
            .unwrap_or(Cost::at_least(MicroUsd::ZERO)),
        input_tokens: tokens.and_then(|tokens| tokens.input.0).unwrap_or_default(),
        output_tokens: tokens
            .and_then(|tokens| tokens.output.0)
            .unwrap_or_default(),
        tokens_estimated: tokens.is_some_and(|tokens| tokens.estimated.0 == Some(true)),
        first_token_ms: attempt.latency_ms.0,
        duration_ms: attempt.duration_ms.0,
    }
}

fn named<'a>(name: &Text<'a>) -> Cow<'a, str> {
    name.0.clone().unwrap_or(Cow::Borrowed(UNKNOWN))
}
