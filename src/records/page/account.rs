//! The last sections: the panel, the cost, and the versions used.

use std::time::Duration;

use maud::{Markup, html};

use crate::domain::money::Cost;
use crate::domain::stored_record::{ContextWords, StoredAgentRound, StoredRecord};
use crate::domain::words::{amount, model_address, round_title, seconds, thousands};

use super::elements::{inline, items, joined, labelled, list, moment, section};

const UNKNOWN: &str = "–";

pub(super) fn panel(record: &StoredRecord) -> Markup {
    if record.agents.is_empty() && record.judge.is_none() {
        return Markup::default();
    }
    let experts = record
        .agents
        .iter()
        .map(|expert| (expert.name.as_str(), record.model_of(expert)));
    let judge = record.judge().map(|judge| ("Judge", Some(judge)));
    let body = html! {
        div.wide {
            table {
                thead { tr { th scope="col" { "Seat" } th scope="col" { "Model" } } }
                tbody {
                    @for (name, model) in experts.chain(judge) {
                        @let address = model.as_ref().map(model_address);
                        tr {
                            th scope="row" { (inline(name)) }
                            td { (inline(address.as_deref().unwrap_or(UNKNOWN))) }
                        }
                    }
                }
            }
        }
        (list(&items(record.hedge_notices())))
        @if let Some(selection) = &record.persona_selection {
            @if let Some(helper) = &selection.chosen_by {
                p.quiet {
                    "The personas were selected by " (inline(model_address(helper)))
                    " for " (inline(&selection.task_type)) ": " (inline(&selection.reason))
                }
            }
        }
    };
    section("Panel", &body)
}

/// The sources of the context with their tokens, the project, and what was masked.
pub(super) fn context(record: &StoredRecord) -> Markup {
    let Some(ContextWords {
        sources,
        others,
        facts,
    }) = record.context_in_words()
    else {
        return Markup::default();
    };
    let body = html! {
        @if !sources.is_empty() {
            ul {
                @for (name, tokens) in &sources { li { (inline(name)) " (" (tokens) ")" } }
                @if let Some(others) = others { li { (others) } }
            }
        }
        @for (label, value) in &facts {
            p.stated { span.label { (label) } " " (inline(value)) }
        }
    };
    section("Context", &body)
}

pub(super) fn cost(record: &StoredRecord) -> Markup {
    if record.total_cost().is_none() && record.agent_rounds().next().is_none() {
        return Markup::default();
    }
    let total = record.total_cost().map(amount);
    let body = html! {
        p.stated {
            (labelled("Total", total.as_deref().unwrap_or("not recorded")))
            @if let Some(duration) = record.duration() {
                " " (labelled("Time", &seconds(duration)))
            }
            @if let Some(calls) = record.cost.as_ref().and_then(|cost| cost.calls) {
                " " (labelled("Calls", &thousands(calls)))
            }
            @if let Some(tokens) = record.total_tokens() {
                " " (labelled("Tokens", &thousands(tokens)))
            }
            @if let Some(caching) = record.caching() {
                " " (labelled("Prompt caching", &caching.in_words()))
            }
            @if let Some(saved) = record.cost_saved() {
                " " (labelled("Saved by ending after Round 2", &format!("about {}", amount(saved))))
            }
        }
        (table("By round", &["Round", "Time", "Tokens", "Cost"], &by_round(record)))
        (table("By agent", &["Agent", "Time", "Tokens", "Cost"], &by_agent(record)))
        (table("By provider", &["Provider", "Cost"], &by_provider(record)))
    };
    section("Cost", &body)
}

/// A table of numbers behind a first column of text; nothing without rows.
fn table(caption: &str, columns: &[&str], rows: &Markup) -> Markup {
    html! {
        @if !rows.0.is_empty() {
            div.wide {
                table {
                    caption { (caption) }
                    thead {
                        tr {
                            @for (at, column) in columns.iter().enumerate() {
                                th scope="col" class=[(at > 0).then_some("number")] { (column) }
                            }
                        }
                    }
                    tbody { (rows) }
                }
            }
        }
    }
}

fn by_round(record: &StoredRecord) -> Markup {
    html! {
        @for (number, round) in record.rounds() {
            @let entries = record.agent_rounds().filter(|(of, _)| *of == number);
            tr {
                th scope="row" {
                    (number) " " (round_title(number))
                    @if !round.is_complete() { " (not finished)" }
                }
                (sums(
                    round.duration(),
                    &entries.map(|(_, entry)| entry).collect::<Vec<_>>(),
                    record.cost_of(Some(number), None),
                ))
            }
        }
    }
}

/// In the panel's order, then the judge.
fn by_agent(record: &StoredRecord) -> Markup {
    let mut agents: Vec<&StoredAgentRound> = Vec::new();
    for (_, entry) in record.agent_rounds() {
        if agents.iter().all(|other| other.agent_id != entry.agent_id) {
            agents.push(entry);
        }
    }
    agents.sort_by_key(|entry| {
        let mut seats = record.agents.iter();
        seats
            .position(|expert| expert.id == entry.agent_id)
            .unwrap_or(record.agents.len())
    });
    html! {
        @for agent in agents {
            @let entries = record.agent_rounds().map(|(_, entry)| entry);
            @let own = entries.filter(|entry| entry.agent_id == agent.agent_id).collect::<Vec<_>>();
            @let durations = own.iter().filter_map(|entry| entry.duration());
            tr {
                th scope="row" { (inline(&agent.agent)) }
                (sums(
                    durations.reduce(Duration::saturating_add),
                    &own,
                    record.cost_of(None, Some(&agent.agent_id)),
                ))
            }
        }
    }
}

/// The cells of a duration, of the tokens of several entries, and of their cost.
fn sums(duration: Option<Duration>, entries: &[&StoredAgentRound], cost: Option<Cost>) -> Markup {
    let tokens = entries.iter().filter_map(|entry| entry.total_tokens());
    html! {
        (number(duration.map(seconds).as_deref()))
        (number(tokens.reduce(u64::saturating_add).map(thousands).as_deref()))
        (number(cost.map(amount).as_deref()))
    }
}

fn number(value: Option<&str>) -> Markup {
    html! { td.number { (value.unwrap_or(UNKNOWN)) } }
}

fn by_provider(record: &StoredRecord) -> Markup {
    html! {
        @for (provider, cost) in record.cost_by_provider() {
            tr { th scope="row" { (inline(provider.as_str())) } (number(Some(&amount(cost)))) }
        }
    }
}

/// The id and the versions used.
pub(super) fn colophon(record: &StoredRecord) -> Markup {
    let version = record.tool_version.as_ref();
    let writer = html! { "conclave" @if let Some(version) = version { " " (inline(version)) } };
    let prompts = record
        .prompt_templates()
        .map(|(name, version)| format!("{name} {version}"));
    html! {
        footer {
            h2 { "About this page" }
            dl.facts {
                (fact("Consultation", &inline(&record.id)))
                (fact("Began", &record.at.map(moment).unwrap_or_default()))
                (fact("State", &record.state.as_ref().map(inline).unwrap_or_default()))
                (fact("Written by", &writer))
                (fact("Prompts", &joined(prompts)))
            }
        }
    }
}

fn fact(term: &str, value: &Markup) -> Markup {
    html! { @if !value.0.is_empty() { div { dt { (term) } dd { (value) } } } }
}
