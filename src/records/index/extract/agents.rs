//! The panel's rows, and which of its agents agree with the answer.

use std::collections::BTreeSet;

use crate::domain::answer::artifact::Synthesis;
use crate::domain::ids::AgentId;
use crate::domain::record::stored_record::{StoredAgent, StoredRecord};
use crate::records::index::rows::{Columns, UNKNOWN};

use super::confidence;

/// In the panel's order, then the judge.
pub(super) fn agents(record: &StoredRecord) -> Vec<Columns> {
    let row = |id: &str, (provider, model), role: &str, stated, agrees: Option<bool>| {
        vec![
            ("consultation_id", record.id.clone().into()),
            ("agent_id", id.to_owned().into()),
            ("model", known(model).into()),
            ("provider", known(provider).into()),
            ("role", role.to_owned().into()),
            ("confidence", confidence(stated)),
            ("agrees", agrees.into()),
        ]
    };
    let mut agents = Vec::new();
    let supporters = supporters(record);
    // Two seats of one id would be one row.
    let mut ids = BTreeSet::from([AgentId::Judge.as_str()]);
    for seat in &record.agents {
        let id = seat.id.as_str();
        if !ids.insert(id) {
            continue;
        }
        let agrees = match record.recommendation {
            None => None,
            Some(_) if dissents(record, id) => Some(false),
            Some(_) if supporters.iter().any(|supporter| supporter == id) => Some(true),
            Some(_) => None,
        };
        let stated = record
            .independent(&seat.id)
            .and_then(|held| held.confidence);
        agents.push(row(
            id,
            round_1_model(record, seat),
            "expert",
            stated,
            agrees,
        ));
    }
    if let Some(judge) = &record.judge {
        let model = (Some(judge.provider.as_str()), Some(judge.model.as_str()));
        let agrees = record.recommendation.as_ref().map(|_| true);
        let id = AgentId::Judge;
        agents.push(row(id.as_str(), model, "judge", record.confidence, agrees));
    }
    agents
}

/// The last fallback by then, else the seat's own model.
fn round_1_model<'r>(
    record: &'r StoredRecord,
    seat: &'r StoredAgent,
) -> (Option<&'r str>, Option<&'r str>) {
    let mut latest_first = record.substitutions.iter().rev().map(|taken| &taken.of);
    let fallback = latest_first.find(|taken| taken.agent_id == seat.id && taken.round_number <= 1);
    match fallback.map(|taken| &taken.substitute) {
        Some(model) => (Some(model.provider.as_str()), Some(&model.model)),
        None => (seat.provider.as_deref(), seat.model.as_deref()),
    }
}

fn known(name: Option<&str>) -> String {
    let name = name.filter(|name| !name.is_empty());
    name.unwrap_or(UNKNOWN).to_owned()
}

fn supporters(record: &StoredRecord) -> &[String] {
    record
        .synthesis()
        .and_then(Synthesis::leading)
        .map_or(&[], |leading| leading.supporting_agents.as_slice())
}

fn dissents(record: &StoredRecord, expert: &str) -> bool {
    let verdict = record.verdict().into_iter();
    let mut objections = verdict.flat_map(|verdict| &verdict.dissent);
    objections.any(|dissent| dissent.agent == expert)
}
