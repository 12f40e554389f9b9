//! The dashboard: what it says of full, empty, small and unpriced statistics, at every width, with
//! and without colour and Unicode.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use conclave::domain::ids::ProviderId;
use conclave::domain::money::{Cost, MicroUsd};
use conclave::domain::statistics::{
    CostNumbers, DayNumbers, DebateNumbers, EarlyEndNumbers, ModelNumbers, PerformanceNumbers,
    Progress, ProviderNumbers, QualityNumbers, Range, Span, Statistics, Targets, UsageNumbers,
};
use conclave::domain::vendors;
use conclave::terminal::output::style::Paint;
use conclave::terminal::tables::dashboard::charset::Charset;
use conclave::terminal::tables::dashboard::{Border, Canvas, dashboard, nothing};
use console::{measure_text_width, strip_ansi_codes};
use jiff::ToSpan;
use jiff::civil::date;

const TARGETS: Targets = Targets {
    runs: 150,
    median_ms: 15_000,
    month: MicroUsd(20_000_000),
};

fn usd(usd: f64) -> Cost {
    Cost::exactly(MicroUsd::from_usd(usd).unwrap())
}

fn canvas(width: usize, charset: Charset) -> Canvas {
    Canvas {
        width,
        paint: Paint::Plain,
        charset,
        border: Border::Frame,
    }
}

fn drawn(statistics: &Statistics, canvas: Canvas) -> String {
    dashboard(statistics, vendors::name, canvas)
}

fn range(span: Span) -> Range {
    Range {
        span,
        from: None,
        until: None,
        time_zone: "Europe/Berlin".to_owned(),
    }
}

/// Days up to the 21st of November, each with so many runs of 12 cents.
fn days(runs: &[u64]) -> Vec<DayNumbers> {
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
        progress: Progress {
            targets: TARGETS,
            runs_in_thirty_days: 0,
            median_ms: None,
            month: Cost::FREE,
        },
    }
}

/// The numbers of the promised dashboard, and of every section behind them.
fn full() -> Statistics {
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
            saved: MicroUsd(840_000),
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
fn one() -> Statistics {
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

/// Nothing was finished, and it cost something all the same; more in this month than the target is.
fn aborted_only() -> Statistics {
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

/// Servers and models without a price, slow answers, and no confidence that anybody stated.
fn unpriced() -> Statistics {
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

/// Names out of records that would break the frame: steering codes, wide characters, no place to
/// wrap.
fn hostile() -> Statistics {
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

fn all() -> Vec<Statistics> {
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

/// What is seen at the usual widths, in Unicode and ASCII, and without a terminal.
fn at_every_width(statistics: &Statistics) -> String {
    let mut text = String::new();
    for (width, charset) in [
        (40, Charset::Unicode),
        (80, Charset::Unicode),
        (160, Charset::Unicode),
        (40, Charset::Ascii),
        (80, Charset::Ascii),
    ] {
        writeln!(
            text,
            "=== {width} columns, {charset:?}\n{}",
            drawn(statistics, canvas(width, charset))
        )
        .unwrap();
    }
    text + "=== no terminal\n"
        + &drawn(
            statistics,
            Canvas {
                border: Border::None,
                ..canvas(80, Charset::Unicode)
            },
        )
}

#[test]
fn the_full_dashboard_matches_its_snapshot() {
    let text = at_every_width(&full());
    insta::assert_snapshot!("full", text);
    for line in include_str!("seed_dashboard.txt").lines() {
        assert!(text.contains(line), "`{line}` is not in:\n{text}");
    }
}

#[test]
fn sparse_statistics_show_only_known_figures() {
    insta::assert_snapshot!("one", at_every_width(&one()));
    insta::assert_snapshot!("aborted_only", at_every_width(&aborted_only()));
    insta::assert_snapshot!("unpriced", at_every_width(&unpriced()));
    insta::assert_snapshot!("empty", at_every_width(&empty()));
    insta::assert_snapshot!("hostile", at_every_width(&hostile()));
}

#[test]
fn no_line_exceeds_the_terminal_and_the_frame_is_aligned() {
    for (number, statistics) in all().iter().enumerate() {
        for (charset, width) in
            (20..=170).flat_map(|width| [(Charset::Unicode, width), (Charset::Ascii, width)])
        {
            let text = drawn(statistics, canvas(width, charset));
            let (frame, below) = text.split_once("\n\n").unwrap();
            let widths: Vec<usize> = frame.lines().map(measure_text_width).collect();
            assert!(
                below
                    .lines()
                    .map(measure_text_width)
                    .all(|line| line <= width),
                "{number} at {width}:\n{text}"
            );
            if width < 40 {
                assert!(
                    widths.iter().all(|line| *line <= width),
                    "{number} at {width}:\n{text}"
                );
            } else {
                assert!(
                    widths.iter().all(|line| *line == widths[0]) && widths[0] <= width,
                    "{number} at {width}:\n{text}"
                );
            }
        }
    }
}

#[test]
fn colour_changes_no_character_and_sets_no_background() {
    for statistics in all() {
        for (width, border) in [
            (40, Border::Frame),
            (80, Border::Frame),
            (160, Border::Frame),
            (80, Border::None),
        ] {
            let plain = Canvas {
                border,
                ..canvas(width, Charset::Unicode)
            };
            let coloured = drawn(
                &statistics,
                Canvas {
                    paint: Paint::Colour,
                    ..plain
                },
            );
            assert_eq!(strip_ansi_codes(&coloured), drawn(&statistics, plain));
            let codes: BTreeSet<&str> = coloured
                .split("\u{1b}[")
                .skip(1)
                .map(|rest| rest.split_once('m').unwrap().0)
                .collect();
            // Bold, dim, red, green, yellow, cyan, and their end: neither black nor white.
            assert!(
                codes.is_subset(&BTreeSet::from(["0", "1", "2", "31", "32", "33", "36"])),
                "{codes:?}"
            );
        }
    }
    insta::assert_snapshot!(
        "full_in_colour",
        drawn(
            &full(),
            Canvas {
                paint: Paint::Colour,
                ..canvas(100, Charset::Unicode)
            }
        )
    );
    insta::assert_snapshot!(
        "aborted_only_in_colour",
        drawn(
            &aborted_only(),
            Canvas {
                paint: Paint::Colour,
                ..canvas(40, Charset::Unicode)
            }
        )
    );
}

#[test]
fn the_ascii_dashboard_is_ascii_with_the_same_figures() {
    for statistics in all() {
        let text = drawn(&statistics, canvas(80, Charset::Ascii));
        assert!(text.is_ascii(), "{text}");
        for wrong in ["NaN", "inf", "None", "(0/0)", "-0"] {
            assert!(
                !text.replace("-0.6b", "").replace("-07", "").contains(wrong),
                "{wrong}: {text}"
            );
        }
    }
}

/// The lines below the frame.
fn below(progress: Progress) -> String {
    let text = drawn(
        &Statistics {
            progress,
            days: days(&[1]),
            ..full()
        },
        canvas(80, Charset::Unicode),
    );
    text.split_once("\n\n").unwrap().1.to_owned()
}

#[test]
fn reached_targets_have_one_line_each_without_progress() {
    let reached = Progress {
        runs_in_thirty_days: 150,
        ..full().progress
    };
    assert_eq!(
        below(reached),
        "✅ SUCCESS: Consistent usage!\n⚡ SPEED: Excellent response times!\n💰 COST: Within budget target!\n"
    );
    assert_eq!(
        below(Progress {
            runs_in_thirty_days: 147,
            median_ms: Some(15_000),
            month: usd(20.01),
            targets: TARGETS
        }),
        "\
📊 Progress toward Success Criteria:
• Usage: 147/150 consultations (98%) - Almost there!
• Speed: 15.0s median (target: <15s) - Too slow
• Cost: $20.01/$20.00 budget (>100%) - Over budget
Usage in the 30 days to 2026-11-21, speed in the time shown above, cost in
November 2026.
"
    );
}

#[test]
fn near_and_within_budget_are_stated_only_when_true() {
    let line = |progress: Progress, name: &str| {
        let text = below(progress);
        text.lines()
            .find(|line| line.starts_with(&format!("• {name}: ")))
            .unwrap()
            .to_owned()
    };
    let usage = |runs| {
        line(
            Progress {
                runs_in_thirty_days: runs,
                ..full().progress
            },
            "Usage",
        )
    };
    assert_eq!(usage(134), "• Usage: 134/150 consultations (89%)");
    assert_eq!(
        usage(135),
        "• Usage: 135/150 consultations (90%) - Almost there!"
    );
    let cost = |month| {
        line(
            Progress {
                month,
                ..full().progress
            },
            "Cost",
        )
    };
    assert_eq!(cost(usd(19.99)), "• Cost: $19.99/$20.00 budget (>99%) ✅");
    assert_eq!(
        cost(usd(20.0)),
        "• Cost: $20.00/$20.00 budget (100%) - Budget used up"
    );
    assert_eq!(
        cost(usd(25.1)),
        "• Cost: $25.10/$20.00 budget (126%) - Over budget"
    );
    let unknown = |known| Cost {
        lower_bound: true,
        ..usd(known)
    };
    assert_eq!(
        cost(unknown(12.0)),
        "• Cost: ≥ $12.00/$20.00 budget (≥ 60%) - Not all costs are known"
    );
    assert_eq!(
        cost(unknown(20.0)),
        "• Cost: ≥ $20.00/$20.00 budget (≥ 100%) - Over budget"
    );
    for month in [usd(20.0), usd(25.1), unknown(12.0), unknown(20.0)] {
        assert!(
            !below(Progress {
                month,
                ..full().progress
            })
            .contains("Within budget"),
            "{month}"
        );
    }
}

#[test]
fn an_empty_period_suggests_other_periods_or_a_command() {
    let at = |span, elsewhere: &UsageNumbers| {
        nothing(&range(span), elsewhere, canvas(80, Charset::Unicode))
    };
    let first = "📭 No consultations found.\n\nRun your first consultation:\n  conclave consult \"Your question here\"\n";
    assert_eq!(at(Span::AllTime, &UsageNumbers::default()), first);
    assert_eq!(at(Span::Week, &UsageNumbers::default()), first);
    let elsewhere = full().usage;
    assert_eq!(
        at(Span::Month(date(2026, 3, 1)), &elsewhere),
        "\
📭 No consultations found in March 2026.

Outside of it there are 147 consultations, 2026-10-23 to 2026-11-21:
  conclave consult-stats --all-time
"
    );
    let begins = |span| at(span, &elsewhere).lines().next().unwrap().to_owned();
    let (since, until) = (Some(date(2026, 1, 2)), Some(date(2026, 1, 9)));
    assert_eq!(
        begins(Span::Week),
        "📭 No consultations found in the last 7 days."
    );
    assert_eq!(
        begins(Span::Days { since, until }),
        "📭 No consultations found from 2026-01-02 to 2026-01-09."
    );
    assert_eq!(
        begins(Span::Days {
            since,
            until: since
        }),
        "📭 No consultations found on 2026-01-02."
    );
    assert_eq!(
        begins(Span::Days { since, until: None }),
        "📭 No consultations found since 2026-01-02."
    );
    assert_eq!(
        begins(Span::Days { since: None, until }),
        "📭 No consultations found until 2026-01-09."
    );
    let ascii = nothing(
        &range(Span::AllTime),
        &UsageNumbers::default(),
        canvas(80, Charset::Ascii),
    );
    assert!(ascii.starts_with("No consultations found.\n"), "{ascii}");
}
