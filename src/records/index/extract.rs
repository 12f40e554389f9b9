//! Derives the rows of a consultation from its record.

mod agents;
mod calls;
mod rounds;

use crate::domain::confidence::Confidence;
use crate::domain::debate_value::ComparisonStatus;
use crate::domain::money::Cost;
use crate::domain::stored_record::{DebateValueAnalysis, StoredRecord};
use crate::domain::time::Timestamp;

use super::rows::{ConsultationRow, DebateColumns, RoundRow, Rows, UNKNOWN, millionths};
use agents::agents;
use calls::calls;
use rounds::{later_rounds, rounds};

/// Returns the rows of a record. `written_at` is used where it does not state when the consultation
/// began.
pub fn rows(record: &StoredRecord, written_at: Timestamp) -> Rows {
    let rounds = rounds(record);
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
            verdict_changed: record
                .verdict_changed_after_round_2
                .or_else(|| analysis?.verdict_changed_after_round_2),
            later_rounds: cost_of_later_rounds(record, &rounds),
            follow_up_of: record.follow_up_of.clone(),
        },
        rounds,
    }
}

/// Returns the number of dissents; without an answer there is nothing to dissent from.
fn dissent(record: &StoredRecord) -> Option<u64> {
    let answered = record.recommendation.as_ref();
    answered.map(|_| record.dissent.len() as u64)
}

/// Returns the changes of position: as the helper model compared them; in a record of a version
/// without comparison, as the experts stated them, else as an analysis in the record states them.
///
/// A comparison that was planned and failed leaves them unknown: the experts' own statements do not
/// replace it. The counts of an analysis follow the same judgement as
/// [`StoredRecord::position_change`].
fn debate(record: &StoredRecord) -> DebateColumns {
    let stated = stated_by_experts(record);
    let Some(analysis) = &record.debate_value_analysis else {
        return stated;
    };
    match analysis.status {
        Some(ComparisonStatus::Compared) => {
            let heard = analysis.agents_compared.unwrap_or_default();
            let changed = analysis.agents_changed_position.unwrap_or_default();
            DebateColumns {
                heard,
                changed: changed.min(heard),
                ..stated
            }
        }
        Some(_) => DebateColumns {
            heard: 0,
            changed: 0,
            ..stated
        },
        None if stated.heard > 0 => stated,
        None => stated_by_analysis(analysis),
    }
}

fn stated_by_experts(record: &StoredRecord) -> DebateColumns {
    let mut debate = DebateColumns::default();
    for held in &record.perspectives {
        let Some(change) = record.position_change(&held.agent_id) else {
            continue;
        };
        debate.heard += 1;
        debate.changed += u64::from(change.is_change());
        if let (Some(stated), Some(revised)) = (held.confidence, held.revised_confidence) {
            debate.rise += millionths(revised.value()) - millionths(stated.value());
            debate.rise_of += 1;
        }
    }
    debate
}

fn stated_by_analysis(analysis: &DebateValueAnalysis) -> DebateColumns {
    let heard = analysis.total_agents.unwrap_or_default();
    let changed = analysis.agents_changed_position.unwrap_or_default();
    // The difference of two confidences.
    let mean_rise = analysis
        .avg_confidence_increase
        .filter(|rise| (-1.0..=1.0).contains(rise));
    let rise_of = if mean_rise.is_some() { heard } else { 0 };
    DebateColumns {
        heard,
        changed: changed.min(heard),
        rise: mean_rise
            .map_or(0, millionths)
            .saturating_mul(i64::try_from(rise_of).unwrap_or_default()),
        rise_of,
    }
}

/// Returns the cost of Rounds 3 and 4: as the record states it, without the comparison, else all
/// that was spent in them.
fn cost_of_later_rounds(record: &StoredRecord, rounds: &[RoundRow]) -> Option<Cost> {
    let analysis = record.debate_value_analysis.as_ref();
    let stated = analysis
        .and_then(|analysis| analysis.rounds_3_4_cost)
        .and_then(|cost| cost.cost());
    stated.or_else(|| later_rounds(rounds))
}
