//! Targets below the frame, and the text in place of an empty dashboard.

use conclave::domain::cost::money::Cost;
use conclave::domain::record::statistics::{Progress, Span, Statistics, UsageNumbers};
use conclave::terminal::charset::Charset;
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
    let of_target = "• Usage: 134/150 consultations (89%)";
    assert_eq!(usage(134), of_target);
    let near = "• Usage: 135/150 consultations (90%) - Almost there!";
    assert_eq!(usage(135), near);
    let unknown = |known| Cost {
        lower_bound: true,
        ..usd(known)
    };
    for (month, words) in [
        (usd(19.99), "$19.99/$20.00 budget (>99%) ✅"),
        (usd(20.0), "$20.00/$20.00 budget (100%) - Budget used up"),
        (usd(25.1), "$25.10/$20.00 budget (126%) - Over budget"),
        (
            unknown(12.0),
            "≥ $12.00/$20.00 budget (≥ 60%) - Not all costs are known",
        ),
        (
            unknown(20.0),
            "≥ $20.00/$20.00 budget (≥ 100%) - Over budget",
        ),
    ] {
        let cost = line(progress(147, month), "Cost");
        assert_eq!(cost, format!("• Cost: {words}"));
    }
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
    let (since, until) = (Some(date(2026, 1, 2)), Some(date(2026, 1, 9)));
    let days = |since, until| Span::Days { since, until };
    for (span, words) in [
        (Span::Week, "in the last 7 days"),
        (days(since, until), "from 2026-01-02 to 2026-01-09"),
        (days(since, since), "on 2026-01-02"),
        (days(since, None), "since 2026-01-02"),
        (days(None, until), "until 2026-01-09"),
    ] {
        let text = at(span, &elsewhere);
        let first = format!("📭 No consultations found {words}.\n");
        assert!(text.starts_with(&first), "{words}: {text}");
    }
    let ascii = nothing(
        &range(Span::AllTime),
        &UsageNumbers::default(),
        canvas(80, Charset::Ascii),
    );
    assert!(ascii.starts_with("No consultations found.\n"), "{ascii}");
}
