//! The rounds of a consultation. With an agent: what it said, and what was said to it or about it.

use crate::domain::answer::artifact::{Challenge, ProvisionalAnswer};
use crate::domain::ids::AgentId;
use crate::domain::record::stored_record::{StoredAgent, StoredRecord};

use super::sections::{self, Detail, heading, name};
use crate::terminal::document::{
    Line, Part, foreign, list, list_of, nested_list, paragraph, titled,
};
use crate::terminal::output::format::stated;

fn is_of(agent: Option<&AgentId>, who: &str) -> bool {
    agent.is_none_or(|agent| agent.as_str() == who)
}

fn is_judges(agent: Option<&AgentId>) -> bool {
    agent.is_none_or(|agent| *agent == AgentId::Judge)
}

fn concerns<'a>(agent: Option<&AgentId>, named: impl IntoIterator<Item = &'a String>) -> bool {
    is_judges(agent) || named.into_iter().any(|named| is_of(agent, named))
}

/// Round 1: each expert's own answer in the order of the panel, or why there is none; then answers
/// of agents outside the panel.
pub(super) fn positions(
    record: &StoredRecord,
    agent: Option<&AgentId>,
    detail: Detail,
) -> Vec<Part> {
    let seat = |expert: &StoredAgent| {
        let answer = if let Some(held) = record.independent(&expert.id) {
            sections::opinion(held, detail)
        } else {
            let failed = record.failure(1, &expert.id)?;
            vec![paragraph("_No answer:_ {}", [failed])]
        };
        Some(article(heading(record, expert), answer))
    };
    let on_panel = record.agents.iter();
    let on_panel = on_panel.filter(|expert| is_of(agent, expert.id.as_str()));
    let others = record.independents().filter(|held| {
        record.agent(&held.agent_id).is_none() && is_of(agent, held.agent_id.as_str())
    });
    let others = others.map(|held| {
        let heading = Line::foreign(held.agent_id.as_str());
        article(heading, sections::opinion(held, detail))
    });
    let articles: Vec<Vec<Part>> = on_panel.filter_map(seat).chain(others).collect();
    if articles.is_empty() {
        return Vec::new();
    }
    vec![Part::Articles(articles)]
}

fn article(heading: Line, answer: Vec<Part>) -> Vec<Part> {
    std::iter::once(Part::Heading(3, heading))
        .chain(answer)
        .collect()
}

pub(super) fn synthesis(record: &StoredRecord, agent: Option<&AgentId>) -> Vec<Part> {
    let mut parts = agreed(record, agent);
    parts.extend(tensions(record, agent));
    parts.extend(priorities(record, agent));
    let given = record.synthesis().map(|found| &found.provisional_answer);
    parts.extend(provisional(given.and_then(Option::as_deref), agent));
    parts
}

fn provisional(given: Option<&ProvisionalAnswer>, agent: Option<&AgentId>) -> Vec<Part> {
    let Some(given) = given.filter(|_| is_judges(agent)) else {
        return Vec::new();
    };
    let basis = Line::of("Confidence: {}", [&stated(given.confidence)])
        .with("; it would change with: {}", &given.would_change_it);
    let parts = [Part::Foreign(given.answer.clone()), Part::Paragraph(basis)];
    titled(3, "Provisional answer", parts)
}

pub(super) fn agreed(record: &StoredRecord, agent: Option<&AgentId>) -> Vec<Part> {
    let Some(synthesis) = record.synthesis() else {
        return Vec::new();
    };
    let points = synthesis.consensus_points.iter();
    let points = points.filter(|point| concerns(agent, &point.supporting_agents));
    let points = list(points.map(|point| {
        let supporters = point.supporting_agents.iter();
        let supporters: Vec<&str> = supporters.map(|agent| name(record, agent)).collect();
        sections::agreement(point).with(" — {}", &supporters.join(", "))
    }));
    let prose = foreign(&synthesis.prose_excerpt).filter(|_| is_judges(agent));
    let points = titled(3, "Agreed", points);
    prose.into_iter().chain(points).collect()
}

pub(super) fn priorities(record: &StoredRecord, agent: Option<&AgentId>) -> Vec<Part> {
    let synthesis = record.synthesis().filter(|_| is_judges(agent));
    let order = synthesis.and_then(|synthesis| list_of(&synthesis.priority_order));
    titled(3, "Priorities", order)
}

pub(super) fn tensions(record: &StoredRecord, agent: Option<&AgentId>) -> Vec<Part> {
    let synthesis = record.synthesis().into_iter();
    let tensions = synthesis.flat_map(|synthesis| &synthesis.tensions);
    let tensions = tensions.filter_map(|tension| {
        let views = tension.viewpoints.iter();
        let views = views.filter(|view| concerns(agent, [&view.agent]));
        let views =
            views.map(|view| Line::of("{}: {}", [name(record, &view.agent), &view.viewpoint]));
        let topic = Line::foreign(&tension.topic).weight(tension.severity);
        let item: Vec<Line> = std::iter::once(topic).chain(views).collect();
        (is_judges(agent) || item.len() > 1).then_some(item)
    });
    titled(3, "Tensions", nested_list(tensions))
}

pub(super) fn cross_examination(record: &StoredRecord, agent: Option<&AgentId>) -> Vec<Part> {
    let mut parts = objections(record, agent);
    let merged = record.cross_exam().filter(|_| is_judges(agent));
    let unresolved = merged.and_then(|merged| list_of(&merged.unresolved));
    parts.extend(titled(3, "Unresolved", unresolved));
    let given = record.cross_exam().map(|merged| &merged.provisional_answer);
    parts.extend(provisional(given.and_then(Option::as_deref), agent));
    let changes = record.position_changes();
    let held = changes.experts.iter();
    let held = held.filter(|expert| is_of(agent, expert.revision.agent_id.as_str()));
    let held = held.flat_map(|expert| sections::change(record, expert));
    parts.extend(titled(3, "Positions", held));
    parts
}

pub(super) fn objections(record: &StoredRecord, agent: Option<&AgentId>) -> Vec<Part> {
    let merged = record.cross_exam().filter(|_| is_judges(agent));
    let mut parts = Vec::new();
    parts.extend(merged.and_then(|merged| foreign(&merged.prose_excerpt)));
    let challenges = record.challenges();
    let challenges = challenges
        .iter()
        .filter(|challenge| concerns(agent, [&challenge.challenger, &challenge.target_agent]));
    let challenges = nested_list(challenges.map(|challenge| one_challenge(record, challenge)));
    parts.extend(titled(3, "Challenges", challenges));
    let rebuttals = record.rebuttals();
    let rebuttals = rebuttals
        .iter()
        .filter(|rebuttal| concerns(agent, [&rebuttal.agent]));
    let rebuttals = list(rebuttals.map(|rebuttal| {
        Line::of(
            "**{}:** {}",
            [name(record, &rebuttal.agent), &rebuttal.rebuttal],
        )
    }));
    parts.extend(titled(3, "Rebuttals", rebuttals));
    parts
}

fn one_challenge(record: &StoredRecord, challenge: &Challenge) -> Vec<Line> {
    let line = Line::of("**{}**", [name(record, &challenge.challenger)])
        .with(" to {}", name(record, &challenge.target_agent))
        .weight(challenge.severity)
        .and(": {}", [&challenge.challenge]);
    let evidence = challenge.evidence.iter().map(Line::foreign);
    std::iter::once(line).chain(evidence).collect()
}

/// For an expert, its evidence and its dissent.
pub(super) fn verdict(record: &StoredRecord, agent: Option<&AgentId>) -> Vec<Part> {
    let Some(verdict) = record.verdict() else {
        return Vec::new();
    };
    let mut parts = Vec::new();
    if is_judges(agent) {
        parts.extend(sections::verdict(verdict));
        let stated = sections::confidence(record);
        parts.push(paragraph("Confidence: {}", [&stated]));
    }
    let evidence = verdict.evidence.iter();
    let evidence = evidence.filter(|evidence| concerns(agent, [&evidence.agent]));
    parts.extend(sections::evidence(record, evidence));
    let dissent = sections::dissent(record, |by| is_judges(agent) || is_of(agent, by));
    parts.extend(titled(3, "Dissent", list(dissent)));
    parts
}
