//! The last sections: the panel, the cost, and the versions used.

use std::time::Duration;

use crate::domain::money::Cost;
use crate::domain::stored_record::{
    RecordWriter, StoredAgentRound, StoredPersonaSelection, StoredRecord,
};
use crate::domain::words::{amount, model_address, round_title, seconds, thousands};

use super::markup::Markup;

const UNKNOWN: &str = "–";

pub(super) fn panel(page: &mut Markup, record: &StoredRecord) {
    if record.agents.is_empty() && record.judge.is_none() {
        return;
    }
    page.put("<section>\n<h2>Panel</h2>\n<div class=\"wide\">\n<table>\n");
    page.put(
        "<thead><tr><th scope=\"col\">Seat</th><th scope=\"col\">Model</th></tr></thead>\n\
         <tbody>\n",
    );
    let experts = record
        .agents
        .iter()
        .map(|expert| (expert.name.as_str(), record.model_of(expert)));
    for (name, model) in experts.chain(record.judge().map(|judge| ("Judge", Some(judge)))) {
        page.put("<tr><th scope=\"row\">")
            .inline(name)
            .put("</th><td>");
        page.inline(&model.map_or_else(|| UNKNOWN.to_owned(), |model| model_address(&model)))
            .put("</td></tr>\n");
    }
    page.put("</tbody>\n</table>\n</div>\n");
    if let Some(StoredPersonaSelection {
        task_type,
        reason,
        chosen_by: Some(helper),
        ..
    }) = &record.persona_selection
    {
        page.put("<p class=\"quiet\">The personas were selected by ")
            .inline(&model_address(helper))
            .put(" for ")
            .inline(task_type);
        page.put(": ").inline(reason).put("</p>\n");
    }
    page.put("</section>\n");
}

pub(super) fn cost(page: &mut Markup, record: &StoredRecord) {
    if record.total_cost().is_none() && record.agent_rounds().next().is_none() {
        return;
    }
    page.put(
        "<section>\n<h2>Cost</h2>\n<p class=\"stated\"><span class=\"label\">Total</span> <strong>",
    );
    page.text(
        &record
            .total_cost()
            .map_or_else(|| "not recorded".to_owned(), amount),
    )
    .put("</strong></p>\n");
    by_round(page, record);
    by_agent(page, record);
    by_provider(page, record);
    page.put("</section>\n");
}

/// The sum of what several entries record.
#[derive(Default)]
struct Sum {
    cost: Option<Cost>,
    tokens: Option<u64>,
    duration: Option<Duration>,
}

impl Sum {
    fn of<'a>(entry: impl Iterator<Item = &'a StoredAgentRound>) -> Self {
        entry.fold(Self::default(), |sum, entry| Self {
            cost: sum
                .cost
                .into_iter()
                .chain(entry.total_cost())
                .reduce(|one, other| one + other),
            tokens: sum
                .tokens
                .into_iter()
                .chain(entry.total_tokens())
                .reduce(u64::saturating_add),
            duration: sum
                .duration
                .into_iter()
                .chain(entry.duration())
                .reduce(Duration::saturating_add),
        })
    }

    fn cells(&self, page: &mut Markup) {
        number(page, self.duration.map(seconds).as_deref());
        number(page, self.tokens.map(thousands).as_deref());
        number(page, self.cost.map(amount).as_deref());
    }
}

fn number(page: &mut Markup, value: Option<&str>) {
    page.put("<td class=\"number\">")
        .text(value.unwrap_or(UNKNOWN))
        .put("</td>");
}

fn by_round(page: &mut Markup, record: &StoredRecord) {
    if record.rounds().next().is_none() {
        return;
    }
    page.put(
        "<div class=\"wide\">\n<table>\n<caption>By round</caption>\n\
         <thead><tr><th scope=\"col\">Round</th>",
    );
    page.put(
        "<th scope=\"col\" class=\"number\">Time</th><th scope=\"col\" \
         class=\"number\">Tokens</th>",
    );
    page.put("<th scope=\"col\" class=\"number\">Cost</th></tr></thead>\n<tbody>\n");
    for (number, round) in record.rounds() {
        let sum = Sum::of(
            record
                .agent_rounds()
                .filter(|(of, _)| *of == number)
                .map(|(_, entry)| entry),
        );
        page.put("<tr><th scope=\"row\">")
            .text(&number.to_string())
            .put(" ")
            .text(round_title(number));
        page.put(if round.is_complete() {
            "</th>"
        } else {
            " (not finished)</th>"
        });
        Sum {
            duration: round.duration(),
            ..sum
        }
        .cells(page);
        page.put("</tr>\n");
    }
    page.put("</tbody>\n</table>\n</div>\n");
}

fn by_agent(page: &mut Markup, record: &StoredRecord) {
    let mut agents: Vec<&StoredAgentRound> = Vec::new();
    for (_, entry) in record.agent_rounds() {
        if agents.iter().all(|other| other.agent_id != entry.agent_id) {
            agents.push(entry);
        }
    }
    if agents.is_empty() {
        return;
    }
    // In the panel's order, then the judge.
    agents.sort_by_key(|entry| {
        record
            .agents
            .iter()
            .position(|expert| expert.id == entry.agent_id)
            .unwrap_or(record.agents.len())
    });
    page.put(
        "<div class=\"wide\">\n<table>\n<caption>By agent</caption>\n\
         <thead><tr><th scope=\"col\">Agent</th>",
    );
    page.put(
        "<th scope=\"col\" class=\"number\">Time</th><th scope=\"col\" \
         class=\"number\">Tokens</th>",
    );
    page.put("<th scope=\"col\" class=\"number\">Cost</th></tr></thead>\n<tbody>\n");
    for agent in agents {
        page.put("<tr><th scope=\"row\">")
            .inline(&agent.agent)
            .put("</th>");
        Sum::of(
            record
                .agent_rounds()
                .map(|(_, entry)| entry)
                .filter(|entry| entry.agent_id == agent.agent_id),
        )
        .cells(page);
        page.put("</tr>\n");
    }
    page.put("</tbody>\n</table>\n</div>\n");
}

fn by_provider(page: &mut Markup, record: &StoredRecord) {
    if record.cost_by_provider().next().is_none() {
        return;
    }
    page.put(
        "<div class=\"wide\">\n<table>\n<caption>By provider</caption>\n\
         <thead><tr><th scope=\"col\">Provider</th>",
    );
    page.put("<th scope=\"col\" class=\"number\">Cost</th></tr></thead>\n<tbody>\n");
    for (provider, cost) in record.cost_by_provider() {
        page.put("<tr><th scope=\"row\">")
            .inline(provider.as_str())
            .put("</th>");
        number(page, Some(&amount(cost)));
        page.put("</tr>\n");
    }
    page.put("</tbody>\n</table>\n</div>\n");
}

/// The id and the versions used.
pub(super) fn colophon(page: &mut Markup, record: &StoredRecord) {
    page.put(
        "<footer>\n<h2>About this page</h2>\n<dl class=\"facts\">\n<div><dt>Consultation</dt><dd>",
    )
    .inline(&record.id)
    .put("</dd></div>\n");
    if let Some(at) = record.at {
        page.put("<div><dt>Began</dt><dd>")
            .moment(at)
            .put("</dd></div>\n");
    }
    if let Some(state) = &record.state {
        page.put("<div><dt>State</dt><dd>")
            .inline(state)
            .put("</dd></div>\n");
    }
    page.put("<div><dt>Written by</dt><dd>")
        .put(match record.writer {
            RecordWriter::Conclave => "conclave",
            RecordWriter::LlmConclave => "llm-conclave",
        });
    if let Some(version) = &record.tool_version {
        page.put(" ").inline(version);
    }
    page.put("</dd></div>\n");
    if record.prompt_templates().next().is_some() {
        page.put("<div><dt>Prompts</dt><dd>");
        for (at, (name, version)) in record.prompt_templates().enumerate() {
            page.put(if at > 0 { ", " } else { "" })
                .inline(&format!("{name} {version}"));
        }
        page.put("</dd></div>\n");
    }
    page.put("</dl>\n</footer>\n");
}
