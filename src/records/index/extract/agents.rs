//! The panel's rows, and which of its agents agree with the answer.

use crate::domain::artifact::Synthesis;
use crate::domain::confidence::Confidence;
use crate::domain::ids::AgentId;
use crate::domain::stored_record::{StoredAgent, StoredRecord};
use crate::records::index::rows::{AgentRole, AgentRow, UNKNOWN};

/// Returns the experts in the panel's order, then the judge.
pub(super) fn agents(record: &StoredRecord) -> Vec<AgentRow> {
    let mut agents: Vec<AgentRow> = Vec::new();
    let (supporters, dissenters) = (supporters(record), dissenters(record));
    for seat in &record.agents {
        let id = seat.id.as_str();
        // Two seats of one id would be one row.
        if id == AgentId::Judge.as_str() || agents.iter().any(|agent| agent.agent_id == id) {
            continue;
        }
        let (provider, model) = round_1_model(record, seat);
        let agrees = match record.recommendation {
            None => None,
            Some(_) if names_seat(seat, &dissenters) => Some(false),
            Some(_) if names_seat(seat, supporters) => Some(true),
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
    let perspective = record
        .perspectives
        .iter()
        .find(|held| held.agent_id == seat.id);
    match perspective {
        Some(held) => held.confidence,
        None => record.independent(&seat.id)?.confidence,
    }
}

/// Returns the provider and model that answered for a seat in Round 1, and so stated its
/// confidence: the last fallback by then, else the seat's own model.
fn round_1_model(record: &StoredRecord, seat: &StoredAgent) -> (String, String) {
    let is_in_time = |round: Option<u8>| round.is_none_or(|round| round <= 1);
    let fallback = record
        .substitutions
        .iter()
        .rev()
        .filter(|substitution| substitution.agent_id == seat.id)
        .filter(|substitution| is_in_time(substitution.round_number))
        .find_map(|substitution| substitution.substitute.as_ref());
    match fallback {
        Some(model) => (model.provider.as_str().to_owned(), model.model.clone()),
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

/// Returns the verdict's dissent, by ids; in a record without the verdict's artifact, by names.
fn dissenters(record: &StoredRecord) -> Vec<String> {
    match record.verdict() {
        Some(verdict) => verdict
            .objections()
            .iter()
            .map(|dissent| dissent.agent.clone())
            .collect(),
        None => record
            .dissent
            .iter()
            .map(|dissent| dissent.agent.clone())
            .collect(),
    }
}

/// Returns whether one of these is the seat's id or name.
fn names_seat(seat: &StoredAgent, agents: &[String]) -> bool {
    agents.iter().any(|agent| {
        agent.eq_ignore_ascii_case(seat.id.as_str()) || agent.eq_ignore_ascii_case(&seat.name)
    })
}
