//! The numbers for programs: what `consult-stats --json` prints. Its published schema is
//! `schemas/consult_stats.schema.json`.
//!
//! Money is in dollars, with the exact amount in micro-dollars beside it; `lower_bound` means that
//! an unknown amount comes on top. Unknown values are null, except counts, which are 0.

use jiff::civil::Date;
use serde_json::{Map, Value, json};

use crate::domain::money::Cost;
use crate::domain::statistics::{
    CachingNumbers, CostNumbers, DayNumbers, DebateNumbers, ModelNumbers, PerformanceNumbers,
    Progress, QualityNumbers, Range, Span, Statistics, UsageNumbers,
};

/// The version of the schema.
pub const SCHEMA_VERSION: &str = "1.0";

/// Writes all numbers.
pub fn json(statistics: &Statistics) -> Value {
    json!({
        "schema_version": SCHEMA_VERSION,
        "range": range(&statistics.range),
        "usage": usage(&statistics.usage),
        "performance": performance(&statistics.performance),
        "cost": cost(&statistics.cost),
        "quality": quality(&statistics.quality),
        "debate_value": debate(&statistics.debate),
        "early_termination": merged([
            json!({ "count": statistics.early_ends.count }),
            amount("saved", statistics.early_ends.saved),
        ]),
        "models": statistics.models.iter().map(model).collect::<Vec<_>>(),
        "per_day": statistics.days.iter().map(per_day).collect::<Vec<_>>(),
        "success_criteria": success(&statistics.progress),
    })
}

fn range(range: &Range) -> Value {
    let (span, since, until) = match range.span {
        Span::Week => ("week", None, None),
        Span::Month(day) => (
            "month",
            Some(day.first_of_month()),
            Some(day.last_of_month()),
        ),
        Span::Days { since, until } => ("days", since, until),
        Span::AllTime => ("all_time", None, None),
    };
    json!({
        "span": span,
        "since": since.map(day),
        "until": until.map(day),
        "from": range.from,
        "to": range.until,
        "time_zone": range.time_zone,
    })
}

fn usage(usage: &UsageNumbers) -> Value {
    json!({
        "total": usage.total,
        "date_range": {
            "start": usage.first_and_last.map(|(first, _)| day(first)),
            "end": usage.first_and_last.map(|(_, last)| day(last)),
            "total_days": usage.total_days,
        },
        "active_days": usage.active_days,
        "avg_per_day": ratio(usage.total, usage.active_days),
        "by_state": {
            "completed": usage.completed,
            "aborted": usage.aborted,
            "declined": usage.declined,
            "unfinished": usage.unfinished,
        },
    })
}

fn performance(performance: &PerformanceNumbers) -> Value {
    let one = |one: &Option<(String, u64)>| {
        one.as_ref()
            .map(|(id, duration)| json!({ "id": id, "duration_ms": duration }))
    };
    json!({
        "measured": performance.measured,
        "p50": performance.p50,
        "p95": performance.p95,
        "p99": performance.p99,
        "avg_duration": performance.average,
        "fastest_consultation": one(&performance.fastest),
        "slowest_consultation": one(&performance.slowest),
    })
}

fn cost(cost: &CostNumbers) -> Value {
    let one = |one: &Option<(String, Cost)>| {
        one.as_ref()
            .map(|(id, cost)| merged([json!({ "id": id }), amount("cost", *cost)]))
    };
    let providers = cost.by_provider.iter().map(|(provider, numbers)| {
        let counts = json!({ "tokens": numbers.tokens, "calls": numbers.calls });
        (
            provider.to_string(),
            merged([amount("cost", numbers.cost), counts]),
        )
    });
    let written = json!({
        "avg_per_consultation": cost.average.map(|average| average.known.usd()),
        "avg_per_consultation_micro_usd": cost.average.map(|average| average.known),
        "total_tokens": cost.tokens,
        "by_provider": providers.collect::<Map<_, _>>(),
        "caching": cost.caching.as_ref().map(caching),
        "most_expensive": one(&cost.most_expensive),
        "cheapest": one(&cost.cheapest),
    });
    merged([amount("total", cost.total), written])
}

fn caching(caching: &CachingNumbers) -> Value {
    json!({
        "saved": caching.saved.usd(),
        "saved_micro_usd": caching.saved,
        "incomplete": caching.incomplete,
    })
}

fn quality(quality: &QualityNumbers) -> Value {
    json!({
        "with_confidence": quality.with_confidence,
        "avg_confidence": quality.average_confidence,
        "high_confidence": quality.high_confidence,
        "low_confidence": quality.low_confidence,
        "with_dissent": quality.with_dissent,
        "with_agreement": quality.with_agreement,
        "avg_agreement": quality.average_agreement,
        "degraded": quality.degraded,
    })
}

fn debate(debate: &DebateNumbers) -> Value {
    let written = json!({
        "debates": debate.debates,
        "agents_changed_position": debate.changed,
        "total_agents": debate.agents,
        "change_rate": ratio(debate.changed, debate.agents),
        "avg_confidence_increase": debate.average_confidence_increase,
        "high_value_debates": debate.high_value,
        "verdicts_compared": debate.compared,
        "verdicts_changed": debate.verdict_changed,
    });
    merged([
        written,
        amount("later_rounds_cost", debate.later_rounds_cost),
    ])
}

fn per_day(numbers: &DayNumbers) -> Value {
    merged([
        json!({ "date": day(numbers.date), "runs": numbers.runs }),
        amount("cost", numbers.cost),
    ])
}

fn model(model: &ModelNumbers) -> Value {
    let written = json!({
        "model": model.model,
        "calls": model.calls,
        "failures": model.failures,
        "hedges_won": model.hedges_won,
        "tokens": model.tokens,
        "first_token_p50_ms": model.first_token_p50,
        "first_token_p95_ms": model.first_token_p95,
        "demonstration": model.model.is_demonstration(),
    });
    merged([written, amount("cost", model.cost)])
}

fn success(progress: &Progress) -> Value {
    let targets = progress.targets;
    let money = json!({
        "target": targets.month.usd(),
        "target_micro_usd": targets.month,
        "met": progress.is_cheap_enough(),
    });
    json!({
        "usage": {
            "runs_in_thirty_days": progress.runs_in_thirty_days,
            "target": targets.runs,
            "met": progress.is_used_enough(),
        },
        "speed": {
            "median_ms": progress.median_ms,
            "target_ms": targets.median_ms,
            "met": progress.is_fast_enough(),
        },
        "cost": merged([amount("month", progress.month), money]),
    })
}

/// Writes an amount in dollars under its name, and in micro-dollars beside it.
fn amount(name: &str, cost: Cost) -> Value {
    let exact = format!("{name}_micro_usd");
    json!({ name: cost.known.usd(), exact: cost.known, "lower_bound": cost.lower_bound })
}

/// Merges several objects.
fn merged<const N: usize>(parts: [Value; N]) -> Value {
    Value::Object(
        parts
            .into_iter()
            .filter_map(|part| {
                if let Value::Object(part) = part {
                    Some(part)
                } else {
                    None
                }
            })
            .flatten()
            .collect(),
    )
}

/// `2026-11-21`.
fn day(date: Date) -> String {
    date.to_string()
}

#[expect(clippy::cast_precision_loss, reason = "counts are below 2^53")]
fn ratio(part: u64, of: u64) -> Option<f64> {
    (of > 0).then(|| part as f64 / of as f64)
}
