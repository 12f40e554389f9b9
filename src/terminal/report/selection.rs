//! A part of a report: one round, or one agent's part in the rounds.

use std::time::Duration;

use crate::domain::ids::AgentId;
use crate::domain::record::stored_record::{StoredAgentRound, StoredRecord};

use super::consultation::report;
use super::rounds;
use super::sections::{self, Detail, name};
use crate::terminal::document::{self, Line, Part};
use crate::terminal::output::format::{amount, round_title};

/// The part of a consultation to show; the default is all of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReportSelection {
    /// One round, 1 to 4.
    pub round: Option<u8>,
    /// One agent, or the judge.
    pub agent: Option<AgentId>,
}

pub fn markdown(record: &StoredRecord, selection: &ReportSelection) -> String {
    if *selection == ReportSelection::default() {
        return report(record);
    }
    let mut parts = vec![Part::Heading(1, Line::of("Consultation", []))];
    parts.extend(sections::question(&record.question, Vec::new()));
    let head = parts.len();
    let agent = selection.agent.as_ref();
    for number in (1..=4).filter(|number| selection.round.is_none_or(|only| only == *number)) {
        let answers = match number {
            1 if agent.is_none() => rounds::positions(record, agent, Detail::Brief),
            1 => rounds::positions(record, agent, Detail::Full),
            2 => rounds::synthesis(record, agent),
            3 => rounds::cross_examination(record, agent),
            _ => rounds::verdict(record, agent),
        };
        if !answers.is_empty() {
            let title = Line::of("Round {}: {}", [&number.to_string(), round_title(number)]);
            parts.push(Part::Heading(2, title));
            parts.extend(answers);
        }
    }
    if parts.len() == head {
        let agent = agent
            .map(|agent| name(record, agent.as_str()))
            .unwrap_or_default();
        let round = selection
            .round
            .map(|round| round.to_string())
            .unwrap_or_default();
        let nothing = Line::of("_Nothing is recorded", [])
            .with(" of {}", agent)
            .with(" in Round {}", &round);
        parts.push(Part::Paragraph(nothing.and("._", [])));
    }
    parts.extend(foot(record, selection));
    document::markdown(&parts)
}

fn foot(record: &StoredRecord, selection: &ReportSelection) -> Option<Part> {
    let is_meant = |(round, work): &(u8, &StoredAgentRound)| {
        selection.round.is_none_or(|only| only == *round)
            && selection
                .agent
                .as_ref()
                .is_none_or(|agent| *agent == work.agent_id)
    };
    let work: Vec<&StoredAgentRound> = record
        .agent_rounds()
        .filter(is_meant)
        .map(|(_, work)| work)
        .collect();
    let cost = record.cost_of(selection.round, selection.agent.as_ref());
    let tokens = work
        .iter()
        .filter_map(|work| work.total_tokens())
        .reduce(u64::saturating_add);
    // The agents of a round work in parallel, so its duration is recorded separately.
    let duration = match (&selection.agent, selection.round) {
        (None, Some(number)) => record
            .rounds()
            .find(|(round, _)| *round == number)
            .and_then(|(_, round)| round.duration()),
        (Some(_) | None, _) => work
            .iter()
            .filter_map(|work| work.duration())
            .reduce(Duration::saturating_add),
    };
    (!work.is_empty()).then(|| Part::Foot(sections::spent(cost.map(amount), duration, tokens)))
}
