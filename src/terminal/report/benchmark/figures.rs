//! The figures of a benchmark in tables. Markdown, page and screen have the same.

use std::time::Duration;

use super::arm_name;
use crate::benchmark::case::ErrorRate;
use crate::benchmark::report::BenchmarkReport;
use crate::benchmark::report::arm::ArmReport;
use crate::benchmark::report::words::{accuracy, cost_in_words, interval, percent, whole_percent};
use crate::benchmark::statistics::proportion::Proportion;
use crate::stopping::calibration::Reliability;
use crate::terminal::document::{Line, Part, Table};
use crate::terminal::output::format::{amount, seconds, thousands};
use crate::terminal::report::sections::Detail;
use crate::text::clean::shortened;

/// Characters of the longest answer; the record has the whole.
const LONGEST_ANSWER: usize = 200;

pub(super) fn cell(text: &str) -> Line {
    Line::foreign(shortened(text, LONGEST_ANSWER))
}

pub(super) fn milliseconds(time: u64) -> String {
    seconds(Duration::from_millis(time))
}

pub(super) fn known(value: Option<String>) -> Line {
    value.map_or("-".into(), Line::from)
}

/// A figure of an arm, with its label, and whether it is among those that decide.
type ArmFigure = (&'static str, Detail, fn(&ArmReport) -> Option<String>);

const FIGURES: [ArmFigure; 18] = {
    use Detail::{Brief, Full};
    [
        ("Accuracy", Brief, |arm| Some(percent(arm.accuracy?.share))),
        ("95% interval", Brief, |arm| {
            Some(interval(arm.accuracy?.interval))
        }),
        ("Right", Brief, |arm| Some(arm.counts.approved.to_string())),
        ("Wrong", Full, |arm| Some(arm.counts.rejected.to_string())),
        ("Without an answer", Brief, |arm| {
            Some(arm.counts.failed.to_string())
        }),
        ("Accuracy of answers", Full, |arm| {
            Some(accuracy(&arm.accuracy_of_answered?))
        }),
        (WITHOUT_RESULT, Brief, |arm| {
            Some(arm.counts.not_done.to_string())
        }),
        (CONSISTENCY, Brief, |arm| {
            let cases = arm.consistency?;
            let [always, sometimes] = [cases.always_right, cases.sometimes_right];
            Some(format!("{always}, {sometimes}, {}", cases.never_right))
        }),
        ("Cost", Brief, |arm| Some(amount(arm.spend.cost))),
        ("Cost per case", Full, |arm| {
            arm.spend.cost_per_case.map(amount)
        }),
        ("Cost per right answer", Brief, |arm| {
            arm.spend.cost_per_right.map(amount)
        }),
        ("Calls", Full, |arm| Some(thousands(arm.spend.calls))),
        ("Input tokens", Full, |arm| {
            Some(thousands(arm.spend.input_tokens))
        }),
        ("Output tokens", Full, |arm| {
            Some(thousands(arm.spend.output_tokens))
        }),
        ("Tokens per right answer", Full, |arm| {
            arm.spend.tokens_per_right.map(thousands)
        }),
        ("Median time", Brief, |arm| {
            Some(milliseconds(arm.time?.median_ms))
        }),
        ("90th percentile of time", Brief, |arm| {
            Some(milliseconds(arm.time?.p90_ms))
        }),
        ("Took more than one attempt", Full, |arm| {
            Some(arm.counts.retried.to_string())
        }),
    ]
};

const WITHOUT_RESULT: &str = "Without a result";

const CONSISTENCY: &str = "Always, sometimes, never right";

pub(super) fn arms(report: &BenchmarkReport, detail: Detail) -> Option<Part> {
    let arms = report.arms.iter();
    let columns: Vec<_> = arms.map(|arm| (arm_name(arm.arm), arm)).collect();
    figures_of(&columns, detail, &left_out(report))
}

/// The figures that say nothing of the run.
pub(super) fn left_out(report: &BenchmarkReport) -> Vec<&'static str> {
    let complete = report.is_complete().then_some(WITHOUT_RESULT);
    let single = (report.terms.repetitions < 2).then_some(CONSISTENCY);
    complete.into_iter().chain(single).collect()
}

/// Each arm under its name.
pub(super) fn figures_of(
    columns: &[(&'static str, &ArmReport)],
    detail: Detail,
    left_out: &[&str],
) -> Option<Part> {
    let names = columns.iter().map(|(name, _)| *name);
    let heads: Vec<&'static str> = std::iter::once("").chain(names).collect();
    let is_shown = |(label, shown_in, _): &ArmFigure| {
        (detail == Detail::Full || *shown_in == Detail::Brief) && !left_out.contains(label)
    };
    let rows = FIGURES.into_iter().filter(is_shown);
    let rows = rows.map(|(label, _, value)| {
        let values = columns.iter().map(|(_, arm)| known(value(arm)));
        std::iter::once(Line::from(label)).chain(values).collect()
    });
    Table::of(1, &heads, rows)
}

/// Which of the same cases the arms answer right.
pub(super) fn pairs(report: &BenchmarkReport) -> Option<Part> {
    let pairs = report.comparison.as_ref()?.pairs;
    let rows = [
        row("Panel right", [pairs.both_right, pairs.only_first]),
        row("Panel not right", [pairs.only_second, pairs.both_wrong]),
    ];
    let heads = ["", "Single model right", "Single model not right"];
    Table::of(1, &heads, rows).filter(|_| pairs.total() > 0)
}

fn row<const N: usize>(label: &str, counts: [u64; N]) -> Vec<String> {
    let counts = counts.into_iter().map(|count| count.to_string());
    std::iter::once(label.to_owned()).chain(counts).collect()
}

pub(super) fn tags(report: &BenchmarkReport) -> Option<Part> {
    let rows = report.figures_by_tag().into_iter().map(|(arm, figures)| {
        let of = &figures.accuracy;
        vec![
            figures.tag.as_deref().map_or("(no tag)".into(), cell),
            arm.name().into(),
            format!("{} of {}", of.right, of.of).into(),
            percent(of.share).into(),
            interval(of.interval).into(),
            known(figures.spend.cost_per_case.map(amount)),
        ]
    });
    let heads = [
        "Tag",
        "Arm",
        "Right",
        "Accuracy",
        "95% interval",
        "Cost per case",
    ];
    Table::of(2, &heads, rows)
}

pub(super) fn error_rates(report: &BenchmarkReport) -> Option<Part> {
    let rates = report
        .arms
        .iter()
        .flat_map(|arm| arm.error_rates.iter().map(move |rates| (arm.arm, rates)));
    let rows = rates.map(|(arm, rates)| {
        let measure = match rates.measure {
            ErrorRate::Cer => "character error rate",
            ErrorRate::Wer => "word error rate",
        };
        vec![
            format!("{}, {measure}", arm.name()),
            rates.count.to_string(),
            percent(rates.mean),
            percent(rates.median),
        ]
    });
    let heads = ["", "Transcriptions", "Mean", "Median"];
    Table::of(1, &heads, rows)
}

pub(super) fn reliabilities(arm: &ArmReport) -> impl Iterator<Item = (String, &Reliability)> {
    let kinds = arm.calibration.kinds().into_iter();
    kinds.map(|(kind, of)| (format!("{}, {kind}", arm.arm.name()), of))
}

pub(super) fn reliability_table(report: &BenchmarkReport, detail: Detail) -> Option<Part> {
    let mut rows = Vec::new();
    for arm in &report.arms {
        rows.extend(reliabilities(arm).map(|(kind, of)| reliability_row(kind, of)));
        let experts = arm.calibration.experts.iter();
        let experts = experts.filter(|_| detail == Detail::Full);
        rows.extend(experts.map(|expert| {
            let name = format!("{}, Round 1 of {}", arm.arm.name(), expert.model);
            reliability_row(name, &expert.reliability)
        }));
    }
    let heads = ["", "Answers", "Mean confidence", "Right", "Brier", "ECE"];
    Table::of(1, &heads, rows)
}

/// Returns a name with its count, mean confidence, share right, Brier score and ECE.
pub(in crate::terminal) fn reliability_row(name: String, reliability: &Reliability) -> Vec<String> {
    vec![
        name,
        reliability.count.to_string(),
        percent(reliability.mean_stated),
        percent(reliability.mean_right),
        format!("{:.3}", reliability.brier),
        format!("{:.3}", reliability.expected_calibration_error),
    ]
}

pub(in crate::terminal) fn bins(reliability: &Reliability) -> Option<Part> {
    let rows = reliability.bins.iter().map(|bin| {
        vec![
            format!("{:.0}-{}", bin.from * 100.0, whole_percent(bin.to)),
            bin.count.to_string(),
            percent(bin.mean_stated),
            percent(bin.mean_right),
        ]
    });
    let heads = ["Confidence", "Answers", "Mean confidence", "Right"];
    Table::of(1, &heads, rows)
}

pub(super) fn debate(report: &BenchmarkReport) -> Vec<Part> {
    let mut arms = report.arms.iter();
    let figures = arms.find_map(|arm| arm.debate.zip(arm.early_stops));
    let Some((debate, stops)) = figures else {
        return Vec::new();
    };
    let changes = [
        ("Round 1 vote to answer", debate.vote_to_verdict),
        ("Rounds 3 and 4 (full debates)", debate.synthesis_to_verdict),
        ("Experts, Round 1 to Round 3", debate.experts),
    ];
    let changes = changes
        .into_iter()
        .filter(|(_, changes)| changes.compared > 0);
    let rows = changes.map(|(label, of)| {
        let turned = [of.wrong_to_right, of.right_to_wrong];
        row(label, [turned[0], turned[1], of.both_right, of.both_wrong])
    });
    let heads = [
        "From, to",
        "Wrong to right",
        "Right to wrong",
        "Both right",
        "Both wrong",
    ];
    let mut parts: Vec<Part> = Table::of(1, &heads, rows).into_iter().collect();
    if stops.stopped.whole > 0 {
        let right = |share: Proportion| format!("{} of {} right", share.part, share.whole);
        let [stopped, full] = [right(stops.stopped), right(stops.full)];
        let mut line = Line::of("Early stops: {}; full debates: {}.", [&stopped, &full]);
        if stops.saved_known > 0 && !stops.saved.is_unknown() {
            line = line.and(" They saved about {}.", [&cost_in_words(stops.saved)]);
        }
        parts.push(Part::Paragraph(line));
    }
    parts
}
