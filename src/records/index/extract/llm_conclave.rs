//! Reads the rows of a consultation from a record of the original `llm-conclave`. Its records do
//! not state the cost of a round or a call, the duration of a round, or the judge: these have no
//! value here, and there are no rows of calls, so that it counts for no provider and no model.

use std::borrow::Cow;

use crate::domain::artifact::{Synthesis, Verdict};
use crate::domain::confidence::Confidence;
use crate::domain::ids::ModelRef;
use crate::domain::stored_record::{RecordWriter, StoredAgentRound, StoredDebate, StoredRecord};
use crate::domain::time::Timestamp;
use crate::records::stored::{self, RecordReadError};

use crate::records::index::rows::{
    AgentRole, AgentRow, ConsultationRow, DebateColumns, RoundRow, Rows, UNKNOWN, millionths,
};

/// Reads a record that is not one of ours. `stem` and `written_at` as in
/// [`super::rows`].
pub(super) fn rows<'a>(
    record: &'a [u8],
    stem: &'a str,
    written_at: Timestamp,
) -> Result<Rows<'a>, RecordReadError> {
    let record = stored::read(record)?;
    // A damaged record of ours is not the original's.
    if record.writer == RecordWriter::Conclave {
        Err(RecordReadError::NotARecord)
    } else {
        Ok(rows_of(record, stem, written_at))
    }
}

fn rows_of(record: StoredRecord, stem: &str, written_at: Timestamp) -> Rows<'_> {
    Rows {
        agents: agents(&record),
        rounds: rounds(&record),
        calls: Vec::new(),
        consultation: ConsultationRow {
            completion: record.completion(),
            confidence: record.confidence.map(Confidence::value),
            cost: record.total_cost(),
            total_tokens: record.total_tokens(),
            duration_ms: record.duration_ms,
            created_at: record.at.unwrap_or(written_at),
            agreement: record.agreement,
            dissent: record.verdict().map(|verdict| verdict.dissent.len() as u64),
            early_termination: record.early_termination,
            saved_micro_usd: record.cost_saved().map(|saved| saved.0),
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
            project_type: record
                .project_context
                .and_then(|project| project.project_type)
                .map(Cow::Owned),
        },
    }
}

fn agents(record: &StoredRecord) -> Vec<AgentRow<'static>> {
    let leading = record.synthesis().and_then(Synthesis::leading);
    let mut agents: Vec<AgentRow<'static>> = Vec::new();
    for agent in &record.agents {
        let (id, model) = (&agent.id, record.model_of(agent));
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
        let agrees = match record.verdict() {
            Some(verdict) if dissents(verdict) => Some(false),
            Some(_) if supports => Some(true),
            Some(_) | None => None,
        };
        let confidence = record.independent(id).and_then(|held| held.confidence);
        let named = |part: fn(&ModelRef) -> &str| {
            model.as_ref().map_or(Cow::Borrowed(UNKNOWN), |model| {
                Cow::Owned(part(model).to_owned())
            })
        };
        agents.push(AgentRow {
            agent_id: Cow::Owned(id.as_str().to_owned()),
            model: named(|model| &model.model),
            provider: named(|model| model.provider.as_str()),
            role: AgentRole::Expert,
            confidence: confidence.map(Confidence::value),
            agrees,
        });
    }
    agents
}

fn rounds(record: &StoredRecord) -> Vec<RoundRow> {
    let tokens = |number: u8| {
        let agent_rounds: Vec<&StoredAgentRound> = record
            .agent_rounds()
            .filter(|(round, _)| *round == number)
            .map(|(_, agent_round)| agent_round)
            .collect();
        // A sum without one answer's tokens would look like the whole.
        let tokens: Option<Vec<u64>> = agent_rounds
            .iter()
            .map(|agent_round| agent_round.total_tokens())
            .collect();
        tokens
            .filter(|tokens| !tokens.is_empty())
            .map(|tokens| tokens.into_iter().fold(0, u64::saturating_add))
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
        .rounds()
        .filter_map(|(number, _)| one(number))
        .collect()
}

fn debate(debate: &StoredDebate) -> DebateColumns {
    DebateColumns {
        heard: debate.experts,
        changed: debate.changed,
        rise: debate.rises.iter().copied().map(millionths).sum(),
        rise_of: debate.rises.len() as u64,
    }
}
