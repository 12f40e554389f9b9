//! The panel's rows, and which of its agents agree with the answer.

use crate::domain::artifact::{Synthesis, Verdict};
use crate::domain::confidence::Confidence;
use crate::domain::ids::AgentId;
use crate::domain::stored_record::{StoredAgent, StoredRecord, Substitution};
use crate::records::index::rows::{AgentRole, AgentRow, UNKNOWN};

/// Returns the experts in the panel's order, then the judge.
pub(super) fn agents(record: &StoredRecord) -> Vec<AgentRow> {
    let mut agents: Vec<AgentRow> = Vec::new();
    let supporters = supporters(record);
    for seat in &record.agents {
        let id = seat.id.as_str();
        // Two seats of one id would be one row.
        if id == AgentId::Judge.as_str() || agents.iter().any(|agent| agent.agent_id == id) {
            continue;
        }
        let (provider, model) = round_1_model(record, seat);
        let agrees = match record.recommendation {
            None => None,
            Some(_) if dissents(record, id) => Some(false),
            Some(_) if supporters.iter().any(|supporter| supporter == id) => Some(true),
            Some(_) => None,
        };
        agents.push(AgentRow {
            agent_id: id.to_owned(),
            model,
            provider,
            role: AgentRole::Expert,
            confidence: confidence(record, seat).map(Confidence::value),
            agrees,
        });
    }
    if let Some(judge) = &record.judge {
        agents.push(AgentRow {
            agent_id: AgentId::Judge.as_str().to_owned(),
            model: known(Some(&judge.model)),
            provider: known(Some(&judge.provider)),
            role: AgentRole::Judge,
            confidence: record.confidence.map(Confidence::value),
            agrees: record.recommendation.as_ref().map(|_| true),
        });
    }
    agents
}

/// Returns what an expert stated in Round 1.
fn confidence(record: &StoredRecord, seat: &StoredAgent) -> Option<Confidence> {
    record.independent(&seat.id)?.confidence
}

/// Returns the provider and model that answered for a seat in Round 1, and so stated its
/// confidence: the last fallback by then, else the seat's own model.
fn round_1_model(record: &StoredRecord, seat: &StoredAgent) -> (String, String) {
    let fallback = record
        .substitutions
        .iter()
        .rev()
        .map(|taken| &taken.of)
        .find(|taken| taken.agent_id == seat.id && taken.round_number <= 1);
    match fallback {
        Some(Substitution {
            substitute: model, ..
        }) => (model.provider.as_str().to_owned(), model.model.clone()),
        None => (known(seat.provider.as_ref()), known(seat.model.as_ref())),
    }
}

fn known(name: Option<&String>) -> String {
    let name = name.filter(|name| !name.is_empty());
    name.map_or(UNKNOWN, String::as_str).to_owned()
}

/// Returns the supporters of the synthesis's leading consensus point.
fn supporters(record: &StoredRecord) -> &[String] {
    record
        .synthesis()
        .and_then(Synthesis::leading)
        .map_or(&[], |leading| leading.supporting_agents.as_slice())
}

/// Returns whether an expert objects to the verdict.
fn dissents(record: &StoredRecord, expert: &str) -> bool {
    let objections = record.verdict().map(Verdict::objections);
    let mut objections = objections.into_iter().flatten();
    objections.any(|dissent| dissent.agent == expert)
}
