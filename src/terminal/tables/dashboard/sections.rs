//! The sections of figures.

use super::line::{StyledLine, Tone, figure, name, section};
use super::numbers::{amount, change, mean, money, of_one, percent, share, time};
use super::targets::{TargetStatus, cost_status, speed_status};
use crate::domain::ids::ProviderId;
use crate::domain::money::{Cost, MicroUsd};
use crate::domain::statistics::{DebateNumbers, Span, Statistics};
use crate::terminal::output::format::thousands;

pub(super) fn usage(statistics: &Statistics) -> Vec<StyledLine> {
    let usage = &statistics.usage;
    let days = percent(usage.active_days, usage.total_days)
        .map(|percent| format!(" ({percent})"))
        .unwrap_or_default();
    let mut items = vec![
        figure("Total Consultations", thousands(usage.total), Tone::Total),
        figure(
            "Active Days",
            format!(
                "{}/{}{days}",
                thousands(usage.active_days),
                thousands(usage.total_days)
            ),
            Tone::Plain,
        ),
    ];
    items.extend(
        mean(usage.total, usage.active_days).map(|mean| figure("Avg per Day", mean, Tone::Plain)),
    );
    items.push(figure(
        "Completed",
        share(usage.completed, usage.total),
        Tone::Plain,
    ));
    items.push(figure(
        "Aborted",
        share(usage.aborted, usage.total),
        warning_when_any(usage.aborted),
    ));
    if usage.unfinished > 0 {
        items.push(figure(
            "Unfinished",
            share(usage.unfinished, usage.total),
            Tone::Warning,
        ));
    }
    section("Usage Metrics", items)
}

pub(super) fn performance(statistics: &Statistics) -> Vec<StyledLine> {
    let performance = &statistics.performance;
    let timing = |label: &str, ms: Option<u64>| ms.map(|ms| figure(label, time(ms), Tone::Plain));
    let median = match performance.p50 {
        Some(ms) => figure(
            "Median Response Time",
            format!("{} (p50)", time(ms)),
            speed_status(&statistics.progress.targets, ms).tone(),
        ),
        None => figure("Median Response Time", "n/a", Tone::Quiet),
    };
    let mut items = vec![median];
    items.extend(timing("p95 Response Time", performance.p95));
    items.extend(timing("p99 Response Time", performance.p99));
    items.extend(timing(
        "Fastest",
        performance.fastest.as_ref().map(|(_, ms)| *ms),
    ));
    items.extend(timing(
        "Slowest",
        performance.slowest.as_ref().map(|(_, ms)| *ms),
    ));
    if (1..statistics.usage.completed).contains(&performance.measured) {
        items.push(figure(
            "Measured",
            share(performance.measured, statistics.usage.completed),
            Tone::Quiet,
        ));
    }
    section("Performance Metrics", items)
}

pub(super) fn cost(statistics: &Statistics, name_of: fn(&ProviderId) -> &str) -> Vec<StyledLine> {
    let cost = &statistics.cost;
    // The target is for a month, so only the total of a month is compared with it.
    let tone = match statistics.range.span {
        Span::Month(_) if cost_status(&statistics.progress) == TargetStatus::Beyond => Tone::Bad,
        Span::Month(_) | Span::Week | Span::Days { .. } | Span::AllTime => Tone::Total,
    };
    let tokens = if cost.tokens == 0 {
        "n/a".to_owned()
    } else {
        thousands(cost.tokens)
    };
    let average = cost.average.map_or_else(|| "n/a".to_owned(), money);
    let mut items = vec![
        figure("Total Cost", money(cost.total), tone),
        figure("Avg per Consultation", average, Tone::Plain),
        figure("Total Tokens", tokens, Tone::Total),
    ];
    items.extend(providers(statistics, name_of));
    section("Cost Metrics", items)
}

/// Lists the known cost by provider, and the rest that no call accounts for.
fn providers(statistics: &Statistics, name_of: fn(&ProviderId) -> &str) -> Vec<StyledLine> {
    let cost = &statistics.cost;
    if cost.by_provider.is_empty() {
        return Vec::new();
    }
    let assigned: MicroUsd = cost
        .by_provider
        .iter()
        .map(|(_, numbers)| numbers.cost.known)
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
        .map(|(provider, numbers)| part(&name(name_of(provider)), numbers.cost));
    // Records of other programs may have a total and no calls.
    let rest = (unassigned > MicroUsd::ZERO).then(|| part("Unassigned", Cost::exactly(unassigned)));
    std::iter::once(StyledLine::bulleted(format!("{label}:")))
        .chain(parts)
        .chain(rest)
        .collect()
}

pub(super) fn quality(statistics: &Statistics) -> Vec<StyledLine> {
    let (quality, completed) = (&statistics.quality, statistics.usage.completed);
    let mut items = vec![match quality.average_confidence {
        Some(confidence) => figure("Avg Confidence", of_one(confidence), Tone::Plain),
        None => figure("Avg Confidence", "n/a", Tone::Quiet),
    }];
    if quality.with_confidence > 0 {
        items.push(figure(
            "High Confidence (≥85%)",
            share(quality.high_confidence, quality.with_confidence),
            Tone::Plain,
        ));
        items.push(figure(
            "Low Confidence (<70%)",
            share(quality.low_confidence, quality.with_confidence),
            Tone::Plain,
        ));
    }
    if (1..completed).contains(&quality.with_confidence) {
        items.push(figure(
            "Stating a Confidence",
            share(quality.with_confidence, completed),
            Tone::Quiet,
        ));
    }
    if completed > 0 {
        items.push(figure(
            "With Dissent",
            share(quality.with_dissent, completed),
            Tone::Plain,
        ));
    }
    items.extend(
        quality
            .average_agreement
            .map(|agreement| figure("Avg Agreement", of_one(agreement), Tone::Plain)),
    );
    if quality.degraded > 0 {
        items.push(figure(
            "Degraded",
            share(quality.degraded, completed),
            Tone::Warning,
        ));
    }
    section("Quality Metrics", items)
}

/// The value of the debates; `None` without any.
pub(super) fn debate(debate: &DebateNumbers) -> Option<Vec<StyledLine>> {
    let mut items = Vec::new();
    let agents = mean(debate.agents, debate.debates).map(|agents| {
        agents
            .strip_suffix(".0")
            .map(ToOwned::to_owned)
            .unwrap_or(agents)
    });
    if let Some((changes, agents)) = mean(debate.changed, debate.debates).zip(agents) {
        let share = percent(debate.changed, debate.agents)
            .map(|percent| format!(" ({percent})"))
            .unwrap_or_default();
        items.push(figure(
            "Avg Position Changes",
            format!("{changes}/{agents} agents{share}"),
            Tone::Plain,
        ));
    }
    items.extend(
        debate
            .average_confidence_increase
            .map(|increase| figure("Avg Confidence Increase", change(increase), Tone::Plain)),
    );
    if debate.debates > 0 {
        items.push(figure(
            "High-Value Debates (>50% change rate)",
            share(debate.high_value, debate.debates),
            Tone::Plain,
        ));
    }
    if debate.compared > 0 {
        let share = percent(debate.verdict_changed, debate.compared)
            .map(|percent| format!(" ({percent})"))
            .unwrap_or_default();
        let changed = format!(
            "{}/{}{share}",
            thousands(debate.verdict_changed),
            thousands(debate.compared)
        );
        items.push(figure("Answer Changed by Rounds 3-4", changed, Tone::Plain));
        items.push(figure(
            "Cost of Those Rounds",
            money(debate.later_rounds_cost),
            Tone::Plain,
        ));
    }
    (!items.is_empty()).then(|| section("Debate Value Metrics", items))
}

/// Consultations that ended after Round 2; `None` without any.
pub(super) fn early_ends(statistics: &Statistics) -> Option<Vec<StyledLine>> {
    let early = &statistics.early_ends;
    let mut items = vec![figure(
        "Ended after Round 2",
        share(early.count, statistics.usage.completed),
        Tone::Plain,
    )];
    if early.saved > MicroUsd::ZERO {
        items.push(figure("Saved (estimated)", amount(early.saved), Tone::Good));
    }
    (early.count > 0).then(|| section("Early Termination", items))
}

fn warning_when_any(number: u64) -> Tone {
    if number > 0 {
        Tone::Warning
    } else {
        Tone::Plain
    }
}
