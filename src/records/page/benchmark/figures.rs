//! The figures of the page: the result of each arm, the comparison, tags, debate and error rates.

use maud::{Markup, html};

use crate::benchmark::case::ErrorRate;
use crate::benchmark::report::BenchmarkReport;
use crate::benchmark::report::arm::ArmReport;
use crate::benchmark::report::words::{accuracy, cost_in_words, interval, percent};
use crate::benchmark::run::Arm;
use crate::benchmark::statistics::proportion::Proportion;
use crate::domain::words::{amount, seconds, thousands};
use crate::records::page::elements::{inline, section};

pub(super) const ARM_NAMES: [Arm; 2] = Arm::ALL;

const UNKNOWN: &str = "–";

pub(super) fn arm_name(arm: Arm) -> &'static str {
    match arm {
        Arm::Panel => "Panel",
        Arm::Single => "Single model",
    }
}

/// Renders a table: a first column of text, then figures. Nothing without rows.
pub(super) fn table(caption: &str, heads: &[&str], rows: &[Vec<Markup>]) -> Markup {
    html! {
        @if !rows.is_empty() {
            div.wide {
                table {
                    @if !caption.is_empty() { caption { (caption) } }
                    thead {
                        tr {
                            @for (at, head) in heads.iter().enumerate() {
                                th scope="col" class=[(at > 0).then_some("number")] { (head) }
                            }
                        }
                    }
                    tbody {
                        @for row in rows {
                            tr {
                                @for (at, cell) in row.iter().enumerate() {
                                    @if at == 0 { th scope="row" { (cell) } }
                                    @else { td.number { (cell) } }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Renders a figure of this program.
pub(super) fn figure(value: impl AsRef<str>) -> Markup {
    html! { (value.as_ref()) }
}

pub(super) fn known(value: Option<String>) -> Markup {
    figure(value.unwrap_or_else(|| UNKNOWN.to_owned()))
}

/// The headline of each arm, the comparison, and all figures of the arms.
pub(super) fn result(report: &BenchmarkReport) -> Markup {
    html! {
        section.answer {
            h2 { "Result" }
            @for arm in &report.arms { p { strong { (arm_name(arm.arm)) } ": " (headline(arm)) } }
            @if let Some(comparison) = &report.comparison { p.said { (comparison.sentence) } }
        }
        (section("Figures", &html! { (arms(report)) (comparison(report)) }))
    }
}

fn headline(arm: &ArmReport) -> String {
    let cost = cost_in_words(arm.spend.cost);
    match &arm.accuracy {
        None => format!("no result yet, for {cost}"),
        Some(share) => format!(
            "{} right, {} of {}, for {cost}",
            accuracy(share),
            share.right,
            share.of
        ),
    }
}

/// A figure of an arm, and its label.
type ArmFigure = (&'static str, fn(&ArmReport) -> Option<String>);

const ARM_FIGURES: [ArmFigure; 17] = [
    ("Accuracy", |arm| {
        arm.accuracy.map(|share| percent(share.share))
    }),
    ("95% interval", |arm| {
        arm.accuracy.map(|share| interval(share.interval))
    }),
    ("Right", |arm| Some(arm.counts.approved.to_string())),
    ("Wrong", |arm| Some(arm.counts.rejected.to_string())),
    ("Without an answer", |arm| {
        Some(arm.counts.failed.to_string())
    }),
    ("Not done", |arm| Some(arm.counts.not_done.to_string())),
    ("Accuracy of answers", |arm| {
        arm.accuracy_of_answered.map(|share| percent(share.share))
    }),
    ("Cases always, sometimes, never right", |arm| {
        arm.consistency.map(|consistency| {
            format!(
                "{}, {}, {}",
                consistency.always_right, consistency.sometimes_right, consistency.never_right
            )
        })
    }),
    ("Cost", |arm| Some(amount(arm.spend.cost))),
    ("Cost per case", |arm| arm.spend.cost_per_case.map(amount)),
    ("Cost per right answer", |arm| {
        arm.spend.cost_per_right.map(amount)
    }),
    ("Calls", |arm| Some(thousands(arm.spend.calls))),
    ("Tokens", |arm| Some(thousands(arm.spend.tokens()))),
    ("Tokens per right answer", |arm| {
        arm.spend.tokens_per_right.map(thousands)
    }),
    ("Median time per case", |arm| {
        arm.time.map(|time| seconds(time.median()))
    }),
    ("90th percentile of time", |arm| {
        arm.time.map(|time| seconds(time.p90()))
    }),
    ("Took more than one attempt", |arm| {
        Some(arm.counts.retried.to_string())
    }),
];

fn arms(report: &BenchmarkReport) -> Markup {
    let names = report.arms.iter().map(|arm| arm_name(arm.arm));
    let heads: Vec<&str> = std::iter::once("").chain(names).collect();
    let mut rows = Vec::new();
    for (label, value) in ARM_FIGURES {
        let values: Vec<Option<String>> = report.arms.iter().map(value).collect();
        if values.iter().any(Option::is_some) {
            let cells = values.into_iter().map(known);
            rows.push(std::iter::once(figure(label)).chain(cells).collect());
        }
    }
    table("", &heads, &rows)
}

fn comparison(report: &BenchmarkReport) -> Markup {
    let Some(comparison) = &report.comparison else {
        return Markup::default();
    };
    let pairs = comparison.pairs;
    let row = |label: &str, right: u64, wrong: u64| {
        vec![
            figure(label),
            figure(right.to_string()),
            figure(wrong.to_string()),
        ]
    };
    let rows = [
        row("Panel right", pairs.both_right, pairs.only_first),
        row("Panel not right", pairs.only_second, pairs.both_wrong),
    ];
    let heads = ["", "Single model right", "Single model not right"];
    html! { @if pairs.total() > 0 { (table("The same cases", &heads, &rows)) } }
}

pub(super) fn tags(report: &BenchmarkReport) -> Markup {
    let mut rows = Vec::new();
    for arm in &report.arms {
        for figures in &arm.tags {
            rows.push(vec![
                figures
                    .tag
                    .as_ref()
                    .map_or_else(|| figure("(no tag)"), inline),
                figure(arm_name(arm.arm)),
                figure(format!(
                    "{} of {}",
                    figures.accuracy.right, figures.accuracy.of
                )),
                figure(percent(figures.accuracy.share)),
                figure(interval(figures.accuracy.interval)),
                known(figures.spend.cost_per_case.map(amount)),
            ]);
        }
    }
    let heads = [
        "Tag",
        "Arm",
        "Right",
        "Accuracy",
        "95% interval",
        "Cost per case",
    ];
    table("", &heads, &rows)
}

pub(super) fn debate(report: &BenchmarkReport) -> Markup {
    let Some(debate) = report.arms.iter().find_map(|arm| arm.debate) else {
        return Markup::default();
    };
    let changes = [
        ("Round 1 vote to answer", debate.vote_to_verdict),
        ("Rounds 3 and 4 (full debates)", debate.synthesis_to_verdict),
        ("Experts, Round 1 to Round 3", debate.experts),
    ];
    let rows: Vec<Vec<Markup>> = changes
        .into_iter()
        .filter(|(_, changes)| changes.compared > 0)
        .map(|(label, changes)| {
            let counts = [
                changes.wrong_to_right,
                changes.right_to_wrong,
                changes.both_right,
                changes.both_wrong,
            ];
            let counts = counts.into_iter().map(|count| figure(count.to_string()));
            std::iter::once(figure(label)).chain(counts).collect()
        })
        .collect();
    let heads = [
        "From, to",
        "Wrong to right",
        "Right to wrong",
        "Both right",
        "Both wrong",
    ];
    html! {
        (table("What the rounds change", &heads, &rows))
        (early_stops(report))
    }
}

fn early_stops(report: &BenchmarkReport) -> Markup {
    let stops = report.arms.iter().find_map(|arm| arm.early_stops);
    let Some(stops) = stops.filter(|stops| stops.stopped.whole() > 0) else {
        return Markup::default();
    };
    let row = |label: &str, share: Proportion| {
        vec![
            figure(label),
            figure(format!("{} of {}", share.part(), share.whole())),
            known(share.share().map(percent)),
        ]
    };
    let rows = [
        row("Ended after Round 2", stops.stopped),
        row("Full debates", stops.full),
    ];
    html! {
        (table("Early stops", &["", "Right", "Accuracy"], &rows))
        @if stops.saved_known > 0 {
            p.quiet { "The early stops saved about " (cost_in_words(stops.saved)) "." }
        }
    }
}

pub(super) fn error_rates(report: &BenchmarkReport) -> Markup {
    let mut rows = Vec::new();
    for arm in &report.arms {
        for rates in &arm.error_rates {
            let measure = match rates.measure {
                ErrorRate::Cer => "character error rate",
                ErrorRate::Wer => "word error rate",
            };
            rows.push(vec![
                figure(format!("{}, {measure}", arm_name(arm.arm))),
                figure(rates.count.to_string()),
                figure(percent(rates.mean)),
                figure(percent(rates.median)),
            ]);
        }
    }
    table("", &["", "Transcriptions", "Mean", "Median"], &rows)
}
