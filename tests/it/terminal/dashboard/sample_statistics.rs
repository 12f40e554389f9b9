//! The statistics that the dashboard tests draw.

use conclave::domain::ids::ProviderId;
use conclave::domain::money::{Cost, MicroUsd, Saving};
use conclave::domain::statistics::{
    CachingNumbers, CostNumbers, DayNumbers, DebateNumbers, EarlyEndNumbers, ModelNumbers,
    PerformanceNumbers, Progress, ProviderNumbers, QualityNumbers, Range, Span, Statistics,
    Targets, UsageNumbers,
};
use jiff::ToSpan;
use jiff::civil::date;

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

fn model(model: &str, calls: u64, cost: f64) -> ModelNumbers {
    ModelNumbers {
        model: model.parse().unwrap(),
        calls,
        failures: 2,
        hedges_won: 3,
        cost: usd(cost),
        tokens: 600_000,
        first_token_p50: Some(1_234),
        first_token_p95: Some(4_210),
    }
}

/// Statistics of an empty index.
pub(super) fn empty() -> Statistics {
    Statistics {
        range: range(Span::AllTime),
        usage: UsageNumbers::default(),
        performance: PerformanceNumbers::default(),
        cost: CostNumbers::default(),
        quality: QualityNumbers::default(),
        debate: DebateNumbers::default(),
        early_ends: EarlyEndNumbers::default(),
        models: Vec::new(),
        days: Vec::new(),
        progress: Progress {
            targets: TARGETS,
            runs_in_thirty_days: 0,
            median_ms: None,
            month: Cost::FREE,
        },
    }
}

/// Statistics that fill every section.
pub(super) fn full() -> Statistics {
    let provider = |id: &str, cost: f64, tokens: u64| {
        (
            ProviderId::new(id),
            ProviderNumbers {
                cost: usd(cost),
                tokens,
                calls: 420,
            },
        )
    };
    let one = |id: &str, ms: u64| Some((id.to_owned(), ms));
    Statistics {
        usage: UsageNumbers {
            total: 147,
            completed: 142,
            aborted: 5,
            declined: 0,
            unfinished: 0,
            first_and_last: Some((date(2026, 10, 23), date(2026, 11, 21))),
            total_days: 30,
            active_days: 22,
        },
        performance: PerformanceNumbers {
            measured: 142,
            p50: Some(12_300),
            p95: Some(18_700),
            p99: Some(24_200),
            average: Some(13_000),
            fastest: one("consult-a", 8_100),
            slowest: one("consult-b", 31_500),
        },
        cost: CostNumbers {
            total: usd(18.42),
            tokens: 1_847_230,
            average: Some(usd(0.13)),
            by_provider: vec![
                provider("anthropic", 7.21, 700_000),
                provider("openai", 6.85, 650_000),
                provider("google", 4.36, 497_230),
            ],
            most_expensive: Some(("consult-b".to_owned(), usd(0.41))),
            cheapest: Some(("consult-a".to_owned(), usd(0.02))),
            caching: Some(CachingNumbers {
                saved: Saving(2_350_000),
                incomplete: true,
            }),
        },
        quality: QualityNumbers {
            with_confidence: 142,
            average_confidence: Some(0.84),
            high_confidence: 98,
            low_confidence: 12,
            with_dissent: 34,
            with_agreement: 142,
            average_agreement: Some(0.78),
            degraded: 3,
        },
        debate: DebateNumbers {
            debates: 142,
            agents: 426,
            changed: 256,
            average_confidence_increase: Some(0.11),
            high_value: 98,
            compared: 120,
            verdict_changed: 36,
            later_rounds_cost: usd(9.87),
        },
        early_ends: EarlyEndNumbers {
            count: 12,
            saved: Cost::exactly(MicroUsd(840_000)),
        },
        models: vec![
            model("anthropic:claude-sonnet-5-5", 430, 7.21),
            model("openai:gpt-6.1-sol", 428, 6.85),
            model("google:gemini-4-argon", 431, 4.36),
        ],
        days: days(&[
            3, 0, 5, 7, 2, 0, 0, 9, 12, 4, 6, 1, 0, 0, 8, 8, 9, 10, 3, 0, 0, 7, 5, 6, 11, 9, 0, 0,
            12, 10,
        ]),
        progress: Progress {
            targets: TARGETS,
            runs_in_thirty_days: 147,
            median_ms: Some(12_300),
            month: usd(18.42),
        },
        ..empty()
    }
}

/// A single consultation, of today.
pub(super) fn one() -> Statistics {
    let only = || Some(("consult-a".to_owned(), 12_300));
    Statistics {
        range: range(Span::Week),
        usage: UsageNumbers {
            total: 1,
            completed: 1,
            first_and_last: Some((date(2026, 11, 21), date(2026, 11, 21))),
            total_days: 7,
            active_days: 1,
            ..UsageNumbers::default()
        },
        performance: PerformanceNumbers {
            measured: 1,
            p50: Some(12_300),
            p95: Some(12_300),
            p99: Some(12_300),
            average: Some(12_300),
            fastest: only(),
            slowest: only(),
        },
        cost: CostNumbers {
            total: usd(0.004_2),
            caching: Some(CachingNumbers {
                saved: Saving(-12_500),
                incomplete: false,
            }),
            tokens: 9_120,
            average: Some(usd(0.004_2)),
            by_provider: vec![(
                ProviderId::new("mistral"),
                ProviderNumbers {
                    cost: usd(0.004_2),
                    tokens: 9_120,
                    calls: 9,
                },
            )],
            ..CostNumbers::default()
        },
        models: vec![ModelNumbers {
            failures: 0,
            hedges_won: 0,
            ..model("mistral:mistral-large-4", 9, 0.004_2)
        }],
        days: days(&[0, 0, 0, 0, 0, 0, 1]),
        progress: Progress {
            targets: TARGETS,
            runs_in_thirty_days: 1,
            median_ms: Some(12_300),
            month: usd(0.004_2),
        },
        ..empty()
    }
}

/// Aborted consultations only, whose cost exceeds the target of the month.
pub(super) fn aborted_only() -> Statistics {
    Statistics {
        range: range(Span::Month(date(2026, 11, 1))),
        usage: UsageNumbers {
            total: 4,
            aborted: 3,
            unfinished: 1,
            first_and_last: Some((date(2026, 11, 3), date(2026, 11, 20))),
            total_days: 21,
            active_days: 3,
            ..UsageNumbers::default()
        },
        cost: CostNumbers {
            total: usd(25.1),
            tokens: 90_120,
            by_provider: vec![(
                ProviderId::new("openai"),
                ProviderNumbers {
                    cost: usd(20.0),
                    tokens: 80_120,
                    calls: 12,
                },
            )],
            ..CostNumbers::default()
        },
        days: days(&[2, 0, 2]),
        progress: Progress {
            targets: TARGETS,
            runs_in_thirty_days: 4,
            median_ms: None,
            month: usd(25.1),
        },
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
            completed: 2,
            first_and_last: Some((date(2026, 11, 19), date(2026, 11, 20))),
            total_days: 3,
            active_days: 2,
            ..UsageNumbers::default()
        },
        performance: PerformanceNumbers {
            measured: 1,
            p50: Some(727_300),
            ..PerformanceNumbers::default()
        },
        cost: CostNumbers {
            total: unknown(0.12),
            average: Some(unknown(0.06)),
            by_provider: vec![
                (
                    ProviderId::new("work"),
                    ProviderNumbers {
                        cost: unknown(0.12),
                        tokens: 0,
                        calls: 9,
                    },
                ),
                (
                    ProviderId::new("local"),
                    ProviderNumbers {
                        cost: Cost::FREE,
                        tokens: 0,
                        calls: 9,
                    },
                ),
            ],
            ..CostNumbers::default()
        },
        models: vec![
            ModelNumbers {
                cost: unknown(0.12),
                first_token_p50: None,
                first_token_p95: None,
                ..model("work:some-model", 9, 0.0)
            },
            ModelNumbers {
                failures: 0,
                hedges_won: 0,
                ..model("local:qwen3-0.6b", 9, 0.0)
            },
        ],
        days: days.collect(),
        progress: Progress {
            targets: TARGETS,
            runs_in_thirty_days: 2,
            median_ms: Some(727_300),
            month: unknown(0.12),
        },
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
            by_provider: vec![(
                ProviderId::new("模型\u{1b}[31m\nx"),
                ProviderNumbers {
                    cost: usd(18.42),
                    ..ProviderNumbers::default()
                },
            )],
            ..full().cost
        },
        models: models.into_iter().map(|name| model(name, 9, 1.0)).collect(),
        ..full()
    }
}

pub(super) fn all() -> Vec<Statistics> {
    let reached = Progress {
        runs_in_thirty_days: 150,
        ..full().progress
    };
    vec![
        empty(),
        full(),
        one(),
        aborted_only(),
        unpriced(),
        hostile(),
        Statistics {
            progress: reached,
            ..full()
        },
    ]
}
