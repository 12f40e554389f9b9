//! The statistics that the dashboard tests draw.

use conclave::domain::cost::money::{Cost, MicroUsd, Saving};
use conclave::domain::ids::ProviderId;
use conclave::domain::record::statistics::{
    AgreementNumbers, CachingNumbers, CostNumbers, DateRange, DayNumbers, DebateNumbers,
    EarlyTerminationNumbers, ModelNumbers, PerformanceNumbers, Progress, ProviderNumbers,
    QualityNumbers, Range, Span, StateNumbers, Statistics, Targets, TimedConsultation,
    UsageNumbers,
};
use indexmap::IndexMap;
use jiff::ToSpan;
use jiff::civil::{Date, date};

pub(super) const TARGETS: Targets = Targets {
    runs: 150,
    median_ms: 15_000,
    month: MicroUsd(20_000_000),
};

pub(super) fn usd(usd: f64) -> Cost {
    Cost::exactly(MicroUsd::from_usd(usd).unwrap())
}

pub(super) fn range(span: Span) -> Range {
    Range {
        span,
        from: None,
        until: None,
        time_zone: "Europe/Berlin".to_owned(),
    }
}

/// Returns days up to 21 November with these numbers of runs, at 12 cents each.
pub(super) fn days(runs: &[u64]) -> Vec<DayNumbers> {
    let day = |(back, runs): (usize, &u64)| DayNumbers {
        date: date(2026, 11, 21)
            .checked_sub(i32::try_from(back).unwrap().days())
            .unwrap(),
        runs: *runs,
        cost: Cost::exactly(MicroUsd(runs * 120_000)),
    };
    let mut days: Vec<DayNumbers> = runs.iter().rev().enumerate().map(day).collect();
    days.reverse();
    days
}

fn dates(start: Date, end: Date, total_days: u64) -> DateRange {
    DateRange {
        start: Some(start),
        end: Some(end),
        total_days,
    }
}

fn timed(id: &str, duration_ms: u64) -> TimedConsultation {
    let id = id.to_owned();
    TimedConsultation { id, duration_ms }
}

fn average(usd: f64) -> CostNumbers {
    CostNumbers {
        avg_per_consultation: Some(usd),
        avg_per_consultation_micro_usd: MicroUsd::from_usd(usd),
        ..CostNumbers::default()
    }
}

fn saving(saved: Saving, incomplete: bool) -> CachingNumbers {
    CachingNumbers {
        saved: saved.usd(),
        saved_micro_usd: saved,
        incomplete,
    }
}

fn model(model: &str, calls: u64, cost: f64) -> ModelNumbers {
    ModelNumbers {
        demonstration: model.starts_with("local:"),
        model: model.parse().unwrap(),
        calls,
        failures: 2,
        hedges_won: 3,
        cost: usd(cost),
        tokens: 600_000,
        first_token_p50_ms: Some(1_234),
        first_token_p95_ms: Some(4_210),
    }
}

fn provider(id: &str, cost: Cost, tokens: u64) -> (ProviderId, ProviderNumbers) {
    let calls = 420;
    let numbers = ProviderNumbers {
        cost,
        tokens,
        calls,
        failures: 12,
        hedges_won: 3,
    };
    (ProviderId::new(id), numbers)
}

fn agreement(percent: u8, consultations: u64) -> AgreementNumbers {
    AgreementNumbers {
        percent,
        consultations,
    }
}

/// Statistics of an empty index.
pub(super) fn empty() -> Statistics {
    Statistics {
        schema_version: "1.0",
        range: range(Span::AllTime),
        usage: UsageNumbers::default(),
        performance: PerformanceNumbers::default(),
        cost: CostNumbers::default(),
        quality: QualityNumbers::default(),
        debate_value: DebateNumbers::default(),
        early_termination: EarlyTerminationNumbers::default(),
        models: Vec::new(),
        per_day: Vec::new(),
        success_criteria: Progress::new(TARGETS, 0, None, Cost::FREE),
    }
}

/// Statistics that fill every section.
pub(super) fn full() -> Statistics {
    Statistics {
        usage: UsageNumbers {
            total: 147,
            date_range: dates(date(2026, 10, 23), date(2026, 11, 21), 30),
            active_days: 22,
            avg_per_day: Some(147.0 / 22.0),
            by_state: StateNumbers {
                completed: 142,
                aborted: 5,
                ..StateNumbers::default()
            },
        },
        performance: PerformanceNumbers {
            measured: 142,
            p50: Some(12_300),
            p95: Some(18_700),
            p99: Some(24_200),
            avg_duration: Some(13_000),
            fastest_consultation: Some(timed("consult-a", 8_100)),
            slowest_consultation: Some(timed("consult-b", 31_500)),
        },
        cost: CostNumbers {
            total: usd(18.42),
            total_tokens: 1_847_230,
            by_provider: IndexMap::from([
                provider("anthropic", usd(7.21), 700_000),
                provider("openai", usd(6.85), 650_000),
                provider("google", usd(4.36), 497_230),
            ]),
            caching: Some(saving(Saving(2_350_000), true)),
            ..average(0.13)
        },
        quality: QualityNumbers {
            with_confidence: 142,
            avg_confidence: Some(0.84),
            high_confidence: 98,
            low_confidence: 12,
            with_dissent: 34,
            with_agreement: 142,
            avg_agreement: Some(0.78),
            by_agreement: vec![agreement(100, 61), agreement(67, 70), agreement(33, 11)],
            degraded: 3,
        },
        debate_value: DebateNumbers {
            debates: 142,
            agents_changed_mind: 256,
            total_agents: 426,
            change_rate: Some(256.0 / 426.0),
            avg_confidence_increase: Some(0.11),
            high_value_debates: 98,
            verdicts_compared: 120,
            verdicts_changed: 36,
            later_rounds_cost: usd(9.87),
        },
        early_termination: EarlyTerminationNumbers {
            count: 12,
            saved: Cost::exactly(MicroUsd(840_000)),
        },
        models: vec![
            model("anthropic:claude-sonnet-5-5", 430, 7.21),
            model("openai:gpt-6.1-sol", 428, 6.85),
            model("google:gemini-4-argon", 431, 4.36),
        ],
        per_day: days(&[
            3, 0, 5, 7, 2, 0, 0, 9, 12, 4, 6, 1, 0, 0, 8, 8, 9, 10, 3, 0, 0, 7, 5, 6, 11, 9, 0, 0,
            12, 10,
        ]),
        success_criteria: Progress::new(TARGETS, 147, Some(12_300), usd(18.42)),
        ..empty()
    }
}

/// Aborted consultations only, whose cost exceeds the target of the month.
pub(super) fn aborted_only() -> Statistics {
    Statistics {
        range: range(Span::Month(date(2026, 11, 1))),
        usage: UsageNumbers {
            total: 4,
            date_range: dates(date(2026, 11, 3), date(2026, 11, 20), 21),
            active_days: 3,
            avg_per_day: Some(4.0 / 3.0),
            by_state: StateNumbers {
                aborted: 3,
                unfinished: 1,
                ..StateNumbers::default()
            },
        },
        cost: CostNumbers {
            total: usd(25.1),
            caching: Some(saving(Saving(-12_500), false)),
            total_tokens: 90_120,
            by_provider: IndexMap::from([provider("openai", usd(20.0), 80_120)]),
            ..CostNumbers::default()
        },
        per_day: days(&[2, 0, 2]),
        success_criteria: Progress::new(TARGETS, 4, None, usd(25.1)),
        ..empty()
    }
}

/// Servers and models without a price, slow answers and no stated confidence.
pub(super) fn unpriced() -> Statistics {
    let unknown = |known: f64| Cost {
        lower_bound: true,
        ..usd(known)
    };
    let days = days(&[1, 1, 0]).into_iter().map(|day| DayNumbers {
        cost: Cost {
            lower_bound: day.runs > 0,
            ..Cost::FREE
        },
        ..day
    });
    Statistics {
        range: range(Span::Days {
            since: Some(date(2026, 11, 19)),
            until: None,
        }),
        usage: UsageNumbers {
            total: 2,
            date_range: dates(date(2026, 11, 19), date(2026, 11, 20), 3),
            active_days: 2,
            avg_per_day: Some(1.0),
            by_state: StateNumbers {
                completed: 2,
                ..StateNumbers::default()
            },
        },
        performance: PerformanceNumbers {
            measured: 1,
            p50: Some(727_300),
            ..PerformanceNumbers::default()
        },
        cost: CostNumbers {
            total: unknown(0.12),
            by_provider: IndexMap::from([
                provider("work", unknown(0.12), 0),
                provider("local", Cost::FREE, 0),
            ]),
            ..average(0.06)
        },
        models: vec![
            ModelNumbers {
                cost: unknown(0.12),
                first_token_p50_ms: None,
                first_token_p95_ms: None,
                ..model("work:some-model", 9, 0.0)
            },
            ModelNumbers {
                failures: 0,
                hedges_won: 0,
                ..model("local:qwen3-0.6b", 9, 0.0)
            },
        ],
        per_day: days.collect(),
        success_criteria: Progress::new(TARGETS, 2, Some(727_300), unknown(0.12)),
        ..empty()
    }
}

/// Names from records that could break the frame: control codes, wide characters, no place to wrap.
pub(super) fn hostile() -> Statistics {
    let models = [
        "work:\u{1b}[2J\u{202e}模型模型模型模型模型模型模型模型模型模型模型模型",
        "work:🦀-a\nb",
        &format!("work:{}", "x".repeat(120)),
    ];
    Statistics {
        cost: CostNumbers {
            by_provider: IndexMap::from([provider("模型\u{1b}[31m\nx", usd(18.42), 0)]),
            ..full().cost
        },
        models: models.into_iter().map(|name| model(name, 9, 1.0)).collect(),
        ..full()
    }
}

pub(super) fn all() -> Vec<Statistics> {
    let reached = Progress::new(TARGETS, 150, Some(12_300), usd(18.42));
    vec![
        empty(),
        full(),
        aborted_only(),
        unpriced(),
        hostile(),
        Statistics {
            success_criteria: reached,
            ..full()
        },
    ]
}
