//! The sections on the rounds: positions side by side, the synthesis, changes of position, and
//! challenges.

use maud::{Markup, html};

use crate::domain::artifact::{Challenge, Independent, Revision, Severity, Synthesis};
use crate::domain::debate_value::{AgentMove, ComparisonStatus, PositionChange};
use crate::domain::ids::SeatId;
use crate::domain::stored_record::{RecordWriter, StoredAgent, StoredRecord};
use crate::domain::words::model_name;

use super::elements::{
    block, block_unless_blank, confidence, inline, items, joined, list, section, severity,
    subsection,
};

/// Round 1: the panel in its order, then experts that are not on it.
pub(super) fn positions(record: &StoredRecord) -> Markup {
    let articles = html! {
        @for expert in &record.agents { (seat(record, expert)) }
        @for held in record.independents() {
            @if record.agent(&held.agent_id).is_none() {
                article { h3 { (inline(held.agent_id.as_str())) } (position(held)) }
            }
        }
    };
    let about = "Round 1: each expert's answer, given without seeing the others.";
    section("Positions", &side_by_side(about, &articles))
}

fn side_by_side(about: &str, articles: &Markup) -> Markup {
    html! { @if !articles.0.is_empty() { p.quiet { (about) } div.side { (articles) } } }
}

/// The position or the failure of an expert of the panel; nothing where there is none.
fn seat(record: &StoredRecord, expert: &StoredAgent) -> Markup {
    let held = record.independent(&expert.id);
    let answer = match (held, record.failure(1, &expert.id)) {
        (Some(held), _) => position(held),
        (None, Some(reason)) => html! { p { em { "No answer" } ": " (inline(reason)) } },
        (None, None) => return Markup::default(),
    };
    html! {
        article {
            h3 { (inline(&expert.name)) }
            @if let Some(model) = record.model_of(expert) { p.by { (inline(model_name(&model))) } }
            (answer)
        }
    }
}

fn position(held: &Independent) -> Markup {
    html! {
        (confidence(held.confidence))
        (block(&held.position))
        (list(&items(&held.key_points)))
        @if !held.rationale.trim().is_empty() { h4 { "Reasoning" } (block(&held.rationale)) }
        // The whole answer, where it did not fit the schema: its beginning is the position then.
        @if let Some(words) = held.own_words() { h4 { "In its own words" } (block(words)) }
    }
}

/// Round 2.
pub(super) fn synthesis(record: &StoredRecord) -> Markup {
    let Some(synthesis) = record.synthesis() else {
        return Markup::default();
    };
    let priorities = items(&synthesis.priority_order);
    let body = html! {
        p.quiet { "Round 2: the judge's synthesis of the positions." }
        (block_unless_blank(&synthesis.prose_excerpt))
        (subsection("Agreed", &list(&agreements(record, synthesis))))
        (subsection("Tensions", &tensions(record, synthesis)))
        @if !priorities.0.is_empty() { h3 { "Priorities" } ol { (priorities) } }
    };
    section("Agreements and Tensions", &body)
}

fn agreements(record: &StoredRecord, synthesis: &Synthesis) -> Markup {
    html! {
        @for point in &synthesis.consensus_points {
            @let names = point.supporting_agents.iter().map(|agent| record.name_of(agent));
            li {
                span.said dir="auto" { (point.point.trim()) }
                @if let Some(confidence) = point.confidence {
                    " " span.weight { (confidence.to_string()) }
                }
                @if !point.supporting_agents.is_empty() { " " span.by { (joined(names)) } }
            }
        }
    }
}

fn tensions(record: &StoredRecord, synthesis: &Synthesis) -> Markup {
    html! {
        @for tension in &synthesis.tensions {
            div.tension {
                h4 { (inline(&tension.topic)) (stated_severity(record, tension.severity)) }
                @if !tension.viewpoints.is_empty() {
                    dl.side {
                        @for view in &tension.viewpoints {
                            div {
                                dt { (inline(record.name_of(&view.agent))) }
                                dd { (block(&view.viewpoint)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Round 3: each expert's position after the cross-examination.
pub(super) fn changes(record: &StoredRecord) -> Markup {
    let articles = html! {
        @for revision in record.positions_of_round_3() { (change(record, revision)) }
    };
    let about = "Round 3: each expert's position after the cross-examination.";
    section("Changes of Mind", &side_by_side(about, &articles))
}

fn change(record: &StoredRecord, revision: &Revision) -> Markup {
    let held = record.independent(&revision.agent_id);
    let before = held.and_then(|held| held.confidence);
    let reasons = html! {
        @for because in &revision.because_of {
            li {
                "because of " strong { (inline(record.name_of(&because.agent))) } ": "
                span.said dir="auto" { (because.argument.trim()) }
            }
        }
    };
    html! {
        article {
            h3 { (inline(record.name_of(revision.agent_id.as_str()))) }
            p.stated {
                strong { (change_words(record.position_change(&revision.agent_id))) }
                @if let Some(after) = revision.revised_confidence {
                    " " span.label { "Confidence" } " "
                    @if let Some(before) = before { (before.to_string()) " → " }
                    (after.to_string())
                }
            }
            (block(&revision.revised_position))
            (list(&reasons))
        }
    }
}

fn change_words(change: Option<PositionChange>) -> &'static str {
    match change {
        Some(PositionChange::Changed) => "Changed its mind",
        Some(PositionChange::Held) => "Held its position",
        Some(PositionChange::Stated { changed: true }) => "Says it changed its mind",
        Some(PositionChange::Stated { changed: false }) => "Says it held its position",
        None => "Does not say whether it changed its mind",
    }
}

/// Round 3: challenges, rebuttals, and what stays unresolved.
pub(super) fn objections(record: &StoredRecord) -> Markup {
    let merged = record.cross_exam();
    let challenges = record.challenges();
    let unresolved = merged.map_or(&[][..], |merged| &merged.unresolved);
    let prose = merged.map(|merged| merged.prose_excerpt.as_str());
    let concerns = concerns(record, &challenges, unresolved);
    let challenges = html! {
        @for challenge in challenges { (one_challenge(record, challenge)) }
    };
    let rebuttals = html! {
        @for rebuttal in record.rebuttals() {
            li {
                strong { (inline(record.name_of(&rebuttal.agent))) }
                (block(&rebuttal.rebuttal))
            }
        }
    };
    let body = html! {
        (block_unless_blank(prose.unwrap_or_default()))
        (subsection("Challenges", &list(&challenges)))
        (subsection("Rebuttals", &list(&rebuttals)))
        (subsection("Unresolved", &list(&items(unresolved))))
        (subsection("Concerns", &list(&items(concerns))))
    };
    section("Challenges and Rebuttals", &body)
}

fn one_challenge(record: &StoredRecord, challenge: &Challenge) -> Markup {
    html! {
        li {
            strong { (inline(record.name_of(&challenge.challenger))) }
            @if !challenge.target_agent.trim().is_empty() {
                " to " strong { (inline(record.name_of(&challenge.target_agent))) }
            }
            (stated_severity(record, challenge.severity))
            (block(&challenge.challenge))
            (list(&items(&challenge.evidence)))
        }
    }
}

/// Shows a severity; the original states none.
fn stated_severity(record: &StoredRecord, stated: Severity) -> Markup {
    match record.writer {
        RecordWriter::Conclave => html! { " " (severity(stated)) },
        RecordWriter::LlmConclave => Markup::default(),
    }
}

/// Returns concerns that no other section shows: ours all come from the rounds.
fn concerns<'a>(
    record: &'a StoredRecord,
    challenges: &[&Challenge],
    unresolved: &[String],
) -> Vec<&'a String> {
    let is_new = |concern: &&String| {
        !unresolved.contains(concern) && challenges.iter().all(|other| other.challenge != **concern)
    };
    match record.writer {
        RecordWriter::Conclave => Vec::new(),
        RecordWriter::LlmConclave => record.concerns.iter().filter(is_new).collect(),
    }
}

/// The value of the later rounds; nothing where no expert answered a second time.
pub(super) fn value(record: &StoredRecord) -> Markup {
    let Some(value) = record
        .debate_value()
        .filter(|value| value.status != ComparisonStatus::NotApplicable)
    else {
        return Markup::default();
    };
    let unknown = value.reason.as_deref().unwrap_or("no reason recorded");
    let body = html! {
        @if let Some(headline) = value.headline() {
            p { (headline) }
            ul { @for moved in &value.agents { (move_of(record, moved)) } }
        } @else {
            p { "Whether positions changed is unknown: " (inline(unknown)) }
        }
        (subsection("Key Insights", &list(&items(&value.key_insights))))
        @if let Some(worth) = value.worth_of_later_rounds() { p { (worth) "." } }
    };
    section("Debate Value", &body)
}

fn move_of(record: &StoredRecord, moved: &AgentMove) -> Markup {
    let name = |agent: &SeatId| record.name_of(agent.as_str()).to_owned();
    html! {
        li {
            strong { (inline(name(&moved.agent_id))) } ": " (inline(moved.in_words(&name)))
            @if !moved.reasoning.trim().is_empty() {
                div.said.quiet dir="auto" { (moved.reasoning.trim()) }
            }
        }
    }
}
