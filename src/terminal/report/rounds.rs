//! The rounds of a consultation as parts of a Markdown document. With an agent: what it
//! said, and what was said to it or about it.

use crate::domain::artifact::{Challenge, Independent, Synthesis};
use crate::domain::ids::AgentId;
use crate::domain::stored_record::{StoredAgent, StoredRecord};

use super::agents::{heading, name};
use super::sections;
use crate::terminal::markdown::escape::{block, inline};

/// Returns true if a part concerns the selected agent.
fn is_of(agent: Option<&AgentId>, who: &str) -> bool {
    agent.is_none_or(|agent| agent.as_str() == who)
}

fn is_judges(agent: Option<&AgentId>) -> bool {
    agent.is_none_or(|agent| *agent == AgentId::Judge)
}

/// Returns true if a part of the judge's work that names these agents is selected.
fn concerns<'a>(agent: Option<&AgentId>, named: impl IntoIterator<Item = &'a String>) -> bool {
    is_judges(agent) || named.into_iter().any(|named| is_of(agent, named))
}

/// Round 1: each expert's own answer in the order of the panel, or why there is none; then answers
/// of agents outside the panel. A single agent is shown with its reasoning.
pub(super) fn positions(record: &StoredRecord, agent: Option<&AgentId>) -> Vec<String> {
    let answer = |held: &Independent| match agent {
        Some(_) => with_reasoning(held),
        None => sections::opinion(held),
    };
    let seat = |expert: &StoredAgent| {
        let heading = heading(record, expert);
        if let Some(held) = record.independent(&expert.id) {
            return Some(format!("{heading}\n\n{}", answer(held)));
        }
        let failed = record.failure(1, &expert.id)?;
        Some(format!("{heading}\n\n_No answer:_ {}", inline(failed)))
    };
    let on_panel = record
        .agents
        .iter()
        .filter(|expert| is_of(agent, expert.id.as_str()))
        .filter_map(seat);
    let others = record
        .independents()
        .filter(|held| record.agent(&held.agent_id).is_none())
        .filter(|held| is_of(agent, held.agent_id.as_str()));
    on_panel
        .chain(
            others
                .map(|held| format!("### {}\n\n{}", inline(held.agent_id.as_str()), answer(held))),
        )
        .collect()
}

fn with_reasoning(held: &Independent) -> String {
    let mut parts = vec![sections::opinion(held)];
    if !held.rationale.trim().is_empty() {
        parts.push(format!("#### Reasoning\n\n{}", block(&held.rationale)));
    }
    if let Some(words) = held.own_words() {
        parts.push(format!("#### In its own words\n\n{}", block(words)));
    }
    parts.join("\n\n")
}

/// Round 2: the points of agreement and of difference.
pub(super) fn synthesis(record: &StoredRecord, agent: Option<&AgentId>) -> Vec<String> {
    let Some(synthesis) = record.synthesis() else {
        return Vec::new();
    };
    let mut parts = Vec::new();
    if is_judges(agent) && !synthesis.prose_excerpt.trim().is_empty() {
        parts.push(block(&synthesis.prose_excerpt));
    }
    parts.extend(agreed(record, agent, synthesis));
    parts.extend(tensions(record, agent, synthesis));
    if is_judges(agent) && !synthesis.priority_order.is_empty() {
        parts.push(format!(
            "### Priorities\n\n{}",
            sections::list(&synthesis.priority_order)
        ));
    }
    parts
}

fn agreed(record: &StoredRecord, agent: Option<&AgentId>, synthesis: &Synthesis) -> Option<String> {
    let points = synthesis
        .consensus_points
        .iter()
        .filter(|point| concerns(agent, &point.supporting_agents))
        .map(|point| {
            let stated = point
                .confidence
                .map(|confidence| format!(" ({confidence})"))
                .unwrap_or_default();
            let supporters: Vec<String> = point
                .supporting_agents
                .iter()
                .map(|supporter| name(record, supporter))
                .collect();
            let by = sections::around(" — ", &supporters.join(", "), "");
            format!("- {}{stated}{by}", inline(&point.point))
        });
    sections::titled("### Agreed", "\n", points)
}

fn tensions(
    record: &StoredRecord,
    agent: Option<&AgentId>,
    synthesis: &Synthesis,
) -> Option<String> {
    let tensions = synthesis.tensions.iter().filter_map(|tension| {
        let views = tension
            .viewpoints
            .iter()
            .filter(|view| concerns(agent, [&view.agent]));
        let views: Vec<String> = views
            .map(|view| {
                format!(
                    "  - {}: {}",
                    name(record, &view.agent),
                    inline(&view.viewpoint)
                )
            })
            .collect();
        let is_meant = is_judges(agent) || !views.is_empty();
        is_meant.then(|| {
            [vec![format!("- {}", inline(&tension.topic))], views]
                .concat()
                .join("\n")
        })
    });
    sections::titled("### Tensions", "\n", tensions)
}

/// Round 3: challenges, rebuttals and the resulting positions.
pub(super) fn cross_examination(record: &StoredRecord, agent: Option<&AgentId>) -> Vec<String> {
    let merged = record.cross_exam();
    let (challenges, rebuttals) = (record.challenges(), record.rebuttals());
    let mut parts = Vec::new();
    if let Some(prose) = merged
        .map(|merged| &merged.prose_excerpt)
        .filter(|prose| is_judges(agent) && !prose.trim().is_empty())
    {
        parts.push(block(prose));
    }
    let challenges = challenges
        .iter()
        .filter(|challenge| concerns(agent, [&challenge.challenger, &challenge.target_agent]))
        .map(|challenge| one_challenge(record, challenge));
    parts.extend(sections::titled("### Challenges", "\n", challenges));
    let rebuttals = rebuttals
        .into_iter()
        .filter(|rebuttal| concerns(agent, [&rebuttal.agent]));
    let rebuttals = rebuttals.map(|rebuttal| {
        format!(
            "- **{}:** {}",
            name(record, &rebuttal.agent),
            inline(&rebuttal.rebuttal)
        )
    });
    parts.extend(sections::titled("### Rebuttals", "\n", rebuttals));
    if let Some(unresolved) = merged
        .map(|merged| &merged.unresolved)
        .filter(|unresolved| is_judges(agent) && !unresolved.is_empty())
    {
        parts.push(format!("### Unresolved\n\n{}", sections::list(unresolved)));
    }
    let changes = record.position_changes();
    let held = changes
        .experts
        .iter()
        .filter(|expert| is_of(agent, expert.revision.agent_id.as_str()))
        .map(|expert| sections::change(expert, &|agent| name(record, agent)));
    parts.extend(sections::titled("### Positions", "\n\n", held));
    parts
}

fn one_challenge(record: &StoredRecord, challenge: &Challenge) -> String {
    let to = sections::around(" to ", &name(record, &challenge.target_agent), "");
    let line = format!(
        "- **{}**{to}: {}",
        name(record, &challenge.challenger),
        inline(&challenge.challenge)
    );
    let evidence = challenge
        .evidence
        .iter()
        .map(|evidence| format!("  - {}", inline(evidence)));
    [line]
        .into_iter()
        .chain(evidence)
        .collect::<Vec<_>>()
        .join("\n")
}

/// Round 4: the verdict; for an expert, its evidence and its dissent.
pub(super) fn verdict(record: &StoredRecord, agent: Option<&AgentId>) -> Vec<String> {
    let Some(verdict) = record.verdict() else {
        return Vec::new();
    };
    let mut parts = Vec::new();
    if is_judges(agent) {
        let stated = sections::confidence_of(Some(verdict), record.confidence);
        parts.push(format!(
            "{}\n\nConfidence: {stated}",
            sections::verdict_alone(verdict)
        ));
    }
    let mut verdict = verdict.clone();
    verdict
        .evidence
        .retain(|evidence| concerns(agent, [&evidence.agent]));
    verdict
        .dissent
        .retain(|dissent| concerns(agent, [&dissent.agent]));
    parts.extend(sections::evidence(&verdict.evidence, &|agent| {
        name(record, agent)
    }));
    // Inside a round, headings are one level lower.
    parts.extend(
        sections::dissent(verdict.objections(), &|agent| name(record, agent))
            .map(|dissent| format!("#{dissent}")),
    );
    parts
}
