//! The numbers of `consult-stats`, computed from the index.
//!
//! `calendar` maps spans of days to the user's calendar, `summary` holds sums, `days` computes them
//! from rows and stores them by day, `by_day` follows the days of the user's calendar, `json`
//! writes the numbers for programs. This module turns sums into numbers.

mod by_day;
pub mod calendar;
pub mod days;
pub mod json;
mod summary;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::time::Duration;

use jiff::tz::TimeZone;
use rusqlite::{Connection, OptionalExtension, Result};

use crate::domain::ids::{ModelRef, ProviderId};
use crate::domain::money::{Cost, MicroUsd};
use crate::domain::statistics::{
    CostNumbers, DebateNumbers, EarlyEndNumbers, ModelNumbers, PerformanceNumbers, Progress,
    ProviderNumbers, QualityNumbers, Range, Statistics, Targets, UsageNumbers,
};
use crate::domain::time::Timestamp;

use by_day::{ActiveDays, ByDay, DayWindow};
use summary::{ConsultationSums, Extreme, ModelSums, Summary, percentiles};

/// The time to wait for a process that is writing: stored sums are not needed for an answer.
const BUSY_TIMEOUT: Duration = Duration::from_millis(5);

/// Computes all numbers of a range of days, by the calendar of a time zone.
pub fn statistics(
    connection: &mut Connection,
    range: &Range,
    zone: &TimeZone,
    now: Timestamp,
    targets: Targets,
) -> Result<Statistics> {
    refresh_if_possible(connection)?;
    // One transaction, so that all numbers are of the same moment.
    let transaction = connection.transaction()?;
    let mut summary = days::summarize(&transaction, range.from, range.until)?;
    let window = DayWindow::new(range, zone, now);
    let active = ActiveDays::read(&transaction, range, zone)?;
    let by_day = ByDay::read(&transaction, &window, active.first)?;
    let performance = performance(&transaction, &mut summary)?;
    let sums = &summary.sums;
    Ok(Statistics {
        range: range.clone(),
        usage: UsageNumbers {
            total: count(sums.total),
            completed: count(sums.completed),
            aborted: count(sums.aborted),
            unfinished: count(sums.total - sums.completed - sums.aborted),
            first_and_last: active.first.zip(active.last),
            total_days: window.total_days(&active),
            active_days: active.days,
        },
        cost: cost(&transaction, &summary)?,
        quality: quality(sums),
        debate: debate(sums),
        early_ends: EarlyEndNumbers {
            count: count(sums.early_terminations),
            saved: MicroUsd(count(sums.saved_micro_usd)),
        },
        days: by_day.days,
        progress: Progress {
            targets,
            runs_in_thirty_days: by_day.runs_in_thirty_days,
            median_ms: performance.p50,
            month: by_day.month,
        },
        models: models(&mut summary),
        performance,
    })
}

/// Sums up stale days and stores the sums. Where that fails, they are summed up for this query
/// only.
fn refresh_if_possible(connection: &mut Connection) -> Result<()> {
    let timeout: u32 = connection.pragma_query_value(None, "busy_timeout", |row| row.get(0))?;
    let timeout = Duration::from_millis(timeout.into());
    connection.busy_timeout(BUSY_TIMEOUT.min(timeout))?;
    let _ = days::refresh(connection);
    connection.busy_timeout(timeout)
}

fn performance(connection: &Connection, summary: &mut Summary) -> Result<PerformanceNumbers> {
    let measured = count(i64::try_from(summary.durations.len()).unwrap_or(i64::MAX));
    let [p50, p95, p99] = percentiles(&mut summary.durations, [50, 95, 99]);
    let duration = |extreme: Option<Extreme>| {
        with_id(connection, extreme)
            .map(|found| found.map(|(id, extreme)| (id, count(extreme.value))))
    };
    Ok(PerformanceNumbers {
        measured,
        p50,
        p95,
        p99,
        average: average(count(summary.sums.duration_ms), measured),
        fastest: duration(summary.extremes.fastest)?,
        slowest: duration(summary.extremes.slowest)?,
    })
}

fn cost(connection: &Connection, summary: &Summary) -> Result<CostNumbers> {
    let total = known(summary.sums.micro_usd, summary.sums.lower_bound);
    let cost_of = |extreme: Option<Extreme>| {
        let cost = |extreme: Extreme| Cost {
            known: MicroUsd(count(extreme.value)),
            lower_bound: extreme.lower_bound,
        };
        with_id(connection, extreme).map(|found| found.map(|(id, extreme)| (id, cost(extreme))))
    };
    let average = average(total.known.0, count(summary.sums.completed)).map(|micro_usd| Cost {
        known: MicroUsd(micro_usd),
        ..total
    });
    Ok(CostNumbers {
        total,
        tokens: count(summary.sums.tokens),
        average,
        by_provider: by_provider(summary),
        most_expensive: cost_of(summary.extremes.dearest)?,
        cheapest: cost_of(summary.extremes.cheapest)?,
    })
}

fn by_provider(summary: &Summary) -> Vec<(ProviderId, ProviderNumbers)> {
    let numbers = |models: &BTreeMap<String, ModelSums>| {
        models
            .values()
            .fold(ProviderNumbers::default(), |numbers, sums| {
                ProviderNumbers {
                    cost: numbers.cost + known(sums.micro_usd, sums.lower_bound),
                    tokens: numbers.tokens.saturating_add(count(sums.tokens)),
                    calls: numbers.calls.saturating_add(count(sums.calls)),
                }
            })
    };
    let mut providers: Vec<_> = summary
        .models
        .iter()
        .map(|(id, models)| (ProviderId::new(id.as_str()), numbers(models)))
        .collect();
    // Sorted by name before; the stable sort keeps that order at equal cost.
    providers.sort_by_key(|(_, numbers)| Reverse(numbers.cost.known));
    providers
}

fn models(summary: &mut Summary) -> Vec<ModelNumbers> {
    let mut numbers: Vec<ModelNumbers> = Vec::new();
    for (provider, models) in &mut summary.models {
        for (model, sums) in models {
            let [first_token_p50, first_token_p95] = percentiles(&mut sums.first_tokens, [50, 95]);
            numbers.push(ModelNumbers {
                model: ModelRef::new(provider.as_str(), model.as_str()),
                calls: count(sums.calls),
                failures: count(sums.failures),
                hedges_won: count(sums.hedges_won),
                cost: known(sums.micro_usd, sums.lower_bound),
                tokens: count(sums.tokens),
                first_token_p50,
                first_token_p95,
            });
        }
    }
    numbers.sort_by_key(|numbers| Reverse(numbers.cost.known));
    numbers
}

fn quality(sums: &ConsultationSums) -> QualityNumbers {
    QualityNumbers {
        with_confidence: count(sums.with_confidence),
        average_confidence: mean(sums.confidence, sums.with_confidence),
        high_confidence: count(sums.high_confidence),
        low_confidence: count(sums.low_confidence),
        with_dissent: count(sums.with_dissent),
        with_agreement: count(sums.with_agreement),
        average_agreement: mean(sums.agreement, sums.with_agreement),
        degraded: count(sums.degraded),
    }
}

fn debate(sums: &ConsultationSums) -> DebateNumbers {
    DebateNumbers {
        debates: count(sums.debates),
        agents: count(sums.experts_heard),
        changed: count(sums.experts_changed),
        average_confidence_increase: mean(sums.confidence_rise, sums.confidence_rise_of),
        high_value: count(sums.high_value),
        compared: count(sums.compared),
        verdict_changed: count(sums.verdict_changed),
        later_rounds_cost: known(sums.later_rounds_micro_usd, sums.later_rounds_lower_bound),
    }
}

/// Adds the id of a consultation.
fn with_id(connection: &Connection, extreme: Option<Extreme>) -> Result<Option<(String, Extreme)>> {
    let Some(extreme) = extreme else {
        return Ok(None);
    };
    let mut statement =
        connection.prepare_cached("SELECT id FROM consultations WHERE number = ?1")?;
    statement
        .query_row([extreme.number], |row| Ok((row.get(0)?, extreme)))
        .optional()
}

/// Counts and amounts are never negative.
fn count(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}

fn known(micro_usd: i64, lower_bounds: i64) -> Cost {
    Cost {
        known: MicroUsd(count(micro_usd)),
        lower_bound: lower_bounds > 0,
    }
}

/// Rounded half up.
fn average(sum: u64, of: u64) -> Option<u64> {
    sum.saturating_add(of / 2).checked_div(of)
}

/// Returns the mean of a sum in millionths, unrounded.
#[expect(
    clippy::cast_precision_loss,
    reason = "exact below 2^53 millionths, nine billion confidences"
)]
fn mean(millionths: i64, of: i64) -> Option<f64> {
    (of > 0).then(|| millionths as f64 / of as f64 / 1e6)
}
