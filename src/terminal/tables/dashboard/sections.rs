//! The sections of figures.

use super::line::{StyledLine, Tone, figure, section};
use super::numbers::{change, in_brackets, mean, money, of_all, of_one, percent, share, time};
use super::targets::{TargetStatus, cost_status, speed_status};
use crate::domain::ids::ProviderId;
use crate::domain::money::{Cost, MicroUsd};
use crate::domain::statistics::{CachingNumbers, DebateNumbers, Span, Statistics};
use crate::terminal::output::format::thousands;
use crate::text::clean::one_line;

pub(super) fn usage(statistics: &Statistics) -> Vec<StyledLine> {
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
            Tone::Total,
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

pub(super) fn performance(statistics: &Statistics) -> Vec<StyledLine> {
    let (performance, completed) = (&statistics.performance, statistics.usage.by_state.completed);
    let timing = |label: &str, ms: Option<u64>| ms.map(|ms| plain(label, time(ms)));
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

pub(super) fn cost(statistics: &Statistics, name_of: fn(&ProviderId) -> &str) -> Vec<StyledLine> {
    let cost = &statistics.cost;
    // The target is for a month, so only the total of a month is compared with it.
    let status = cost_status(&statistics.success_criteria.cost);
    let tone = match statistics.range.span {
        Span::Month(_) if status == TargetStatus::Beyond => Tone::Bad,
        Span::Month(_) | Span::Week | Span::Days { .. } | Span::AllTime => Tone::Total,
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
            money(Cost {
                known,
                ..cost.total
            })
        },
    );
    let mut items = vec![
        figure("Total Cost", money(cost.total), tone),
        plain("Avg per Consultation", average),
        figure("Total Tokens", tokens, Tone::Total),
    ];
    items.extend(cost.caching.as_ref().map(caching));
    items.extend(providers(statistics, name_of));
    section("Cost Metrics", items)
}

/// What the vendors' caches saved, as far as it is known.
fn caching(caching: &CachingNumbers) -> StyledLine {
    let size = money(Cost::exactly(caching.saved_micro_usd.size()));
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

/// Lists the known cost by provider, and the rest that no call accounts for.
fn providers(statistics: &Statistics, name_of: fn(&ProviderId) -> &str) -> Vec<StyledLine> {
    let cost = &statistics.cost;
    if cost.by_provider.is_empty() {
        return Vec::new();
    }
    let assigned: MicroUsd = cost
        .by_provider
        .values()
        .map(|numbers| numbers.cost.known)
        .sum();
    let unassigned = MicroUsd(cost.total.known.0.saturating_sub(assigned.0));
    let whole = assigned + unassigned;
    let part = |label: &str, cost: Cost| {
        // Without any known cost, the share is unknown too.
        let is_known = cost.known > MicroUsd::ZERO || !cost.lower_bound;
        let share = percent(cost.known.0, whole.0)
            .filter(|_| is_known)
            .map(|percent| format!(" ({percent})"))
            .unwrap_or_default();
        StyledLine::part(label, &format!("{}{share}", money(cost)))
    };
    let label = if cost.total.lower_bound && whole > MicroUsd::ZERO {
        "By Provider, of what is known"
    } else {
        "By Provider"
    };
    let parts = cost
        .by_provider
        .iter()
        .map(|(provider, numbers)| part(&one_line(name_of(provider)), numbers.cost));
    // Records of other programs may have a total and no calls.
    let rest = (unassigned > MicroUsd::ZERO).then(|| part("Unassigned", Cost::exactly(unassigned)));
    std::iter::once(StyledLine::bulleted(format!("{label}:")))
        .chain(parts)
        .chain(rest)
        .collect()
}

pub(super) fn quality(statistics: &Statistics) -> Vec<StyledLine> {
    let (quality, completed) = (&statistics.quality, statistics.usage.by_state.completed);
    let stated = quality.with_confidence;
    let confidence = match quality.avg_confidence {
        Some(confidence) => plain("Avg Confidence", of_one(confidence)),
        None => figure("Avg Confidence", "n/a", Tone::Quiet),
    };
    let of_stated = |label: &str, number| (stated > 0).then(|| plain(label, share(number, stated)));
    let of_completed = |label: &str, number, tone| figure(label, share(number, completed), tone);
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

/// The value of the debates; `None` without any.
pub(super) fn debate(debate: &DebateNumbers) -> Option<Vec<StyledLine>> {
    let mut items = Vec::new();
    let agents = mean(debate.total_agents, debate.debates);
    let moved = mean(debate.agents_changed_position, debate.debates);
    if let Some((moved, agents)) = moved.zip(agents) {
        let agents = agents.strip_suffix(".0").unwrap_or(&agents);
        let share = in_brackets(debate.agents_changed_position, debate.total_agents);
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
            money(debate.later_rounds_cost),
        ));
    }
    (!items.is_empty()).then(|| section("Debate Value Metrics", items))
}

/// Consultations that ended after Round 2; `None` without any.
pub(super) fn early_termination(statistics: &Statistics) -> Option<Vec<StyledLine>> {
    let early = &statistics.early_termination;
    let ended = share(early.count, statistics.usage.by_state.completed);
    let saved = (early.saved.known > MicroUsd::ZERO)
        .then(|| figure("Saved (estimated)", money(early.saved), Tone::Good));
    let items = [Some(plain("Ended after Round 2", ended)), saved];
    (early.count > 0).then(|| section("Early Termination", items.into_iter().flatten()))
}

fn plain(label: &str, value: String) -> StyledLine {
    figure(label, value, Tone::Plain)
}
