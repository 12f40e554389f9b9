//! The agents of a consultation: their names and headings.

use crate::domain::ids::AgentId;
use crate::domain::panel::unique_name;
use crate::domain::stored_record::{StoredAgent, StoredRecord};

use crate::terminal::markdown::escape::inline;
use crate::terminal::output::format::model_name;

pub(super) fn name(record: &StoredRecord, agent: &str) -> String {
    inline(match agent {
        judge if judge == AgentId::Judge.as_str() => "Judge",
        helper if helper == AgentId::Helper.as_str() => "Helper",
        expert => record.name_of(expert),
    })
}

/// The seat's name; with its id where another seat has the same name.
pub(super) fn seat_name(record: &StoredRecord, seat: &StoredAgent) -> String {
    let names = record.agents.iter().map(|agent| agent.name.as_str());
    unique_name(&seat.id, &seat.name, names)
}

/// A seat as a heading.
pub(super) fn heading(record: &StoredRecord, seat: &StoredAgent) -> String {
    let model = record
        .model_of(seat)
        .map(|model| format!(" ({})", inline(&model_name(&model))))
        .unwrap_or_default();
    format!("### {}{model}", inline(&seat_name(record, seat)))
}
