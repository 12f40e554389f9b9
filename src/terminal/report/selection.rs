//! A part of a report: one round, or one agent's part in the rounds.

use std::time::Duration;

use crate::domain::ids::AgentId;
use crate::domain::stored_record::{StoredAgentRound, StoredRecord};
use crate::domain::text::clean;

use super::agents::name;
use super::consultation::report;
use super::{rounds, sections};
use crate::terminal::output::format::round_title;

/// The part of a consultation to show; the default is all of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReportSelection {
    /// One round, 1 to 4.
    pub round: Option<u8>,
    /// One agent, or the judge.
    pub agent: Option<AgentId>,
}

/// Writes the selected part of a report, or the whole report.
pub fn markdown(record: &StoredRecord, selection: &ReportSelection) -> String {
    if *selection == ReportSelection::default() {
        return report(record);
    }
    let mut document = vec![
        "# Consultation".to_owned(),
        sections::question(&record.question).trim_end().to_owned(),
    ];
    let numbers = (1..=4).filter(|number| selection.round.is_none_or(|only| only == *number));
    let parts: Vec<String> = numbers
        .filter_map(|number| round(record, number, selection.agent.as_ref()))
        .collect();
    if parts.is_empty() {
        document.push(format!("_{}_", nothing(record, selection)));
    } else {
        document.extend(parts);
    }
    document.extend(foot(record, selection));
    clean(&(document.join("\n\n") + "\n"))
}

/// One round, or one agent's part in it; `None` where there is nothing.
fn round(record: &StoredRecord, number: u8, agent: Option<&AgentId>) -> Option<String> {
    let parts = match number {
        1 => rounds::positions(record, agent),
        2 => rounds::synthesis(record, agent),
        3 => rounds::cross_examination(record, agent),
        4 => rounds::verdict(record, agent),
        _ => Vec::new(),
    };
    (!parts.is_empty()).then(|| {
        format!(
            "## Round {number}: {}\n\n{}",
            round_title(number),
            parts.join("\n\n")
        )
    })
}

fn nothing(record: &StoredRecord, selection: &ReportSelection) -> String {
    let round = selection
        .round
        .map(|round| format!(" in Round {round}"))
        .unwrap_or_default();
    match &selection.agent {
        Some(agent) => format!(
            "Nothing is recorded of {}{round}.",
            name(record, agent.as_str())
        ),
        None => format!("Nothing is recorded{round}."),
    }
}

/// The cost, duration and tokens of the selected part, as far as they are recorded.
fn foot(record: &StoredRecord, selection: &ReportSelection) -> Option<String> {
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
    (!work.is_empty()).then(|| format!("---\n{}", sections::foot(cost, duration, tokens)))
}
