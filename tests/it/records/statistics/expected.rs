//! The same numbers counted from the records themselves: by going through all of them for each
//! number, with sorted lists and floats.

use std::collections::BTreeSet;

use conclave::domain::ids::{ModelRef, ProviderId};
use conclave::domain::money::{Cost, MicroUsd};
use conclave::domain::statistics::{
    CostNumbers, DayNumbers, DebateNumbers, EarlyEndNumbers, ModelNumbers, PerformanceNumbers,
    Progress, ProviderNumbers, QualityNumbers, Range, Span, Statistics, Targets, UsageNumbers,
};
use conclave::domain::time::Timestamp;
use jiff::ToSpan;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde_json::Value;

/// Fails when any number is not as it is counted here.
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
        &mut expected.quality.average_confidence,
        found.quality.average_confidence,
    );
    close(
        &mut expected.quality.average_agreement,
        found.quality.average_agreement,
    );
    close(
        &mut expected.debate.average_confidence_increase,
        found.debate.average_confidence_increase,
    );
    assert_eq!(*found, expected);
}

/// One record with the day it began on.
struct Of<'a> {
    record: &'a Value,
    at: i64,
    date: Date,
}

impl Of<'_> {
    fn state(&self) -> &str {
        self.record["state"].as_str().unwrap()
    }

    fn id(&self) -> String {
        self.record["consultation_id"].as_str().unwrap().to_owned()
    }

    fn number(&self, key: &str) -> Option<f64> {
        self.record[key].as_f64()
    }

    fn cost(&self) -> Option<Cost> {
        cost(&self.record["cost"])
    }

    fn attempts(&self) -> Vec<&Value> {
        let rounds = self.record["responses"].as_object().unwrap().values();
        let agents = rounds.flat_map(|round| round["agents"].as_array().unwrap());
        agents
            .flat_map(|agent| agent["attempts"].as_array().unwrap())
            .collect()
    }

    /// Whether each of the experts moved that were compared; in a record that knows of no
    /// comparison, whether each that is heard at the end changed its mind, and where they do not
    /// tell, as a later analysis says.
    fn minds(&self) -> Vec<bool> {
        let told: Vec<bool> = self
            .perspectives()
            .filter_map(|held| held["changed"].as_bool())
            .collect();
        match &self.record["debate_value_analysis"] {
            analysis if analysis["status"] == "compared" => {
                let changed = analysis["agents_changed_position"].as_u64().unwrap();
                (0..analysis["agents_compared"].as_u64().unwrap())
                    .map(|expert| expert < changed)
                    .collect()
            }
            analysis if analysis["status"].is_string() => Vec::new(),
            Value::Object(analysis) if told.is_empty() => {
                let changed = analysis["agents_changed_position"].as_u64().unwrap();
                (0..analysis["total_agents"].as_u64().unwrap())
                    .map(|expert| expert < changed)
                    .collect()
            }
            _ => told,
        }
    }

    fn rises(&self) -> Vec<f64> {
        let heard: Vec<&Value> = self
            .perspectives()
            .filter(|held| !held["changed"].is_null())
            .collect();
        match self.record["debate_value_analysis"]["avg_confidence_increase"].as_f64() {
            Some(rise)
                if heard.is_empty()
                    && !self.record["debate_value_analysis"]["status"].is_string() =>
            {
                vec![rise; self.minds().len()]
            }
            _ => heard
                .iter()
                .filter_map(|held| {
                    Some(held["revised_confidence"].as_f64()? - held["confidence"].as_f64()?)
                })
                .collect(),
        }
    }

    fn perspectives(&self) -> impl Iterator<Item = &Value> {
        self.record["perspectives"].as_array().into_iter().flatten()
    }

    fn verdict_changed(&self) -> Option<bool> {
        let told = &self.record["verdict_changed_after_round_2"];
        told.as_bool().or_else(|| {
            self.record["debate_value_analysis"]["verdict_changed_after_round_2"].as_bool()
        })
    }

    fn later_rounds(&self) -> Cost {
        if let Some(told) = cost(&self.record["debate_value_analysis"]["rounds_3_4_cost"]) {
            return told;
        }
        let told = &self.record["cost"]["by_round"];
        ["round_3", "round_4"]
            .into_iter()
            .filter(|round| {
                told.get(round).is_some() || self.record["responses"].get(round).is_some()
            })
            .map(|round| cost(&told[round]).unwrap_or(Cost::at_least(MicroUsd(0))))
            .sum()
    }
}

fn cost(told: &Value) -> Option<Cost> {
    Some(Cost {
        known: MicroUsd(told["micro_usd"].as_u64()?),
        lower_bound: told["lower_bound"].as_bool().unwrap(),
    })
}

fn total<'a>(all: impl IntoIterator<Item = &'a Of<'a>>) -> Cost {
    all.into_iter()
        .map(|one| one.cost().unwrap_or(Cost::at_least(MicroUsd(0))))
        .sum()
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

/// The smallest value that at least so many percent are not above.
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

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "sums are small"
)]
fn rounded(sum: u64, of: usize) -> Option<u64> {
    (of > 0).then(|| (sum as f64 / of as f64).round() as u64)
}

/// The first of those with the least key. Of two that began in the same millisecond either will do:
/// the one that was found, then.
fn first<'a, K: Ord>(
    all: &[&'a Of<'a>],
    key: impl Fn(&Of<'_>) -> Option<K>,
    found: Option<&String>,
) -> Option<&'a Of<'a>> {
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
    let all: Vec<Of<'_>> = records
        .iter()
        .map(|record| {
            let at = record["timestamp"]
                .as_str()
                .unwrap()
                .parse::<jiff::Timestamp>()
                .unwrap()
                .as_millisecond();
            Of {
                record,
                at,
                date: date_of(at),
            }
        })
        .collect();
    let today = date_of(now.0);
    let meant: Vec<&Of<'_>> = all
        .iter()
        .filter(|one| is_in(span, one.date, today))
        .collect();
    let completed: Vec<&Of<'_>> = meant
        .iter()
        .copied()
        .filter(|one| one.state() == "Complete")
        .collect();
    let state = |state: &str| meant.iter().filter(|one| one.state() == state).count() as u64;

    let bounds = match span {
        Span::Week => (Some(today.checked_sub(6.days()).unwrap()), Some(today)),
        Span::Month(day) => (Some(day.first_of_month()), Some(day.last_of_month())),
        Span::Days { since, until } => (since, until),
        Span::AllTime => (None, None),
    };
    let active: BTreeSet<Date> = meant.iter().map(|one| one.date).collect();
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
    let duration = |one: &Of<'_>| one.record["duration_ms"].as_u64();
    let id = |one: &Option<(String, u64)>| one.as_ref().map(|(id, _)| id.clone());
    let id_of_cost = |one: &Option<(String, Cost)>| one.as_ref().map(|(id, _)| id.clone());
    let fastest = first(
        &completed,
        duration,
        id(&found.performance.fastest).as_ref(),
    );
    let slowest = first(
        &completed,
        |one| duration(one).map(std::cmp::Reverse),
        id(&found.performance.slowest).as_ref(),
    );
    let dearest = first(
        &meant,
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
    let spent = total(meant.iter().copied());

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
        .map(|one| one.minds())
        .filter(|minds| !minds.is_empty())
        .collect();
    let rises: Vec<f64> = completed.iter().flat_map(|one| one.rises()).collect();
    let compared: Vec<(&Of<'_>, bool)> = completed
        .iter()
        .filter_map(|one| Some((*one, one.verdict_changed()?)))
        .collect();
    let early: Vec<&&Of<'_>> = completed
        .iter()
        .filter(|one| one.record["early_termination"] == true)
        .collect();

    let attempts: Vec<&Value> = meant.iter().flat_map(|one| one.attempts()).collect();
    Statistics {
        range: Range {
            span,
            from: found.range.from,
            until: found.range.until,
            time_zone: zone.iana_name().unwrap().to_owned(),
        },
        usage: UsageNumbers {
            total: meant.len() as u64,
            completed: completed.len() as u64,
            aborted: state("Aborted"),
            unfinished: meant
                .iter()
                .filter(|one| !["Complete", "Aborted"].contains(&one.state()))
                .count() as u64,
            first_and_last: ends,
            total_days: total_days as u64,
            active_days: active.len() as u64,
        },
        performance: PerformanceNumbers {
            measured: durations.len() as u64,
            p50: percentile(&durations, 50),
            p95: percentile(&durations, 95),
            p99: percentile(&durations, 99),
            average: rounded(durations.iter().sum(), durations.len()),
            fastest: fastest.map(|one| (one.id(), duration(one).unwrap())),
            slowest: slowest.map(|one| (one.id(), duration(one).unwrap())),
        },
        cost: CostNumbers {
            total: spent,
            tokens: meant
                .iter()
                .filter_map(|one| one.record["cost"]["tokens"]["total"].as_u64())
                .sum(),
            average: rounded(spent.known.0, completed.len()).map(|known| Cost {
                known: MicroUsd(known),
                ..spent
            }),
            by_provider: by_provider(&attempts),
            most_expensive: dearest.map(|one| (one.id(), one.cost().unwrap())),
            cheapest: cheapest.map(|one| (one.id(), one.cost().unwrap())),
        },
        quality: QualityNumbers {
            with_confidence: confidences.len() as u64,
            average_confidence: mean(&confidences),
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
            average_agreement: mean(&agreements),
            degraded: completed
                .iter()
                .filter(|one| one.record["status"] == "degraded")
                .count() as u64,
        },
        debate: DebateNumbers {
            debates: debates.len() as u64,
            agents: debates.iter().flatten().count() as u64,
            changed: debates.iter().flatten().filter(|changed| **changed).count() as u64,
            average_confidence_increase: mean(&rises),
            high_value: debates
                .iter()
                .filter(|minds| {
                    minds.iter().filter(|c| **c).count() > minds.iter().filter(|c| !**c).count()
                })
                .count() as u64,
            compared: compared.len() as u64,
            verdict_changed: compared.iter().filter(|(_, changed)| *changed).count() as u64,
            later_rounds_cost: compared.iter().map(|(one, _)| one.later_rounds()).sum(),
        },
        early_ends: EarlyEndNumbers {
            count: early.len() as u64,
            saved: early
                .iter()
                .filter_map(|one| MicroUsd::from_usd(one.number("estimated_cost_saved")?))
                .sum(),
        },
        models: models(&attempts),
        days: days[days.len().saturating_sub(60)..]
            .iter()
            .map(|date| DayNumbers {
                date: *date,
                runs: on(*date).count() as u64,
                cost: total(on(*date)),
            })
            .collect(),
        progress: Progress {
            targets,
            runs_in_thirty_days,
            median_ms: percentile(&durations, 50),
            month: total(
                all.iter()
                    .filter(|one| is_in(Span::Month(newest), one.date, today)),
            ),
        },
    }
}

fn model_of(attempt: &Value) -> ModelRef {
    attempt["model"].as_str().unwrap().parse().unwrap()
}

fn failed(attempt: &Value) -> bool {
    !attempt["error"].is_null() || attempt["stop"].is_null()
}

/// Cost and tokens of some calls; one that does not tell its cost makes it a lower bound.
fn spent(attempts: &[&Value]) -> (Cost, u64) {
    let costs = attempts
        .iter()
        .map(|attempt| cost(&attempt["cost"]).unwrap_or(Cost::at_least(MicroUsd(0))));
    (
        costs.sum(),
        attempts
            .iter()
            .map(|attempt| attempt["tokens"]["total"].as_u64().unwrap())
            .sum(),
    )
}

fn by_provider(attempts: &[&Value]) -> Vec<(ProviderId, ProviderNumbers)> {
    let names: BTreeSet<ProviderId> = attempts
        .iter()
        .map(|attempt| model_of(attempt).provider)
        .collect();
    let numbers = |name: ProviderId| {
        let calls: Vec<&Value> = attempts
            .iter()
            .copied()
            .filter(|attempt| model_of(attempt).provider == name)
            .collect();
        let (cost, tokens) = spent(&calls);
        (
            name,
            ProviderNumbers {
                cost,
                tokens,
                calls: calls.len() as u64,
            },
        )
    };
    let mut all: Vec<_> = names.into_iter().map(numbers).collect();
    all.sort_by(|(one, numbers), (other, others)| {
        (others.cost.known, one).cmp(&(numbers.cost.known, other))
    });
    all
}

fn models(attempts: &[&Value]) -> Vec<ModelNumbers> {
    let names: BTreeSet<ModelRef> = attempts.iter().map(|attempt| model_of(attempt)).collect();
    let numbers = |model: ModelRef| {
        let calls: Vec<&Value> = attempts
            .iter()
            .copied()
            .filter(|attempt| model_of(attempt) == model)
            .collect();
        let (cost, tokens) = spent(&calls);
        let beginnings: Vec<u64> = calls
            .iter()
            .filter_map(|attempt| attempt["latency_ms"].as_u64())
            .collect();
        let count =
            |is: &dyn Fn(&Value) -> bool| calls.iter().filter(|attempt| is(attempt)).count() as u64;
        ModelNumbers {
            calls: calls.len() as u64,
            failures: count(&|attempt| failed(attempt)),
            hedges_won: count(&|attempt| !failed(attempt) && attempt["purpose"] == "hedge"),
            cost,
            tokens,
            first_token_p50: percentile(&beginnings, 50),
            first_token_p95: percentile(&beginnings, 95),
            model,
        }
    };
    let mut all: Vec<_> = names.into_iter().map(numbers).collect();
    all.sort_by(|one, other| (other.cost.known, &one.model).cmp(&(one.cost.known, &other.model)));
    all
}
