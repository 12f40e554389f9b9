//! Targets below the frame, and the text in place of an empty dashboard.

use conclave::domain::money::Cost;
use conclave::domain::statistics::{Progress, Span, Statistics, UsageNumbers};
use conclave::terminal::document::Charset;
use conclave::terminal::tables::dashboard::nothing;
use jiff::civil::date;

use super::sample_statistics::{TARGETS, days, full, range, usd};
use super::{canvas, draw};

/// The lines below the frame.
fn below(progress: Progress) -> String {
    let text = draw(
        &Statistics {
            success_criteria: progress,
            per_day: days(&[1]),
            ..full()
        },
        canvas(80, Charset::Unicode),
    );
    text.split_once("\n\n").unwrap().1.to_owned()
}

#[test]
fn reached_targets_have_one_line_each_without_progress() {
    let progress = |runs, median_ms, month| Progress::new(TARGETS, runs, Some(median_ms), month);
    assert_eq!(
        below(progress(150, 12_300, usd(18.42))),
        "✅ SUCCESS: Consistent usage!\n⚡ SPEED: Excellent response times!\n💰 COST: Within budget target!\n"
    );
    assert_eq!(
        below(progress(147, 15_000, usd(20.01))),
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
    let progress = |runs, month| Progress::new(TARGETS, runs, Some(12_300), month);
    let line = |progress: Progress, name: &str| {
        let text = below(progress);
        text.lines()
            .find(|line| line.starts_with(&format!("• {name}: ")))
            .unwrap()
            .to_owned()
    };
    let usage = |runs| line(progress(runs, usd(18.42)), "Usage");
    assert_eq!(usage(134), "• Usage: 134/150 consultations (89%)");
    assert_eq!(
        usage(135),
        "• Usage: 135/150 consultations (90%) - Almost there!"
    );
    let cost = |month| line(progress(147, month), "Cost");
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
            !below(progress(147, month)).contains("Within budget"),
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
