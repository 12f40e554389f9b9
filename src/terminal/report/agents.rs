//! The agents of a consultation: their names and headings.

use crate::domain::ids::AgentId;
use crate::domain::panel::unique_name;
use crate::domain::stored_record::{StoredAgent, StoredRecord};

use crate::terminal::document::Line;
use crate::terminal::output::format::model_name;

pub(super) fn name<'a>(record: &'a StoredRecord, agent: &'a str) -> &'a str {
    match agent {
        judge if judge == AgentId::Judge.as_str() => "Judge",
        helper if helper == AgentId::Helper.as_str() => "Helper",
        expert => record.name_of(expert),
    }
}

/// The seat's name; with its id where another seat has the same name.
pub(super) fn seat_name(record: &StoredRecord, seat: &StoredAgent) -> String {
    let names = record.agents.iter().map(|agent| agent.name.as_str());
    unique_name(&seat.id, &seat.name, names)
}

/// A seat with its model.
pub(super) fn heading(record: &StoredRecord, seat: &StoredAgent) -> Line {
    let model = record.model_of(seat).map(|model| model_name(&model));
    Line::foreign(seat_name(record, seat)).with(" ({})", &model.unwrap_or_default())
}
