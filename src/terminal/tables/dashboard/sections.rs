//! The sections of figures.

use super::numbers::{change, in_brackets, mean, of_all, of_one, percent, share, time};
use super::span::from_to;
use super::targets::{TargetStatus, cost_status, figure, speed_status};
use crate::domain::cost::money::{Cost, MicroUsd};
use crate::domain::ids::ProviderId;
use crate::domain::record::statistics::{
    CachingNumbers, DayNumbers, DebateNumbers, ModelNumbers, Span, Statistics,
};
use crate::terminal::document::plot::{BarRow, Plot};
use crate::terminal::document::{Line, Part, Table};
use crate::terminal::output::format::{LOCAL_QUALITY, amount, dollars, thousands};
use crate::terminal::output::style::Tone;

/// A figure, and what belongs to it.
type Item = Vec<Line>;

/// The columns beside the bars: the indent, the label, and two gaps.
const BESIDE_BARS: usize = 10;

fn section(title: &'static str, items: impl IntoIterator<Item = Item>) -> Vec<Part> {
    let items = items.into_iter().collect();
    vec![Part::Heading(1, title.into()), Part::List(items)]
}

pub(super) fn usage(statistics: &Statistics) -> Vec<Part> {
    let usage = &statistics.usage;
    let states = &usage.by_state;
    let (active, days) = (usage.active_days, usage.date_range.total_days);
    let active_days = of_all(active, days) + &in_brackets(active, days);
    let aborted = if states.aborted > 0 {
        Tone::Warning
    } else {
        Tone::Plain
    };
    let items = [
        Some(figure(
            "Total Consultations",
            thousands(usage.total),
            Tone::Key,
        )),
        Some(plain("Active Days", active_days)),
        mean(usage.total, active).map(|mean| plain("Avg per Day", mean)),
        Some(plain("Completed", share(states.completed, usage.total))),
        Some(figure(
            "Aborted",
            share(states.aborted, usage.total),
            aborted,
        )),
        (states.unfinished > 0).then(|| {
            figure(
                "Unfinished",
                share(states.unfinished, usage.total),
                Tone::Warning,
            )
        }),
        (states.declined > 0).then(|| {
            let declined = format!("{}, in no rate", thousands(states.declined));
            figure("Declined", declined, Tone::Quiet)
        }),
    ];
    section("Usage Metrics", items.into_iter().flatten())
}

pub(super) fn performance(statistics: &Statistics) -> Vec<Part> {
    let (performance, completed) = (&statistics.performance, statistics.usage.by_state.completed);
    let timing = |label, ms: Option<u64>| ms.map(|ms| plain(label, time(ms)));
    let median = match performance.p50 {
        Some(ms) => figure(
            "Median Response Time",
            format!("{} (p50)", time(ms)),
            speed_status(&statistics.success_criteria.speed).tone(),
        ),
        None => figure("Median Response Time", "n/a", Tone::Quiet),
    };
    let [fastest, slowest] = [
        &performance.fastest_consultation,
        &performance.slowest_consultation,
    ]
    .map(|consultation| consultation.as_ref().map(|timed| timed.duration_ms));
    let measured = performance.measured;
    let items = [
        Some(median),
        timing("p95 Response Time", performance.p95),
        timing("p99 Response Time", performance.p99),
        timing("Fastest", fastest),
        timing("Slowest", slowest),
        (1..completed)
            .contains(&measured)
            .then(|| figure("Measured", share(measured, completed), Tone::Quiet)),
    ];
    section("Performance Metrics", items.into_iter().flatten())
}

pub(super) fn cost(statistics: &Statistics, name_of: fn(&ProviderId) -> &str) -> Vec<Part> {
    let cost = &statistics.cost;
    // The target is for a month, so only the total of a month is compared with it.
    let status = cost_status(&statistics.success_criteria.cost);
    let tone = match statistics.range.span {
        Span::Month(_) if status == TargetStatus::Beyond => Tone::Bad,
        Span::Month(_) | Span::Week | Span::Days { .. } | Span::AllTime => Tone::Key,
    };
    let tokens = if cost.total_tokens == 0 {
        "n/a".to_owned()
    } else {
        thousands(cost.total_tokens)
    };
    let average = cost.avg_per_consultation_micro_usd;
    let average = average.map_or_else(
        || "n/a".to_owned(),
        |known| {
            dollars(Cost {
                known,
                ..cost.total.billed()
            })
        },
    );
    let mut items = vec![
        figure("Total Cost", dollars(cost.total), tone),
        plain("Avg per Consultation", average),
        figure("Total Tokens", tokens, Tone::Key),
    ];
    items.extend(cost.caching.as_ref().map(caching));
    items.extend(providers(statistics, name_of));
    section("Cost Metrics", items)
}

fn caching(caching: &CachingNumbers) -> Item {
    let size = dollars(Cost::exactly(caching.saved_micro_usd.size()));
    let known = if caching.incomplete {
        ", as far as is known"
    } else {
        ""
    };
    if caching.saved_micro_usd.is_loss() {
        figure(
            "Prompt Caching Cost",
            format!("{size} more{known}"),
            Tone::Warning,
        )
    } else {
        figure(
            "Saved by Prompt Caching",
            format!("{size}{known}"),
            Tone::Good,
        )
    }
}

fn providers(statistics: &Statistics, name_of: fn(&ProviderId) -> &str) -> Option<Item> {
    let cost = &statistics.cost;
    let assigned = cost.by_provider.values().map(|numbers| numbers.cost.known);
    let assigned: MicroUsd = assigned.sum();
    let unassigned = MicroUsd(cost.total.known.0.saturating_sub(assigned.0));
    let whole = assigned + unassigned;
    let part = |label: &str, cost: Cost| {
        // Without any known cost, the share is unknown too.
        let is_known = cost.known > MicroUsd::ZERO || !(cost.lower_bound || cost.by_plan);
        let share = percent(cost.known.0, whole.0).filter(|_| is_known);
        let amount = Line::of("{}: {}", [label, &dollars(cost)]);
        amount.with(" ({})", &share.unwrap_or_default())
    };
    let label = if cost.total.lower_bound && whole > MicroUsd::ZERO {
        "By Provider, of what is known:"
    } else {
        "By Provider:"
    };
    let parts = cost.by_provider.iter();
    let parts = parts.map(|(provider, numbers)| part(name_of(provider), numbers.cost));
    // Records of other programs may have a total and no calls.
    let rest = (unassigned > MicroUsd::ZERO).then(|| part("Unassigned", Cost::exactly(unassigned)));
    let item = std::iter::once(label.into()).chain(parts).chain(rest);
    (!cost.by_provider.is_empty()).then(|| item.collect())
}

pub(super) fn quality(statistics: &Statistics) -> Vec<Part> {
    let (quality, completed) = (&statistics.quality, statistics.usage.by_state.completed);
    let stated = quality.with_confidence;
    let confidence = match quality.avg_confidence {
        Some(confidence) => plain("Avg Confidence", of_one(confidence)),
        None => figure("Avg Confidence", "n/a", Tone::Quiet),
    };
    let of_stated = |label, number| (stated > 0).then(|| plain(label, share(number, stated)));
    let of_completed = |label, number, tone| figure(label, share(number, completed), tone);
    let items = [
        Some(confidence),
        of_stated("High Confidence (≥85%)", quality.high_confidence),
        of_stated("Low Confidence (<70%)", quality.low_confidence),
        (1..completed)
            .contains(&stated)
            .then(|| of_completed("Stating a Confidence", stated, Tone::Quiet)),
        (completed > 0).then(|| of_completed("With Dissent", quality.with_dissent, Tone::Plain)),
        quality
            .avg_agreement
            .map(|agreement| plain("Avg Agreement", of_one(agreement))),
        (quality.degraded > 0).then(|| of_completed("Degraded", quality.degraded, Tone::Warning)),
    ];
    section("Quality Metrics", items.into_iter().flatten())
}

/// `None` without any.
pub(super) fn debate(debate: &DebateNumbers) -> Option<Vec<Part>> {
    let mut items = Vec::new();
    let agents = mean(debate.total_agents, debate.debates);
    let moved = mean(debate.agents_changed_mind, debate.debates);
    if let Some((moved, agents)) = moved.zip(agents) {
        let agents = agents.strip_suffix(".0").unwrap_or(&agents);
        let share = in_brackets(debate.agents_changed_mind, debate.total_agents);
        items.push(plain(
            "Avg Position Changes",
            format!("{moved}/{agents} agents{share}"),
        ));
    }
    if let Some(increase) = debate.avg_confidence_increase {
        items.push(plain("Avg Confidence Increase", change(increase)));
    }
    if debate.debates > 0 {
        let share = share(debate.high_value_debates, debate.debates);
        items.push(plain("High-Value Debates (>50% change rate)", share));
    }
    if debate.verdicts_compared > 0 {
        let (changed, compared) = (debate.verdicts_changed, debate.verdicts_compared);
        let changed = of_all(changed, compared) + &in_brackets(changed, compared);
        items.push(plain("Answer Changed by Rounds 3-4", changed));
        items.push(plain(
            "Cost of Those Rounds",
            dollars(debate.later_rounds_cost),
        ));
    }
    (!items.is_empty()).then(|| section("Debate Value Metrics", items))
}

/// `None` without any.
pub(super) fn early_termination(statistics: &Statistics) -> Option<Vec<Part>> {
    let early = &statistics.early_termination;
    let ended = share(early.count, statistics.usage.by_state.completed);
    let saved = (early.saved.known > MicroUsd::ZERO)
        .then(|| figure("Saved (estimated)", dollars(early.saved), Tone::Good));
    let items = [Some(plain("Ended after Round 2", ended)), saved];
    (early.count > 0).then(|| section("Early Termination", items.into_iter().flatten()))
}

/// The newest days that fit. `None` for a single day.
pub(super) fn per_day(days: &[DayNumbers], room: usize) -> Option<Vec<Part>> {
    // The maximum over all days is at least as wide as that of the days shown.
    let beside = BESIDE_BARS + most_cost(days).len().max(most_runs(days).len());
    let fitting = if room >= days.len() + beside {
        room
    } else {
        room.saturating_sub(2)
    };
    let days = days.get(days.len().saturating_sub(fitting)..)?;
    let (first, last) = (days.first()?, days.last()?);
    if days.len() < 2 || days.iter().all(|day| day.runs == 0) {
        return None;
    }
    let title = Line::of("Per Day, {}", [&from_to(first.date, last.date)]);
    let rows = Plot::Bars(day_rows(days).to_vec());
    Some(vec![Part::Heading(1, title), Part::Plot(rows)])
}

/// Runs and cost.
pub(super) fn day_rows(days: &[DayNumbers]) -> [BarRow; 2] {
    let of = days
        .iter()
        .map(|day| day.date.strftime("%b %-d").to_string());
    let runs = days.iter().map(|day| Some(day.runs)).collect();
    // A day with an unknown cost has no height.
    let cost = days.iter();
    let cost = cost.map(|day| (!day.cost.is_unknown()).then_some(day.cost.known.0));
    let runs = BarRow {
        name: "Runs",
        values: runs,
        note: most_runs(days),
        of: of.collect(),
        unit: thousands,
    };
    let cost = BarRow {
        name: "Cost",
        values: cost.collect(),
        note: most_cost(days),
        of: runs.of.clone(),
        unit: micro_dollars,
    };
    [runs, cost]
}

/// Cents where there are no less.
pub(super) fn micro_dollars(micro_usd: u64) -> String {
    let cost = Cost::exactly(MicroUsd(micro_usd));
    if micro_usd.is_multiple_of(10_000) {
        dollars(cost)
    } else {
        amount(cost)
    }
}

fn most_runs(days: &[DayNumbers]) -> String {
    let most = days.iter().map(|day| day.runs).max();
    format!("most {}", thousands(most.unwrap_or_default()))
}

fn most_cost(days: &[DayNumbers]) -> String {
    let known = days.iter().map(|day| day.cost.known).max();
    let (known, lower_bound) = (
        known.unwrap_or_default(),
        days.iter().any(|day| day.cost.lower_bound),
    );
    let most = Cost {
        known,
        lower_bound,
        by_plan: days.iter().any(|day| day.cost.by_plan),
    };
    if most.is_unknown() {
        "not known".to_owned()
    } else {
        format!("most {most:.2}")
    }
}

/// `None` without a call.
pub(super) fn models(models: &[ModelNumbers]) -> Option<Vec<Part>> {
    // Amounts in one column have the same number of decimals.
    let is_fraction = |model: &ModelNumbers| (1..10_000).contains(&model.cost.known.0);
    let amount = if models.iter().any(is_fraction) {
        amount
    } else {
        dollars
    };
    let known = |ms: Option<u64>| ms.map_or_else(|| "n/a".to_owned(), time);
    let counts = |model: &ModelNumbers| [model.failures, model.hedges_won];
    // A column without any figure is dropped.
    let shown = [0, 1].map(|at| models.iter().any(|model| counts(model).get(at) != Some(&0)));
    let pick = |pair: [String; 2]| pair.into_iter().zip(shown).filter(|(_, shown)| *shown);
    let rows = models.iter().map(|model| {
        let mut row = vec![
            model.model.to_string(),
            thousands(model.calls),
            known(model.first_token_p50_ms),
            known(model.first_token_p95_ms),
        ];
        row.extend(pick(counts(model).map(thousands)).map(|(cell, _)| cell));
        row.push(amount(model.cost));
        row
    });
    let heads = ["Model", "Calls", "p50", "p95", "Failed", "Hedges", "Cost"];
    let [has_failures, has_hedges] = shown;
    let is_shown = [true, true, true, true, has_failures, has_hedges, true];
    let heads = heads.into_iter().zip(is_shown);
    let heads: Vec<&'static str> = heads
        .filter_map(|(head, shown)| shown.then_some(head))
        .collect();
    let table = Table::of(1, &heads, rows)?;
    let hedges = if has_hedges { "; hedges: won" } else { "" };
    let title = Line::of("Models (p50, p95: to the first token{})", [hedges]);
    let mut parts = vec![Part::Heading(1, title), table];
    let local = models.iter().filter(|model| model.demonstration);
    parts.extend(local.map(|model| {
        let line = format!("{}: {LOCAL_QUALITY}", model.model);
        Part::Paragraph(Line::toned(Tone::Quiet, line))
    }));
    Some(parts)
}

fn plain(label: &'static str, value: String) -> Item {
    figure(label, value, Tone::Plain)
}
