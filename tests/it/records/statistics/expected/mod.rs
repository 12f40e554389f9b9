//! The same statistics counted from the records themselves, each figure by a pass over all records.

mod calls;
mod dated_record;

use std::collections::BTreeSet;

use conclave::domain::money::{Cost, MicroUsd, Saving};
use conclave::domain::statistics::{
    CachingNumbers, CostNumbers, CostProgress, DateRange, DayNumbers, DebateNumbers,
    EarlyTerminationNumbers, PerformanceNumbers, PricedConsultation, Progress, QualityNumbers,
    Range, Span, SpeedProgress, StateNumbers, Statistics, Targets, TimedConsultation, UsageNumbers,
    UsageProgress,
};
use conclave::domain::time::Timestamp;
use jiff::ToSpan;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde_json::Value;

use calls::{by_provider, models};
use dated_record::DatedRecord;

/// Asserts that every figure equals the count here.
pub(super) fn check(
    found: &Statistics,
    records: &[Value],
    span: Span,
    zone: &TimeZone,
    now: Timestamp,
    targets: Targets,
) {
    let mut expected = expected(found, records, span, zone, now, targets);
    let close = |found: &mut Option<f64>, expected: Option<f64>| {
        assert_eq!(found.is_some(), expected.is_some());
        assert!(
            (found.unwrap_or_default() - expected.unwrap_or_default()).abs() < 1e-6,
            "{found:?} is not {expected:?}"
        );
        *found = expected;
    };
    close(
        &mut expected.quality.avg_confidence,
        found.quality.avg_confidence,
    );
    close(
        &mut expected.quality.avg_agreement,
        found.quality.avg_agreement,
    );
    close(
        &mut expected.debate_value.avg_confidence_increase,
        found.debate_value.avg_confidence_increase,
    );
    assert_eq!(*found, expected);
    // The equality of maps leaves the order out.
    let (found, expected) = (&found.cost.by_provider, &expected.cost.by_provider);
    assert!(found.keys().eq(expected.keys()));
}

fn total<'a>(all: impl IntoIterator<Item = &'a DatedRecord<'a>>) -> Cost {
    all.into_iter()
        .map(|one| one.cost().unwrap_or(Cost::at_least(MicroUsd(0))))
        .sum()
}

fn caching(all: &[&DatedRecord<'_>]) -> Option<CachingNumbers> {
    let caching = all.iter().map(|one| &one.record["cost"]["caching"]);
    let incomplete = caching.clone().any(|caching| caching["incomplete"] == true);
    let saved: Vec<i64> = caching
        .filter_map(|caching| caching["saved_micro_usd"].as_i64())
        .collect();
    let sum = Saving(saved.iter().sum());
    (!saved.is_empty()).then(|| CachingNumbers {
        saved: sum.usd(),
        saved_micro_usd: sum,
        incomplete,
    })
}

fn is_in(span: Span, date: Date, today: Date) -> bool {
    match span {
        Span::Week => (0..7).any(|back| today == date.checked_add(back.days()).unwrap()),
        Span::Month(day) => (day.year(), day.month()) == (date.year(), date.month()),
        Span::Days { since, until } => {
            since.is_none_or(|since| since <= date) && until.is_none_or(|until| date <= until)
        }
        Span::AllTime => true,
    }
}

/// Returns the smallest value that is at least as large as `percent` percent of all.
fn percentile(values: &[u64], percent: usize) -> Option<u64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    sorted.iter().copied().find(|value| {
        100 * values.iter().filter(|other| *other <= value).count() >= percent * values.len()
    })
}

#[expect(clippy::cast_precision_loss, reason = "there are few")]
fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

#[expect(clippy::cast_precision_loss, reason = "there are few")]
fn ratio(part: usize, of: usize) -> Option<f64> {
    (of > 0).then(|| part as f64 / of as f64)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "sums are small"
)]
fn rounded(sum: u64, of: usize) -> Option<u64> {
    (of > 0).then(|| (sum as f64 / of as f64).round() as u64)
}

/// Returns the earliest record with the smallest key. Of two that started in the same millisecond
/// either is right, so the one in `found` is preferred.
fn first<'a, K: Ord>(
    all: &[&'a DatedRecord<'a>],
    key: impl Fn(&DatedRecord<'_>) -> Option<K>,
    found: Option<&String>,
) -> Option<&'a DatedRecord<'a>> {
    let least = all
        .iter()
        .filter_map(|one| Some((key(one)?, one.at)))
        .min()?;
    let mut alike = all
        .iter()
        .filter(|one| key(one).is_some_and(|key| (key, one.at) == least));
    let any = alike.clone().next();
    alike.find(|one| Some(&one.id()) == found).or(any).copied()
}

fn expected(
    found: &Statistics,
    records: &[Value],
    span: Span,
    zone: &TimeZone,
    now: Timestamp,
    targets: Targets,
) -> Statistics {
    let date_of = |at: i64| {
        jiff::Timestamp::from_millisecond(at)
            .unwrap()
            .to_zoned(zone.clone())
            .date()
    };
    let every_record: Vec<DatedRecord<'_>> = records
        .iter()
        .map(|record| {
            let at = record["timestamp"]
                .as_str()
                .unwrap()
                .parse::<jiff::Timestamp>()
                .unwrap()
                .as_millisecond();
            DatedRecord {
                record,
                at,
                date: date_of(at),
            }
        })
        .collect();
    let today = date_of(now.0);
    let (declined, all): (Vec<_>, Vec<_>) = every_record
        .into_iter()
        .partition(|one| one.record["status"] == "declined");
    let in_span: Vec<&DatedRecord<'_>> = all
        .iter()
        .filter(|one| is_in(span, one.date, today))
        .collect();
    let completed: Vec<&DatedRecord<'_>> = in_span
        .iter()
        .copied()
        .filter(|one| one.state() == "Complete")
        .collect();
    let state = |state: &str| in_span.iter().filter(|one| one.state() == state).count() as u64;

    let bounds = match span {
        Span::Week => (Some(today.checked_sub(6.days()).unwrap()), Some(today)),
        Span::Month(day) => (Some(day.first_of_month()), Some(day.last_of_month())),
        Span::Days { since, until } => (since, until),
        Span::AllTime => (None, None),
    };
    let active: BTreeSet<Date> = in_span.iter().map(|one| one.date).collect();
    let ends = active.first().copied().zip(active.last().copied());
    let every =
        |first: Date, last: Date| first.series(1.day()).take_while(move |date| *date <= last);
    let newest = bounds.1.map_or(today, |last| last.min(today));
    let total_days = match (bounds, ends) {
        ((Some(first), Some(_)), ends) => {
            every(first, ends.map_or(newest, |(_, last)| last.max(newest))).count()
        }
        (_, Some((first, last))) => every(first, last).count(),
        (_, None) => 0,
    };
    let listed = bounds.0.or(ends.map(|(first, _)| first));
    let days: Vec<Date> = listed
        .map(|first| every(first, newest).collect())
        .unwrap_or_default();
    let on = |date: Date| all.iter().filter(move |one| one.date == date);
    let runs_in_thirty_days = (0..30)
        .map(|back| on(newest.checked_sub(back.days()).unwrap()).count() as u64)
        .sum();

    let durations: Vec<u64> = completed
        .iter()
        .filter_map(|one| one.record["duration_ms"].as_u64())
        .collect();
    let duration = |one: &DatedRecord<'_>| one.record["duration_ms"].as_u64();
    let id = |one: &Option<TimedConsultation>| one.as_ref().map(|one| one.id.clone());
    let id_of_cost = |one: &Option<PricedConsultation>| one.as_ref().map(|one| one.id.clone());
    let fastest = first(
        &completed,
        duration,
        id(&found.performance.fastest_consultation).as_ref(),
    );
    let slowest = first(
        &completed,
        |one| duration(one).map(std::cmp::Reverse),
        id(&found.performance.slowest_consultation).as_ref(),
    );
    let most_expensive = first(
        &in_span,
        |one| one.cost().map(|cost| std::cmp::Reverse(cost.known)),
        id_of_cost(&found.cost.most_expensive).as_ref(),
    );
    let cheapest = first(
        &completed,
        |one| {
            one.cost()
                .filter(|cost| !cost.lower_bound)
                .map(|cost| cost.known)
        },
        id_of_cost(&found.cost.cheapest).as_ref(),
    );
    let spent = total(in_span.iter().copied());
    let average = rounded(spent.known.0, completed.len()).map(MicroUsd);

    let confidences: Vec<f64> = completed
        .iter()
        .filter_map(|one| one.number("confidence"))
        .collect();
    let agreements: Vec<f64> = completed
        .iter()
        .filter_map(|one| one.number("agreement"))
        .collect();
    let debates: Vec<Vec<bool>> = completed
        .iter()
        .map(|one| one.changes())
        .filter(|changes| !changes.is_empty())
        .collect();
    let rises: Vec<f64> = completed.iter().flat_map(|one| one.rises()).collect();
    let compared: Vec<(&DatedRecord<'_>, bool)> = completed
        .iter()
        .filter_map(|one| Some((*one, one.verdict_changed()?)))
        .collect();
    let early: Vec<&&DatedRecord<'_>> = completed
        .iter()
        .filter(|one| one.record["early_termination"] == true)
        .collect();

    let changes: Vec<bool> = debates.iter().flatten().copied().collect();
    let moved = changes.iter().filter(|changed| **changed).count();
    let median_ms = percentile(&durations, 50);
    let month = total(
        all.iter()
            .filter(|one| is_in(Span::Month(newest), one.date, today)),
    );
    let timed = |one: &DatedRecord<'_>| TimedConsultation {
        id: one.id(),
        duration_ms: duration(one).unwrap(),
    };
    let priced = |one: &DatedRecord<'_>| PricedConsultation {
        id: one.id(),
        cost: one.cost().unwrap(),
    };
    let attempts: Vec<&Value> = in_span.iter().flat_map(|one| one.attempts()).collect();
    Statistics {
        schema_version: "1.0",
        range: Range {
            span,
            from: found.range.from,
            until: found.range.until,
            time_zone: zone.iana_name().unwrap().to_owned(),
        },
        usage: UsageNumbers {
            total: in_span.len() as u64,
            date_range: DateRange {
                start: ends.map(|(first, _)| first),
                end: ends.map(|(_, last)| last),
                total_days: total_days as u64,
            },
            active_days: active.len() as u64,
            avg_per_day: ratio(in_span.len(), active.len()),
            by_state: StateNumbers {
                completed: completed.len() as u64,
                aborted: state("Aborted"),
                declined: declined
                    .iter()
                    .filter(|one| is_in(span, one.date, today))
                    .count() as u64,
                unfinished: in_span
                    .iter()
                    .filter(|one| !["Complete", "Aborted"].contains(&one.state()))
                    .count() as u64,
            },
        },
        performance: PerformanceNumbers {
            measured: durations.len() as u64,
            p50: median_ms,
            p95: percentile(&durations, 95),
            p99: percentile(&durations, 99),
            avg_duration: rounded(durations.iter().sum(), durations.len()),
            fastest_consultation: fastest.map(timed),
            slowest_consultation: slowest.map(timed),
        },
        cost: CostNumbers {
            total: spent,
            avg_per_consultation: average.map(MicroUsd::usd),
            avg_per_consultation_micro_usd: average,
            total_tokens: in_span
                .iter()
                .filter_map(|one| one.record["cost"]["tokens"]["total"].as_u64())
                .sum(),
            by_provider: by_provider(&attempts),
            caching: caching(&in_span),
            most_expensive: most_expensive.map(priced),
            cheapest: cheapest.map(priced),
        },
        quality: QualityNumbers {
            with_confidence: confidences.len() as u64,
            avg_confidence: mean(&confidences),
            high_confidence: confidences
                .iter()
                .filter(|confidence| **confidence >= 0.85)
                .count() as u64,
            low_confidence: confidences
                .iter()
                .filter(|confidence| **confidence < 0.7)
                .count() as u64,
            with_dissent: completed
                .iter()
                .filter(|one| {
                    one.record["dissent"]
                        .as_array()
                        .is_some_and(|dissent| !dissent.is_empty())
                })
                .count() as u64,
            with_agreement: agreements.len() as u64,
            avg_agreement: mean(&agreements),
            degraded: completed
                .iter()
                .filter(|one| one.record["status"] == "degraded")
                .count() as u64,
        },
        debate_value: DebateNumbers {
            debates: debates.len() as u64,
            agents_changed_position: moved as u64,
            total_agents: changes.len() as u64,
            change_rate: ratio(moved, changes.len()),
            avg_confidence_increase: mean(&rises),
            high_value_debates: debates
                .iter()
                .filter(|changes| {
                    changes.iter().filter(|c| **c).count() > changes.iter().filter(|c| !**c).count()
                })
                .count() as u64,
            verdicts_compared: compared.len() as u64,
            verdicts_changed: compared.iter().filter(|(_, changed)| *changed).count() as u64,
            later_rounds_cost: compared.iter().map(|(one, _)| one.later_rounds()).sum(),
        },
        early_termination: EarlyTerminationNumbers {
            count: early.len() as u64,
            saved: early.iter().map(|one| saved(one)).sum(),
        },
        models: models(&attempts),
        per_day: days[days.len().saturating_sub(60)..]
            .iter()
            .map(|date| DayNumbers {
                date: *date,
                runs: on(*date).count() as u64,
                cost: total(on(*date)),
            })
            .collect(),
        success_criteria: Progress {
            usage: UsageProgress {
                runs_in_thirty_days,
                target: targets.runs,
                met: targets.runs <= runs_in_thirty_days,
            },
            speed: SpeedProgress {
                median_ms,
                target_ms: targets.median_ms,
                met: median_ms.map(|median| median < targets.median_ms),
            },
            cost: CostProgress {
                month,
                target: targets.month.usd(),
                target_micro_usd: targets.month,
                met: match (month.known >= targets.month, month.lower_bound) {
                    (true, _) => Some(false),
                    (false, true) => None,
                    (false, false) => Some(true),
                },
            },
        },
    }
}

/// Returns the saving of an early termination: a lower bound if it is unknown, or beside a cost
/// that is one.
fn saved(one: &DatedRecord<'_>) -> Cost {
    let stated = one.number("estimated_cost_saved");
    let saved = stated.and_then(MicroUsd::from_usd);
    Cost {
        known: saved.unwrap_or_default(),
        lower_bound: saved.is_none() || one.cost().is_some_and(|cost| cost.lower_bound),
    }
}
