//! Derives the rows of a consultation from its record.

mod agents;
mod calls;

use std::collections::BTreeSet;

use rusqlite::types::Value;

use crate::domain::answer::confidence::Confidence;
use crate::domain::cost::money::Cost;
use crate::domain::names::stored_name;
use crate::domain::record::stored_record::StoredRecord;
use crate::domain::time::Timestamp;

use super::rows::{Columns, Rows, UNKNOWN, millionths};
use agents::agents;
use calls::calls;

/// `written_at` is used where it does not state when the consultation began.
pub fn rows(record: &StoredRecord, written_at: Timestamp) -> Rows {
    let created_at = record.at.unwrap_or(written_at);
    Rows {
        id: record.id.clone(),
        created_at,
        consultation: consultation(record, created_at),
        agents: agents(record),
        rounds: rounds(record),
        calls: calls(record),
    }
}

fn consultation(record: &StoredRecord, created_at: Timestamp) -> Columns {
    let known = |text: &Option<String>| text.clone().unwrap_or_else(|| UNKNOWN.to_owned());
    let cost = record.total_cost();
    // Without an answer there is nothing to dissent from.
    let answered = record.recommendation.as_ref();
    let dissent = answered.map(|_| record.dissent.len() as u64);
    let context_tokens = record.context.as_ref().and_then(|context| context.tokens);
    let caching = record.caching();
    let cache_saved = caching.and_then(|caching| caching.saved_micro_usd);
    let analysis = record.debate_value_analysis.as_ref();
    let heard = analysis.and_then(|analysis| analysis.agents_compared);
    let heard = heard.unwrap_or_default();
    let minds = record.perspectives.iter();
    let changed = minds.filter(|held| held.changed == Some(true)).count() as u64;
    let (rise, rise_of) = confidence_rise(record);
    let verdict_changed = analysis.and_then(|analysis| analysis.verdict_changed_after_round_2);
    let later_rounds = analysis.and_then(|analysis| analysis.later_rounds_cost?.cost());
    vec![
        ("id", record.id.clone().into()),
        ("question", record.question.clone().into()),
        ("mode", known(&record.mode).into()),
        ("final_recommendation", record.recommendation.clone().into()),
        ("confidence", confidence(record.confidence)),
        ("total_cost", cost.map(|cost| cost.known.usd()).into()),
        ("total_micro_usd", micro_usd(cost)),
        ("lower_bound", lower_bound(cost)),
        ("by_plan", cost.is_some_and(|cost| cost.by_plan).into()),
        ("total_tokens", whole(record.total_tokens())),
        ("duration_ms", whole(record.duration_ms)),
        ("created_at", created_at.to_string().into()),
        ("schema_version", record.schema_version.clone().into()),
        ("state", known(&record.state).into()),
        ("ended", stored_name(&record.completion()).into()),
        ("status", record.status.clone().into()),
        ("abort_reason", record.abort_reason.clone().into()),
        (
            "project_type",
            record.project_type().map(str::to_owned).into(),
        ),
        ("agreement", record.agreement.into()),
        ("dissent", whole(dissent)),
        ("early_termination", record.early_termination.into()),
        ("saved_micro_usd", micro_usd(record.cost_saved())),
        ("experts_heard", whole(heard)),
        ("experts_changed", whole(changed.min(heard))),
        ("confidence_rise", rise.into()),
        ("confidence_rise_of", rise_of.into()),
        ("verdict_changed", verdict_changed.into()),
        ("later_rounds_micro_usd", micro_usd(later_rounds)),
        ("later_rounds_lower_bound", lower_bound(later_rounds)),
        ("follow_up_of", record.follow_up_of.clone().into()),
        ("rejudged_from", record.rejudged_from.clone().into()),
        ("context_tokens", whole(context_tokens)),
        (
            "cache_saved_micro_usd",
            cache_saved.map(|saved| saved.0).into(),
        ),
        (
            "cache_saved_incomplete",
            caching.is_some_and(|caching| caching.incomplete).into(),
        ),
    ]
}

/// Returns the sum of the rises in confidence, in millionths, and their number.
fn confidence_rise(record: &StoredRecord) -> (i64, i64) {
    let rises = record.perspectives.iter().filter_map(|held| {
        let (stated, revised) = held.confidence.zip(held.revised_confidence)?;
        Some(millionths(revised.value()) - millionths(stated.value()))
    });
    rises.fold((0, 0), |(sum, count), rise| (sum + rise, count + 1))
}

/// Includes rounds whose calls were all lost.
fn rounds(record: &StoredRecord) -> Vec<Columns> {
    let spending = record.cost.as_ref().map(|cost| &cost.by_round);
    let in_spending = spending.into_iter().flat_map(|rounds| rounds.keys());
    let numbers: BTreeSet<u8> = in_spending
        .filter_map(|round| round.strip_prefix("round_")?.parse().ok())
        .chain(record.agent_rounds().map(|(number, _)| number))
        .collect();
    let row = |number: u8| {
        let name = format!("round_{number}");
        let round = record.responses.get(&name);
        let spent = spending.and_then(|rounds| rounds.get(&name));
        let cost = spent.and_then(|spent| spent.amount.cost());
        let kind = match number {
            1 => "independent",
            2 => "synthesis",
            3 => "cross_exam",
            4 => "verdict",
            _ => "other",
        };
        vec![
            ("consultation_id", record.id.clone().into()),
            ("round_number", number.into()),
            ("round_type", kind.to_owned().into()),
            (
                "duration_ms",
                whole(round.and_then(|round| round.duration_ms)),
            ),
            (
                "tokens_used",
                whole(spent.and_then(|spent| spent.tokens.total)),
            ),
            ("micro_usd", micro_usd(cost)),
            ("lower_bound", lower_bound(cost)),
        ]
    };
    numbers.into_iter().map(row).collect()
}

fn whole(number: impl Into<Option<u64>>) -> Value {
    let saturated = |number| i64::try_from(number).unwrap_or(i64::MAX);
    number.into().map(saturated).into()
}

fn confidence(stated: Option<Confidence>) -> Value {
    stated.map(Confidence::value).into()
}

fn micro_usd(cost: impl Into<Option<Cost>>) -> Value {
    whole(cost.into().map(|cost| cost.known.0))
}

/// An unknown cost is none: it has no amount either.
fn lower_bound(cost: Option<Cost>) -> Value {
    cost.is_some_and(|cost| cost.lower_bound).into()
}
