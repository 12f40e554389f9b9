//! Derives the rows of a consultation from its record.

mod agents;
mod calls;
mod rounds;

use crate::domain::confidence::Confidence;
use crate::domain::stored_record::StoredRecord;
use crate::domain::time::Timestamp;

use super::rows::{ConsultationRow, DebateColumns, Rows, UNKNOWN, millionths};
use agents::agents;
use calls::calls;
use rounds::rounds;

/// Returns the rows of a record. `written_at` is used where it does not state when the consultation
/// began.
pub fn rows(record: &StoredRecord, written_at: Timestamp) -> Rows {
    let analysis = record.debate_value_analysis.as_ref();
    let caching = record.caching();
    let known = |text: &Option<String>| text.clone().unwrap_or_else(|| UNKNOWN.to_owned());
    Rows {
        agents: agents(record),
        calls: calls(record),
        consultation: ConsultationRow {
            id: record.id.clone(),
            question: record.question.clone(),
            mode: known(&record.mode),
            final_recommendation: record.recommendation.clone(),
            confidence: record.confidence.map(Confidence::value),
            cost: record.total_cost(),
            total_tokens: record.total_tokens(),
            duration_ms: record.duration_ms,
            created_at: record.at.unwrap_or(written_at),
            schema_version: record.schema_version.clone(),
            state: known(&record.state),
            completion: record.completion(),
            status: record.status.clone(),
            abort_reason: record.abort_reason.clone(),
            project_type: record.project_type().map(str::to_owned),
            context_tokens: record.context.as_ref().and_then(|context| context.tokens),
            agreement: record.agreement,
            dissent: dissent(record),
            early_termination: record.early_termination,
            saved_micro_usd: record.cost_saved().map(|saved| saved.known.0),
            cache_saved_micro_usd: caching
                .and_then(|caching| caching.saved_micro_usd)
                .map(|saved| saved.0),
            cache_saved_incomplete: caching.is_some_and(|caching| caching.incomplete),
            debate: debate(record),
            verdict_changed: analysis.and_then(|analysis| analysis.verdict_changed_after_round_2),
            later_rounds: analysis.and_then(|analysis| analysis.later_rounds_cost?.cost()),
            follow_up_of: record.follow_up_of.clone(),
        },
        rounds: rounds(record),
    }
}

/// Returns the number of dissents; without an answer there is nothing to dissent from.
fn dissent(record: &StoredRecord) -> Option<u64> {
    let answered = record.recommendation.as_ref();
    answered.map(|_| record.dissent.len() as u64)
}

/// Returns the changes of position as the record compares them, and the changes in confidence of
/// the experts that say whether they changed it.
fn debate(record: &StoredRecord) -> DebateColumns {
    let analysis = record.debate_value_analysis.as_ref();
    let number = |number: Option<u64>| number.unwrap_or_default();
    let heard = analysis.map_or(0, |analysis| number(analysis.agents_compared));
    let changed = analysis.map_or(0, |analysis| number(analysis.agents_changed_position));
    let mut debate = DebateColumns {
        heard,
        changed: changed.min(heard),
        ..DebateColumns::default()
    };
    let stated = record
        .perspectives
        .iter()
        .filter(|held| held.changed.is_some());
    for held in stated {
        if let Some((stated, revised)) = held.confidence.zip(held.revised_confidence) {
            debate.rise += millionths(revised.value()) - millionths(stated.value());
            debate.rise_of += 1;
        }
    }
    debate
}
