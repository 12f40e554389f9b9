//! The report of a stored consultation, in the layout of `transcript`: whole, or one round or one
//! agent of it. Pure. Model text goes through `escape`, so that no answer can pass for another part
//! of the document.

mod agents;
mod rounds;

use std::fmt::Write as _;
use std::time::Duration;

use crate::domain::ids::AgentId;
use crate::domain::money::Cost;
use crate::domain::outcome::Grade;
use crate::domain::stored_record::{Completion, StoredAgent, StoredAgentRound, StoredRecord};

use self::agents::{confidence_before, name, revisions, seat_name};
use super::{debate_value, second_verdict, sections};
use crate::terminal::markdown::escape::{block, inline};
use crate::terminal::output::format::{amount, model_address, round_title, seconds, thousands};

/// The part of a consultation to show; the default is all of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReportSelection {
    /// One round, 1 to 4.
    pub round: Option<u8>,
    /// One agent, or the judge.
    pub agent: Option<AgentId>,
}

/// Writes the report of a consultation, finished or not.
pub fn markdown(record: &StoredRecord, selection: &ReportSelection) -> String {
    let mut document = Vec::new();
    if *selection == ReportSelection::default() {
        document.extend(status_notice(record));
        document.push("# Consultation Summary".to_owned());
        document.push(head(record));
        document.extend(
            record
                .second_pass()
                .as_ref()
                .and_then(second_verdict::doubt),
        );
        document.push(consensus(record));
        document.extend(record.verdict().and_then(|verdict| {
            sections::evidence(&verdict.evidence, &|agent| name(record, agent))
        }));
        document.extend(perspectives(record));
        document.extend(changes(record));
        document.extend(
            (!record.concerns.is_empty())
                .then(|| format!("## Concerns Raised\n\n{}", sections::list(&record.concerns))),
        );
        document.extend(
            record.verdict().and_then(|verdict| {
                sections::dissent(&verdict.dissent, &|agent| name(record, agent))
            }),
        );
        document.extend(
            record
                .debate_value()
                .and_then(|value| debate_value::section(&value, &|agent| name(record, agent))),
        );
        document.push(format!(
            "---\n{}",
            foot(
                record.total_cost(),
                record.duration(),
                record.total_tokens()
            )
        ));
    } else {
        document.push("# Consultation Summary".to_owned());
        document.push(sections::question(&record.question).trim_end().to_owned());
        let numbers = (1..=4).filter(|number| selection.round.is_none_or(|only| only == *number));
        let parts: Vec<String> = numbers
            .filter_map(|number| round(record, number, selection.agent.as_ref()))
            .collect();
        let none = format!("_{}_", nothing(record, selection));
        document.extend(if parts.is_empty() { vec![none] } else { parts });
        document.extend(selected_foot(record, selection));
    }
    document.join("\n\n") + "\n"
}

/// The notice above everything else: how the result falls short of the panel.
fn status_notice(record: &StoredRecord) -> Option<String> {
    let is_degraded =
        record.status.as_deref() == Some("degraded") || !record.degradations.is_empty();
    let mut notice = match record.completion() {
        Completion::Completed if !is_degraded => return None,
        Completion::Completed => {
            "> ⚠️ **Degraded result:** this is less than the panel promised.".to_owned()
        }
        Completion::Aborted => {
            let during = record
                .aborted_during
                .as_ref()
                .map(|during| format!(" in {}", inline(during)))
                .unwrap_or_default();
            let why = record
                .abort_message
                .as_ref()
                .or(record.abort_reason.as_ref());
            format!(
                "> 🛑 **Aborted{during}:** {}",
                why.map_or_else(|| "no reason recorded".to_owned(), |why| inline(why))
            )
        }
        Completion::Unfinished => {
            let state = record
                .state
                .as_ref()
                .map(|state| format!(" in {}", inline(state)))
                .unwrap_or_default();
            format!(
                "> 🛑 **Incomplete:** the record ends{state}; the consultation was interrupted or \
                 is still running."
            )
        }
    };
    if record.completion() != Completion::Completed {
        notice.push_str("\n>\n> The finished part follows. It is not a verdict.");
    }
    if !record.degradations.is_empty() {
        notice.push_str("\n>");
    }
    for degradation in &record.degradations {
        let _ = write!(notice, "\n> - {}", inline(degradation));
    }
    Some(notice)
}

fn head(record: &StoredRecord) -> String {
    let confidence = sections::confidence_of(record.verdict(), record.confidence);
    let twice = record
        .second_pass()
        .map(|second| second_verdict::line(&second, record.judge().as_ref()));
    let twice = twice
        .map(|line| format!("  \n{}", line.trim_end()))
        .unwrap_or_default();
    let rejudged = record
        .rejudged_from
        .as_ref()
        .map(|from| second_verdict::rejudged_line(from, record.held().as_ref()));
    let rejudged = rejudged
        .map(|line| format!("  \n{}", line.trim_end()))
        .unwrap_or_default();
    let judge = record
        .judge()
        .map(|judge| format!("  \n**Judge:** {}", inline(&model_address(&judge))))
        .unwrap_or_default();
    let seat = |agent: &StoredAgent| {
        let model = record
            .model_of(agent)
            .map(|model| format!(" ({model})"))
            .unwrap_or_default();
        format!("{}{model}", seat_name(record, agent))
    };
    let seats: Vec<String> = record.agents.iter().map(seat).collect();
    let panel = if seats.is_empty() {
        String::new()
    } else {
        format!("  \n**Panel:** {}", inline(&seats.join(", ")))
    };
    let grade = record
        .grade
        .as_ref()
        .map(|grade| format!("  \n**Outcome:** {}", outcome(grade)))
        .unwrap_or_default();
    let selection = record
        .persona_selection
        .as_ref()
        .map(sections::personas)
        .unwrap_or_default();
    format!(
        "{}\n**Confidence:** {confidence}{grade}{twice}{rejudged}{judge}{panel}{selection}",
        sections::question(&record.question)
    )
}

/// The grade of the answer, with the user's note.
fn outcome(grade: &Grade) -> String {
    match &grade.note {
        Some(note) => format!("{}: {}", grade.outcome.name(), inline(note)),
        None => grade.outcome.name().to_owned(),
    }
}

fn consensus(record: &StoredRecord) -> String {
    let text = match (record.verdict(), &record.recommendation) {
        (Some(verdict), _) if verdict.is_menu() || verdict.composed_from.is_some() => {
            return sections::verdict(verdict);
        }
        (_, Some(recommendation)) => sections::answer(
            recommendation,
            record.summary.as_deref().unwrap_or_default(),
        ),
        (_, None) => without_verdict(record),
    };
    format!("## Consensus\n\n{text}")
}

fn without_verdict(record: &StoredRecord) -> String {
    let why = if record.completion() == Completion::Completed {
        "No verdict was asked for"
    } else {
        "No verdict was reached"
    };
    let points = record
        .synthesis()
        .into_iter()
        .flat_map(|synthesis| &synthesis.consensus_points)
        .map(|point| point.point.as_str());
    let points: Vec<&str> = points.collect();
    match &record.partial_consensus {
        Some(_) if !points.is_empty() => format!(
            "_{why}. Points of agreement so far:_\n\n{}",
            sections::list(&points)
        ),
        Some(found) => format!("_{why}. Points of agreement so far:_\n\n{}", block(found)),
        None if record.independents().next().is_none() => {
            format!("_{why}, and no expert has answered._")
        }
        None => format!("_{why}: the positions stand side by side below._"),
    }
}

fn perspectives(record: &StoredRecord) -> Option<String> {
    let positions = rounds::positions(record, None);
    (!positions.is_empty()).then(|| format!("## Agent Perspectives\n\n{}", positions.join("\n\n")))
}

fn changes(record: &StoredRecord) -> Option<String> {
    sections::changes(
        &revisions(record),
        &|revision| confidence_before(record, revision),
        &|agent| name(record, agent),
    )
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
fn selected_foot(record: &StoredRecord, selection: &ReportSelection) -> Option<String> {
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
    let cost = work
        .iter()
        .filter_map(|work| work.total_cost())
        .reduce(|one, other| one + other);
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
    (!work.is_empty()).then(|| format!("---\n{}", foot(cost, duration, tokens)))
}

fn foot(cost: Option<Cost>, duration: Option<Duration>, tokens: Option<u64>) -> String {
    let or_missing = |text: Option<String>| text.unwrap_or_else(|| "not recorded".to_owned());
    let (cost, duration, tokens) = (
        or_missing(cost.map(amount)),
        or_missing(duration.map(seconds)),
        or_missing(tokens.map(thousands)),
    );
    format!("**Cost:** {cost} | **Duration:** {duration} | **Tokens:** {tokens}")
}
