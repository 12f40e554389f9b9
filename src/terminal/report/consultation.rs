//! The report of a consultation, finished or not: what is printed when it is answered and whenever
//! its record is shown; and its page, with all that the rounds brought, and where the time and the
//! money went.

use std::collections::BTreeSet;
use std::time::Duration;

use jiff::tz::TimeZone;

use crate::domain::answer::artifact::{Severity, Verdict};
use crate::domain::cost::money::Cost;
use crate::domain::ids::ProviderId;
use crate::domain::record::stored_record::{
    ContextWords, StoredAgentRound, StoredConcern, StoredPlan, StoredRecord, StoredRound,
};
use crate::domain::time::Timestamp;

use super::sections::Detail;
use super::{head, rounds, sections};
use crate::terminal::document::{
    self, Fact, Line, Part, Table, fact, list, nested_list, paragraph, titled,
};
use crate::terminal::output::format::{
    amount, count, kilo, local_moment, round_title, seconds, thousands,
};

pub fn report(record: &StoredRecord) -> String {
    document::markdown(&parts(record, Detail::Brief))
}

pub fn page(record: &StoredRecord) -> String {
    page_beside(record, &BTreeSet::new())
}

/// Renders the page, with links to the pages of others that lie in the same folder.
pub fn page_beside(record: &StoredRecord, beside: &BTreeSet<String>) -> String {
    let parts = parts(record, Detail::Full);
    document::page(&record.question, "Consultation", &parts, beside)
}

pub fn page_parts(record: &StoredRecord) -> Vec<Part> {
    parts(record, Detail::Full)
}

/// Returns the page of a consultation under way: its progress, and what its rounds have brought.
pub fn running_parts(record: &StoredRecord, progress: impl IntoIterator<Item = Part>) -> Vec<Part> {
    let mut parts = Vec::from(page_title(record, Vec::new()));
    parts.extend(titled(2, "Running", progress));
    parts.extend(debate(record, Detail::Full));
    parts.extend(context(record));
    parts
}

fn parts(record: &StoredRecord, detail: Detail) -> Vec<Part> {
    let is_full = detail == Detail::Full;
    let mut parts: Vec<Part> = head::status_notice(record, head::abort_reason(record))
        .into_iter()
        .collect();
    let doubt = head::doubt(record).into_iter();
    let is_menu = record.verdict().is_some_and(Verdict::is_menu);
    let title = sections::answer_title(record);
    if is_full {
        parts.extend(page_title(record, spent(record)));
        let facts = std::iter::once(Part::Facts(answer_facts(record)));
        let answer = facts.chain(doubt).chain(answer_parts(record, detail));
        parts.extend(titled(2, title, answer));
    } else {
        parts.push(Part::Heading(1, Line::of("Consultation", [])));
        let mut facts: Vec<Fact> = head::follows_up(record).into_iter().collect();
        facts.extend(head::standing(record));
        facts.extend(head::panel(record));
        facts.extend(head::followed_up_by(record));
        parts.extend(sections::question(&record.question, facts));
        parts.extend(doubt);
        let title = if is_menu { "Options" } else { title };
        parts.extend(titled(2, title, answer_parts(record, detail)));
    }
    parts.extend(rest(record, detail));
    parts
}

/// What stands below the answer.
fn rest(record: &StoredRecord, detail: Detail) -> Vec<Part> {
    let is_full = detail == Detail::Full;
    let mut parts = debate(record, detail);
    if is_full {
        parts.extend(titled(2, "Panel", [Part::Facts(head::panel(record))]));
    }
    parts.extend(context(record));
    let mut cost = Part::Facts(cost(record));
    if is_full {
        parts.extend(titled(2, "Cost", account(record, cost)));
        cost = Part::Facts(origin(record));
    }
    parts.extend(titled(
        2,
        if is_full { "About this page" } else { "Cost" },
        [cost],
    ));
    parts
}

/// What the rounds brought.
fn debate(record: &StoredRecord, detail: Detail) -> Vec<Part> {
    let is_full = detail == Detail::Full;
    let dissent = sections::dissent(record, |_| true);
    let mut parts = titled(2, "Dissent", list(dissent));
    let open = sections::open_points(record);
    let is_unanswered = record.recommendation.is_none() && record.synthesis().is_some();
    let open_title = if is_unanswered {
        "They differ on"
    } else {
        "Open Points"
    };
    parts.extend(titled(2, open_title, nested_list(open)));
    let about = "Round 1: each expert's answer, given without seeing the others.";
    let positions = rounds::positions(record, None, detail);
    parts.extend(titled(2, "Positions", explained(about, positions, detail)));
    if is_full {
        let about = "Round 2: the judge's synthesis of the positions.";
        let mut synthesis = rounds::agreed(record, None);
        // Without a cross-examination, they are the open points above.
        if record.cross_exam().is_some() {
            synthesis.extend(rounds::tensions(record, None));
        }
        synthesis.extend(rounds::priorities(record, None));
        parts.extend(titled(2, "Agreements", explained(about, synthesis, detail)));
    }
    parts.extend(sections::changes(record, detail));
    let challenges = match detail {
        Detail::Brief => challenges(record).into_iter().collect(),
        Detail::Full => rounds::objections(record, None),
    };
    parts.extend(titled(2, "Challenges", challenges));
    parts
}

/// The page lists the agreements below.
fn answer_parts(record: &StoredRecord, detail: Detail) -> Vec<Part> {
    let Some(verdict) = record.verdict() else {
        let mut parts = sections::without_verdict_parts(record);
        if record.recommendation.is_some() && detail == Detail::Brief {
            parts.extend(titled(3, "They agree on", sections::agreements(record)));
        }
        return parts;
    };
    let mut parts = sections::verdict(verdict);
    parts.extend(sections::evidence(record, &record.evidence_detail));
    parts
}

fn explained(about: &'static str, parts: Vec<Part>, detail: Detail) -> Vec<Part> {
    let about = Some(paragraph(about, []));
    let about = about.filter(|_| !parts.is_empty() && detail == Detail::Full);
    about.into_iter().chain(parts).collect()
}

fn page_title(record: &StoredRecord, spent: Vec<Line>) -> [Part; 2] {
    let question = match record.question.trim() {
        "" => Line::of("(no question)", []),
        question => Line::foreign(question),
    };
    let mut facts: Vec<Fact> = head::follows_up(record).into_iter().collect();
    facts.extend(head::followed_up_by(record));
    let figures = [
        record.at.map(|at| Line::from(moment(at))),
        record.mode.as_ref().map(|mode| Line::of("{} mode", [mode])),
    ];
    let figures = figures.into_iter().flatten().chain(spent);
    facts.extend(figures.map(Fact::from));
    [Part::Heading(1, question), Part::Facts(facts)]
}

fn spent(record: &StoredRecord) -> Vec<Line> {
    let tokens = record.total_tokens().map(thousands);
    let figures = [
        record.total_cost_in_words().map(Line::from),
        record
            .duration()
            .map(|duration| Line::from(seconds(duration))),
        tokens.map(|tokens| Line::of("{} tokens", [&tokens])),
    ];
    figures.into_iter().flatten().collect()
}

fn answer_facts(record: &StoredRecord) -> Vec<Fact> {
    let mut facts = head::standing(record);
    let agreement = record.agreement;
    facts.extend(agreement.map(|share| fact("Agreement", format!("{:.0}%", share * 100.0))));
    if record.early_termination {
        let reason = record.early_termination_reason.as_deref();
        let line = Line::of("Ended after Round 2", []).with(": {}", reason.unwrap_or_default());
        facts.push(line.into());
    }
    facts
}

/// Points that the judge itself left unresolved are open points, not challenges.
fn challenges(record: &StoredRecord) -> Option<Part> {
    let raised = record.concerns_detail.iter();
    let raised = raised.filter(|concern| concern.raised_by.is_some());
    list(raised.map(concern))
}

fn concern(concern: &StoredConcern) -> Line {
    let severity = concern.severity.map(Severity::name).unwrap_or_default();
    Line::default()
        .with("**{}** ", concern.raised_by.as_deref().unwrap_or_default())
        .with("({}): ", severity)
        .and("{}", [&concern.text])
}

fn context(record: &StoredRecord) -> Vec<Part> {
    let Some(words) = record.context_in_words() else {
        return Vec::new();
    };
    let ContextWords {
        sources,
        others,
        facts,
    } = words;
    let sources = sources
        .iter()
        .map(|(name, tokens)| Line::of("{} ({})", [name, tokens]));
    let others = others.iter().map(Line::foreign);
    let mut parts: Vec<Part> = list(sources.chain(others)).into_iter().collect();
    if !facts.is_empty() {
        let facts = facts.iter();
        let facts = facts.map(|(label, value)| fact(Line::foreign(*label), Line::foreign(value)));
        parts.push(Part::Facts(facts.collect()));
    }
    titled(2, "Context", parts)
}

pub(super) fn cost(record: &StoredRecord) -> Vec<Fact> {
    let (cost, duration) = (record.total_cost_in_words(), record.duration());
    let mut spent = sections::spent(cost, duration, record.total_tokens());
    let calls = record.cost.as_ref().and_then(|cost| cost.total.calls);
    for figures in &mut spent.values {
        *figures = std::mem::take(figures)
            .with(" ({})", &saved_by_filtering(record).unwrap_or_default())
            .with(
                " | **Calls:** {}",
                &calls.map(thousands).unwrap_or_default(),
            );
    }
    let mut facts = vec![spent];
    facts.extend(plans(record));
    let caching = record.caching();
    facts.extend(caching.map(|caching| fact("Prompt caching", Line::foreign(caching.in_words()))));
    let saved = record.cost_saved_in_words();
    let saved = saved.map(|saved| Line::of("about {}", [&saved]));
    facts.extend(saved.map(|saved| fact("Saved by ending after Round 2", saved)));
    facts.push(fact("Consultation", record.id.clone()));
    facts
}

/// `claude-code · plan (max_5x) · 18.2k tokens · 5 h window 41 % used · resets 19:23`; a time is
/// local.
pub(super) fn plans(record: &StoredRecord) -> Option<Fact> {
    let zone = TimeZone::system();
    let began = record.at.unwrap_or_default();
    let line = |(provider, paid): (&ProviderId, &StoredPlan)| {
        let name = paid.plan.as_ref();
        let name = name.map_or_else(|| "plan".to_owned(), |name| format!("plan ({name})"));
        let mut parts = vec![name, format!("{} tokens", kilo(paid.tokens))];
        if let Some(window) = &paid.window {
            parts.push(format!(
                "{} window {} % used",
                window.name, window.used_percent
            ));
            let reset = window.resets_at.map(|at| local_moment(at, began, &zone));
            parts.extend(reset.map(|reset| format!("resets {reset}")));
        }
        if paid.overage > 0 {
            let calls = count(usize::try_from(paid.overage).unwrap_or(usize::MAX), "call");
            parts.push(format!("{calls} billed beside it"));
        }
        Line::foreign(format!("{provider} · {}", parts.join(" · ")))
    };
    (!record.plans.is_empty()).then(|| Fact {
        values: record.plans.iter().map(line).collect(),
        ..fact("Plan", "")
    })
}

fn saved_by_filtering(record: &StoredRecord) -> Option<String> {
    let stats = record.token_efficiency_stats.as_ref()?;
    let saved = stats.tokens_saved_via_filtering;
    let saved = saved.filter(|saved| *saved > 0)?;
    let (saved, share) = (thousands(saved), stats.efficiency_percentage?);
    Some(format!("about {saved} more, {share}%, saved by filtering"))
}

fn account(record: &StoredRecord, totals: Part) -> Vec<Part> {
    if record.total_cost().is_none() && record.agent_rounds().next().is_none() {
        return Vec::new();
    }
    let by_provider = record.cost_by_provider();
    let by_provider = by_provider
        .map(|(provider, cost)| vec![provider.to_string().into(), Line::from(amount(cost))]);
    let heads = |first| [first, "Time", "Tokens", "Cost"];
    let tables = [
        Table::of(1, &heads("By round"), by_round(record)),
        Table::of(1, &heads("By agent"), by_agent(record)),
        Table::of(1, &["By provider", "Cost"], by_provider),
    ];
    let tables = tables.into_iter().flatten();
    std::iter::once(totals).chain(tables).collect()
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
        let mut seats = record.agents.iter();
        let seat = seats.position(|expert| expert.id == entry.agent_id);
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

fn sums<'a>(
    name: Line,
    duration: Option<Duration>,
    entries: impl Iterator<Item = &'a StoredAgentRound>,
    cost: Option<Cost>,
) -> Vec<Line> {
    let tokens = entries.filter_map(StoredAgentRound::total_tokens);
    let tokens = tokens.reduce(u64::saturating_add);
    let figures = [
        duration.map(seconds),
        tokens.map(thousands),
        cost.map(amount),
    ];
    let figures = figures.map(|figure| Line::from(figure.unwrap_or("-".to_owned())));
    std::iter::once(name).chain(figures).collect()
}

/// The id stands with the cost.
fn origin(record: &StoredRecord) -> Vec<Fact> {
    let templates = record.prompt_templates();
    let templates = templates.map(|(name, version)| format!("{name} {version}"));
    let version = record.tool_version.as_deref().unwrap_or_default();
    let written_by = Line::of("conclave", []).with(" {}", version);
    let facts = [
        ("State", record.state.clone().unwrap_or_default()),
        ("Prompts", templates.collect::<Vec<_>>().join(", ")),
    ];
    let facts = facts
        .into_iter()
        .filter(|(_, value)| !value.trim().is_empty());
    let facts = facts.map(|(label, value)| fact(label, Line::foreign(value)));
    std::iter::once(fact("Written by", written_by))
        .chain(facts)
        .collect()
}

/// `2026-11-21 08:30 UTC`.
pub(super) fn moment(at: Timestamp) -> String {
    let exact = at.to_string();
    match exact.split_once('T') {
        Some((day, time)) => format!("{day} {} UTC", time.get(..5).unwrap_or(time)),
        None => exact,
    }
}
