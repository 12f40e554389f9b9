//! The dashboard: what it says of full, empty, small and unpriced statistics, at every width, with and without colour and Unicode.

use conclave::domain::ids::ProviderId;
use conclave::domain::money::{Cost, MicroUsd};
use conclave::domain::statistics::{
    CostNumbers, DayNumbers, DebateNumbers, EarlyEndNumbers, ModelNumbers, PerformanceNumbers, Progress, ProviderNumbers, QualityNumbers,
    Range, Span, Statistics, Targets, UsageNumbers,
};
use conclave::providers::vendors;
use conclave::terminal::dashboard::charset::Charset;
use conclave::terminal::dashboard::{Border, Canvas, dashboard, nothing};
use conclave::terminal::paint::Paint;
use jiff::ToSpan;
use jiff::civil::date;

const TARGETS: Targets = Targets { runs: 150, median_ms: 15_000, month: MicroUsd(20_000_000) };

fn usd(usd: f64) -> Cost {
    Cost::exactly(MicroUsd::from_usd(usd).unwrap())
}

fn canvas(width: usize, charset: Charset) -> Canvas {
    Canvas { width, paint: Paint::Plain, charset, border: Border::Frame }
}

fn drawn(statistics: &Statistics, canvas: Canvas) -> String {
    dashboard(statistics, vendors::name, canvas)
}

fn range(span: Span) -> Range {
    Range { span, from: None, until: None, time_zone: "Europe/Berlin".to_owned() }
}

/// Days up to the 21st of November, each with so many runs of 12 cents.
fn days(runs: &[u64]) -> Vec<DayNumbers> {
    let day = |(back, runs): (usize, &u64)| DayNumbers {
        date: date(2026, 11, 21).checked_sub(i32::try_from(back).unwrap().days()).unwrap(),
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

/// Nothing at all.
fn empty() -> Statistics {
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
        progress: Progress { targets: TARGETS, runs_in_thirty_days: 0, median_ms: None, month: Cost::FREE },
    }
}

/// The numbers of the promised dashboard, and of every section behind them.
fn full() -> Statistics {
    let provider = |id: &str, cost: f64, tokens: u64| (ProviderId::new(id), ProviderNumbers { cost: usd(cost), tokens, calls: 420 });
    let one = |id: &str, ms: u64| Some((id.to_owned(), ms));
    Statistics {
        usage: UsageNumbers {
            total: 147,
            completed: 142,
            aborted: 5,
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
            by_provider: vec![provider("anthropic", 7.21, 700_000), provider("openai", 6.85, 650_000), provider("google", 4.36, 497_230)],
            most_expensive: Some(("consult-b".to_owned(), usd(0.41))),
            cheapest: Some(("consult-a".to_owned(), usd(0.02))),
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
        early_ends: EarlyEndNumbers { count: 12, saved: MicroUsd(840_000) },
        models: vec![
            model("anthropic:claude-sonnet-5-5", 430, 7.21),
            model("openai:gpt-6.1-sol", 428, 6.85),
            model("google:gemini-4-argon", 431, 4.36),
        ],
        days: days(&[3, 0, 5, 7, 2, 0, 0, 9, 12, 4, 6, 1, 0, 0, 8, 8, 9, 10, 3, 0, 0, 7, 5, 6, 11, 9, 0, 0, 12, 10]),
        progress: Progress { targets: TARGETS, runs_in_thirty_days: 147, median_ms: Some(12_300), month: usd(18.42) },
        ..empty()
    }
}

#[test]
fn look() {
    for width in [40, 80, 160] {
        for charset in [Charset::Unicode, Charset::Ascii] {
            println!("{}", drawn(&full(), canvas(width, charset)));
        }
    }
    println!("{}", drawn(&full(), Canvas { border: Border::None, ..canvas(80, Charset::Unicode) }));
    println!("{}", nothing(&range(Span::Week), &full().usage, canvas(80, Charset::Unicode)));
}
