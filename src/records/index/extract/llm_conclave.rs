//! Reads the rows of a consultation from a record that the original `llm-conclave` wrote. What its
//! records do not tell has no value here: what a round or a call cost, how long a round took, and
//! who judged. So it has no rows of calls, and counts for no provider and no model.

use std::borrow::Cow;

use crate::domain::artifact::{Synthesis, Verdict};
use crate::domain::confidence::Confidence;
use crate::domain::ids::ModelRef;
use crate::domain::stored_record::{
    StoredAgent, StoredAgentRound, StoredDebate, StoredRecord, Writer,
};
use crate::domain::time::Timestamp;
use crate::records::stored::{self, RecordReadError};

use super::{NotIndexable, UNKNOWN};
use crate::records::index::rows::{AgentRow, ConsultationRow, Debate, Role, RoundRow, Rows};

/// Reads a record that is not one of ours. `stem` and `written_at` as in
/// [`super::extracting::rows`].
pub(super) fn rows<'a>(
    record: &'a [u8],
    stem: &'a str,
    written_at: Timestamp,
) -> Result<Rows<'a>, NotIndexable> {
    let record = stored::read(record).map_err(|error| match error {
        RecordReadError::NotJson(_) => NotIndexable::NotJson,
        RecordReadError::Newer(version) => NotIndexable::Newer(version),
        RecordReadError::Io { .. } | RecordReadError::TooLarge | RecordReadError::NotARecord => {
            NotIndexable::NotARecord
        }
    })?;
    // A damaged record of ours is none of the original's.
    if record.writer == Writer::Conclave {
        Err(NotIndexable::NotARecord)
    } else {
        Ok(of_kept(record, stem, written_at))
    }
}

fn of_kept(record: StoredRecord, stem: &str, written_at: Timestamp) -> Rows<'_> {
    Rows {
        agents: agents(&record),
        rounds: rounds(&record),
        calls: Vec::new(),
        consultation: ConsultationRow {
            ended: record.completion(),
            confidence: record.confidence.map(Confidence::value),
            cost: record.cost,
            total_tokens: record.tokens,
            duration_ms: record
                .duration
                .map(|duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)),
            created_at: record.at.unwrap_or(written_at),
            agreement: record.agreement,
            dissent: record
                .verdict
                .as_ref()
                .map(|verdict| verdict.dissent.len() as u64),
            early_termination: record.early_termination.is_some(),
            saved_micro_usd: record
                .early_termination
                .as_ref()
                .and_then(|early| early.saved)
                .map(|saved| saved.0),
            debate: record.debate.as_ref().map(debate).unwrap_or_default(),
            verdict_changed: None,
            later_rounds: None,
            writer: record.writer,
            id: Cow::Owned(record.id),
            stem: Cow::Borrowed(stem),
            question: Cow::Owned(record.question),
            mode: record.mode.map_or(Cow::Borrowed(UNKNOWN), Cow::Owned),
            state: record.state.map_or(Cow::Borrowed(UNKNOWN), Cow::Owned),
            final_recommendation: record.recommendation.map(Cow::Owned),
            schema_version: record.schema_version.map(Cow::Owned),
            status: record.status.map(Cow::Owned),
            abort_reason: record.abort_reason.map(Cow::Owned),
            project_type: record.project_type.map(Cow::Owned),
        },
    }
}

fn agents(record: &StoredRecord) -> Vec<AgentRow<'static>> {
    let leading = record.synthesis.as_ref().and_then(Synthesis::leading);
    let mut agents: Vec<AgentRow<'static>> = Vec::new();
    for StoredAgent { id, model, .. } in &record.experts {
        // Two agents of one name would be one row.
        if agents.iter().any(|agent| agent.agent_id == id.as_str()) {
            continue;
        }
        let dissents = |verdict: &Verdict| {
            verdict
                .dissent
                .iter()
                .any(|dissent| dissent.agent == id.as_str())
        };
        let supports = leading.is_some_and(|point| {
            point
                .supporting_agents
                .iter()
                .any(|agent| agent == id.as_str())
        });
        let agrees = match &record.verdict {
            Some(verdict) if dissents(verdict) => Some(false),
            Some(_) if supports => Some(true),
            Some(_) | None => None,
        };
        let confidence = record
            .independents
            .iter()
            .find(|held| held.agent_id == *id)
            .and_then(|held| held.confidence);
        let named = |part: fn(&ModelRef) -> &str| {
            model.as_ref().map_or(Cow::Borrowed(UNKNOWN), |model| {
                Cow::Owned(part(model).to_owned())
            })
        };
        agents.push(AgentRow {
            agent_id: Cow::Owned(id.as_str().to_owned()),
            model: named(|model| &model.model),
            provider: named(|model| model.provider.as_str()),
            role: Role::Expert,
            confidence: confidence.map(Confidence::value),
            agrees,
        });
    }
    agents
}

fn rounds(record: &StoredRecord) -> Vec<RoundRow> {
    let tokens = |number: u8| {
        let work: Vec<&StoredAgentRound> = record
            .agent_rounds
            .iter()
            .filter(|work| work.round == number)
            .collect();
        // A sum that lacks an answer's tokens would pass for the whole.
        let told: Option<Vec<u64>> = work.iter().map(|work| work.tokens).collect();
        told.filter(|told| !told.is_empty())
            .map(|told| told.into_iter().fold(0, u64::saturating_add))
    };
    let one = |number: u8| {
        let round_type = match number {
            1 => "independent",
            2 => "synthesis",
            3 => "cross_exam",
            4 => "verdict",
            _ => return None,
        };
        Some(RoundRow {
            round_number: number,
            round_type,
            duration_ms: None,
            tokens_used: tokens(number),
            cost: None,
        })
    };
    record
        .rounds
        .iter()
        .filter_map(|round| one(round.number))
        .collect()
}

/// In whole numbers, so that a sum over many does not depend on their order.
#[expect(clippy::cast_possible_truncation, reason = "a rise is at most 1")]
fn debate(told: &StoredDebate) -> Debate {
    Debate {
        heard: told.experts,
        changed: told.changed,
        rise: told
            .rises
            .iter()
            .map(|rise| (rise * 1e6).round() as i64)
            .sum(),
        rise_of: told.rises.len() as u64,
    }
}
