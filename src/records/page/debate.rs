//! The sections on the rounds: positions side by side, the synthesis, changes of position, and
//! challenges.

use maud::{Markup, html};

use crate::domain::artifact::{Challenge, Independent, Synthesis};
use crate::domain::debate_value::DebateValue;
use crate::domain::stored_record::{ExpertChange, StoredAgent, StoredRecord};
use crate::domain::text::capitalised;
use crate::domain::words::model_name;

use super::elements::{
    block, block_unless_blank, confidence, inline, items, joined, labelled, list, said, section,
    severity, subsection,
};
use super::marks::marked;

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
        // Without a cross-examination, they are the open points above.
        @if record.cross_exam().is_some() {
            (subsection("Tensions", &tensions(record, synthesis)))
        }
        @if !priorities.0.is_empty() { h3 { "Priorities" } ol { (priorities) } }
    };
    let has_tensions = record.cross_exam().is_some() && !synthesis.tensions.is_empty();
    let title = if has_tensions {
        "Agreements and Tensions"
    } else {
        "Agreements"
    };
    section(title, &body)
}

fn agreements(record: &StoredRecord, synthesis: &Synthesis) -> Markup {
    html! {
        @for point in &synthesis.consensus_points {
            @let names = point.supporting_agents.iter().map(|agent| record.name_of(agent));
            li {
                (said(&point.point))
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
                h4 {
                    bdi { (marked(tension.topic.trim())) }
                    " " (severity(tension.severity))
                }
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

/// Points that the debate left open, each with its sides.
pub(super) fn open_points(record: &StoredRecord) -> Markup {
    let points = html! {
        @for point in record.points_left_open() {
            div.tension {
                h3 {
                    bdi { (marked(point.topic.trim())) }
                    @if let Some(stated) = point.severity {
                        " " (severity(stated))
                    }
                }
                @if !point.views.is_empty() {
                    dl.side {
                        @for side in &point.views {
                            div { dt { (inline(&side.agent)) } dd { (block(&side.view)) } }
                        }
                    }
                }
            }
        }
    };
    section("Open Points", &points)
}

/// Round 3: how many experts changed their minds, and each one's position after the
/// cross-examination.
pub(super) fn changes(record: &StoredRecord) -> Markup {
    let changes = record.position_changes();
    let Some(headline) = changes.headline() else {
        return Markup::default();
    };
    let value = record.debate_value();
    let insights = value.as_ref().map_or(&[][..], |value| &value.key_insights);
    let worth = value.as_ref().and_then(DebateValue::worth_of_later_rounds);
    let articles = html! {
        @for expert in &changes.experts { (change(record, expert)) }
    };
    let silent = html! {
        @for seat in &changes.silent {
            li { strong { (inline(record.name_of(seat.as_str()))) } " gave no answer in Round 3" }
        }
    };
    let body = html! {
        p.stated { strong { (inline(headline)) "." } }
        div.side { (articles) }
        (list(&silent))
        (subsection("Insights", &list(&items(insights))))
        @if let Some(worth) = worth { p.quiet { (worth) "." } }
    };
    section("Changes", &body)
}

fn change(record: &StoredRecord, expert: &ExpertChange<'_>) -> Markup {
    let revision = expert.revision;
    let reasons = html! {
        @for because in &revision.because_of {
            li {
                "because of " strong { (inline(record.name_of(&because.agent))) } ": "
                (said(&because.argument))
            }
        }
    };
    html! {
        article {
            h3 { (inline(record.name_of(revision.agent_id.as_str()))) }
            p.stated { strong { (capitalised(&expert.in_words())) } }
            @if let Some(confidence) = expert.confidence_in_words() {
                p.stated { (labelled("Confidence", &confidence)) }
            }
            (block(&revision.revised_position))
            (list(&reasons))
            @if !expert.reasoning.trim().is_empty() {
                div.said.quiet dir="auto" { (marked(expert.reasoning.trim())) }
            }
        }
    }
}

/// Round 3: challenges and rebuttals.
pub(super) fn objections(record: &StoredRecord) -> Markup {
    let merged = record.cross_exam();
    let challenges = record.challenges();
    let prose = merged.map(|merged| merged.prose_excerpt.as_str());
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
        (subsection("Raised", &list(&challenges)))
        (subsection("Rebuttals", &list(&rebuttals)))
    };
    section("Challenges", &body)
}

fn one_challenge(record: &StoredRecord, challenge: &Challenge) -> Markup {
    html! {
        li {
            strong { (inline(record.name_of(&challenge.challenger))) }
            @if !challenge.target_agent.trim().is_empty() {
                " to " strong { (inline(record.name_of(&challenge.target_agent))) }
            }
            " " (severity(challenge.severity))
            (block(&challenge.challenge))
            (list(&items(&challenge.evidence)))
        }
    }
}
