//! A consultation as a page: the report with all that the rounds brought, and where the time and
//! the money went.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::domain::money::Cost;
use crate::domain::stored_record::{StoredAgentRound, StoredRecord, StoredRound};

use super::sections::Detail;
use super::{consultation, head, rounds, sections};
use crate::domain::time::Timestamp;
use crate::terminal::document::{self, Line, Part, Table, paragraph, titled};
use crate::terminal::output::format::{amount, round_title, seconds, thousands};

/// Renders the page.
pub fn page(record: &StoredRecord) -> String {
    page_beside(record, &BTreeSet::new())
}

/// Renders the page, with links to the pages of others that lie in the same folder.
pub fn page_beside(record: &StoredRecord, beside: &BTreeSet<String>) -> String {
    let mut parts: Vec<Part> = head::status_notice(record).into_iter().collect();
    parts.extend(title(record));
    let mut answer = vec![Part::Facts(answer_facts(record))];
    answer.extend(head::doubt(record));
    answer.extend(consultation::answer(record));
    parts.extend(titled(2, "Answer", answer));
    parts.extend(consultation::dissent(record));
    parts.extend(sections::open_points(record));
    let about = "Round 1: each expert's answer, given without seeing the others.";
    let positions = rounds::positions(record, None, Detail::Full);
    parts.extend(titled(2, "Positions", explained(about, positions)));
    let about = "Round 2: the judge's synthesis of the positions.";
    let mut synthesis = rounds::agreed(record, None);
    // Without a cross-examination, they are the open points above.
    if record.cross_exam().is_some() {
        synthesis.extend(rounds::tensions(record, None));
    }
    synthesis.extend(rounds::priorities(record, None));
    parts.extend(titled(2, "Agreements", explained(about, synthesis)));
    parts.extend(sections::changes(record, Detail::Full));
    parts.extend(titled(2, "Challenges", rounds::objections(record, None)));
    parts.extend(titled(2, "Panel", vec![Part::Facts(head::panel(record))]));
    parts.extend(consultation::context(record));
    parts.extend(titled(2, "Cost", cost(record)));
    parts.extend(titled(
        2,
        "About this page",
        vec![Part::Facts(origin(record))],
    ));
    document::page(&record.question, "Consultation", &parts, beside)
}

/// Returns the parts with what they are above them; nothing without parts.
fn explained(about: &'static str, parts: Vec<Part>) -> Vec<Part> {
    let about = Some(paragraph(about, [])).filter(|_| !parts.is_empty());
    about.into_iter().chain(parts).collect()
}

/// The question, when it was asked, and what it took.
fn title(record: &StoredRecord) -> [Part; 2] {
    let question = match record.question.trim() {
        "" => Line::of("(no question)", []),
        question => Line::foreign(question),
    };
    let facts = [
        head::follows_up(record),
        head::followed_up_by(record),
        record.at.map(|at| Line::foreign(moment(at))),
        record.mode.as_ref().map(|mode| Line::of("{} mode", [mode])),
        record.total_cost().map(|cost| Line::foreign(amount(cost))),
        record
            .duration()
            .map(|duration| Line::foreign(seconds(duration))),
        record
            .total_tokens()
            .map(|tokens| Line::of("{} tokens", [&thousands(tokens)])),
    ];
    let facts = facts.into_iter().flatten().collect();
    [Part::Heading(1, question), Part::Facts(facts)]
}

fn answer_facts(record: &StoredRecord) -> Vec<Line> {
    let mut facts = match record.recommendation {
        Some(_) => head::standing(record),
        None => Vec::new(),
    };
    let agreement = record
        .agreement
        .map(|share| format!("{:.0}%", share * 100.0));
    facts.extend(agreement.map(|share| Line::of("**Agreement:** {}", [&share])));
    if record.early_termination {
        let reason = record
            .early_termination_reason
            .as_deref()
            .unwrap_or_default();
        facts.push(Line::of("Ended after Round 2", []).with(": {}", reason));
    }
    facts
}

fn cost(record: &StoredRecord) -> Vec<Part> {
    if record.total_cost().is_none() && record.agent_rounds().next().is_none() {
        return Vec::new();
    }
    let by_provider = record.cost_by_provider().map(|(provider, cost)| {
        vec![
            Line::foreign(provider.as_str()),
            Line::foreign(amount(cost)),
        ]
    });
    let tables = [
        (vec!["By round", "Time", "Tokens", "Cost"], by_round(record)),
        (vec!["By agent", "Time", "Tokens", "Cost"], by_agent(record)),
        (vec!["By provider", "Cost"], by_provider.collect()),
    ];
    let tables = tables
        .into_iter()
        .filter_map(|(heads, rows)| Table::of(1, &heads, rows));
    std::iter::once(consultation::cost(record))
        .chain(tables)
        .collect()
}

fn by_round(record: &StoredRecord) -> Vec<Vec<Line>> {
    let row = |(number, round): (u8, &StoredRound)| {
        let entries = record.agent_rounds().filter(|(of, _)| *of == number);
        let name = Line::of("{} {}", [&number.to_string(), round_title(number)]);
        let unfinished = if round.complete { "" } else { "not finished" };
        sums(
            name.with(" ({})", unfinished),
            round.duration(),
            entries.map(|(_, entry)| entry),
            record.cost_of(Some(number), None),
        )
    };
    record.rounds().map(row).collect()
}

/// In the panel's order, then the judge.
fn by_agent(record: &StoredRecord) -> Vec<Vec<Line>> {
    let mut agents: Vec<&StoredAgentRound> = Vec::new();
    for (_, entry) in record.agent_rounds() {
        if agents.iter().all(|other| other.agent_id != entry.agent_id) {
            agents.push(entry);
        }
    }
    agents.sort_by_key(|entry| {
        let seat = record
            .agents
            .iter()
            .position(|expert| expert.id == entry.agent_id);
        seat.unwrap_or(record.agents.len())
    });
    let row = |agent: &StoredAgentRound| {
        let own = || {
            let entries = record.agent_rounds().map(|(_, entry)| entry);
            entries.filter(|entry| entry.agent_id == agent.agent_id)
        };
        let durations = own().filter_map(StoredAgentRound::duration);
        sums(
            Line::foreign(&agent.agent),
            durations.reduce(Duration::saturating_add),
            own(),
            record.cost_of(None, Some(&agent.agent_id)),
        )
    };
    agents.into_iter().map(row).collect()
}

/// The row of a duration, of the tokens of several entries, and of their cost.
fn sums<'a>(
    name: Line,
    duration: Option<Duration>,
    entries: impl Iterator<Item = &'a StoredAgentRound>,
    cost: Option<Cost>,
) -> Vec<Line> {
    let tokens = entries.filter_map(StoredAgentRound::total_tokens);
    let figures = [
        duration.map(seconds),
        tokens.reduce(u64::saturating_add).map(thousands),
        cost.map(amount),
    ];
    let figures = figures
        .into_iter()
        .map(|figure| Line::foreign(figure.unwrap_or("–".to_owned())));
    std::iter::once(name).chain(figures).collect()
}

/// The state and the versions used; the id stands with the cost.
fn origin(record: &StoredRecord) -> Vec<Line> {
    let templates = record.prompt_templates();
    let templates = templates.map(|(name, version)| format!("{name} {version}"));
    let facts = [
        ("**State:** {}", record.state.clone().unwrap_or_default()),
        ("**Prompts:** {}", templates.collect::<Vec<_>>().join(", ")),
    ];
    let facts = facts
        .into_iter()
        .filter(|(_, value)| !value.trim().is_empty());
    let version = record.tool_version.as_deref().unwrap_or_default();
    let written_by = Line::of("**Written by:** conclave", []).with(" {}", version);
    let facts = facts.map(|(label, value)| Line::of(label, [&value]));
    std::iter::once(written_by).chain(facts).collect()
}

/// `2026-11-21 08:30 UTC`.
pub(super) fn moment(at: Timestamp) -> String {
    let exact = at.to_string();
    match exact.split_once('T') {
        Some((day, time)) => format!("{day} {} UTC", time.get(..5).unwrap_or(time)),
        None => exact,
    }
}
