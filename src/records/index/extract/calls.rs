//! Reads from a record the calls that came back.

use std::borrow::Cow;

use crate::domain::money::{Cost, MicroUsd};

use super::UNKNOWN;
use super::agents::split;
use super::rounds::money;
use crate::records::index::lenient_json::Text;
use crate::records::index::record_fields::{Attempt, Record, Work};
use crate::records::index::rows::CallRow;

/// The greatest number of a call that is believed.
const LAST_CALL: u64 = 1 << 24;

/// All calls by their numbers. Those without one, or with one that another has, get the next: the
/// money of each is to be counted once.
pub(super) fn calls<'a>(record: &Record<'a>) -> Vec<CallRow<'a>> {
    let mut calls = Vec::new();
    for (round, work) in &record.responses.0 {
        for work in work.agents.all().iter().filter_map(|work| work.0.as_ref()) {
            calls.extend(
                work.attempts
                    .all()
                    .iter()
                    .filter_map(|attempt| attempt.0.as_ref())
                    .map(|attempt| call(*round, work, attempt)),
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

/// One call; without a number it is the last.
fn call<'a>(round_number: u8, work: &Work<'a>, attempt: &Attempt<'a>) -> CallRow<'a> {
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
        agent_id: named(&work.agent_id),
        answer: work.answer.0.clone(),
        purpose: attempt.purpose.0.clone(),
        provider: provider.unwrap_or(Cow::Borrowed(UNKNOWN)),
        model: model.unwrap_or(Cow::Borrowed(UNKNOWN)),
        stop: attempt.stop.0.clone(),
        failed,
        // Of a call and its hedge, the slower one is dropped and never comes back.
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
