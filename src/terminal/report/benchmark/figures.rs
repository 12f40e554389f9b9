//! The figures of a benchmark in tables. Markdown and page have the same.

use super::arm_name;
use crate::benchmark::case::ErrorRate;
use crate::benchmark::report::BenchmarkReport;
use crate::benchmark::report::arm::ArmReport;
use crate::benchmark::report::words::{accuracy, cost_in_words, percent, whole_percent};
use crate::benchmark::statistics::proportion::Proportion;
use crate::stopping::calibration::Reliability;
use crate::terminal::document::{Line, Part, Table, paragraph};
use crate::terminal::output::format::{amount, seconds, thousands};
use crate::text::clean::shortened;

/// Characters of the longest answer; the record has the whole.
const LONGEST_ANSWER: usize = 200;

/// Returns foreign text for a cell.
pub(super) fn cell(text: &str) -> Line {
    Line::foreign(shortened(text, LONGEST_ANSWER))
}

/// Returns a figure of this program.
pub(super) fn figure(value: impl Into<String>) -> Line {
    Line::foreign(value)
}

pub(super) fn known(value: Option<String>) -> Line {
    value.map_or_else(|| Line::of("-", []), Line::foreign)
}

/// A figure of an arm, and its label.
type ArmFigure = (&'static str, fn(&ArmReport) -> Option<String>);

const OUTCOMES: [ArmFigure; 5] = [
    ("Accuracy", |arm| arm.accuracy.as_ref().map(accuracy)),
    ("Right", |arm| Some(arm.counts.approved.to_string())),
    ("Wrong", |arm| Some(arm.counts.rejected.to_string())),
    ("Without an answer", |arm| {
        Some(arm.counts.failed.to_string())
    }),
    ("Accuracy of answers", |arm| {
        arm.accuracy_of_answered.as_ref().map(accuracy)
    }),
];

const WITHOUT_RESULT: ArmFigure = ("Without a result", |arm| {
    Some(arm.counts.not_done.to_string())
});

const CONSISTENCY: ArmFigure = ("Always, sometimes, never right", |arm| {
    let cases = arm.consistency?;
    let [always, sometimes] = [cases.always_right, cases.sometimes_right];
    Some(format!("{always}, {sometimes}, {}", cases.never_right))
});

const SPEND: [ArmFigure; 10] = [
    ("Cost", |arm| Some(amount(arm.spend.cost))),
    ("Cost per case", |arm| arm.spend.cost_per_case.map(amount)),
    ("Cost per right answer", |arm| {
        arm.spend.cost_per_right.map(amount)
    }),
    ("Calls", |arm| Some(thousands(arm.spend.calls))),
    ("Input tokens", |arm| {
        Some(thousands(arm.spend.input_tokens))
    }),
    ("Output tokens", |arm| {
        Some(thousands(arm.spend.output_tokens))
    }),
    ("Tokens per right answer", |arm| {
        arm.spend.tokens_per_right.map(thousands)
    }),
    ("Median time", |arm| {
        arm.time.map(|time| seconds(time.median()))
    }),
    ("90th percentile of time", |arm| {
        arm.time.map(|time| seconds(time.p90()))
    }),
    ("Took more than one attempt", |arm| {
        Some(arm.counts.retried.to_string())
    }),
];

pub(super) fn arms(report: &BenchmarkReport) -> Option<Part> {
    let names = report.arms.iter().map(|arm| arm_name(arm.arm));
    let heads: Vec<&'static str> = std::iter::once("").chain(names).collect();
    let mut figures = OUTCOMES.to_vec();
    figures.extend((!report.is_complete()).then_some(WITHOUT_RESULT));
    figures.extend((report.terms.repetitions > 1).then_some(CONSISTENCY));
    figures.extend(SPEND);
    let rows = figures.into_iter().map(|(label, value)| {
        let values = report.arms.iter().map(|arm| known(value(arm)));
        std::iter::once(figure(label)).chain(values).collect()
    });
    Table::of(1, &heads, rows.collect())
}

/// Which of the same cases the arms answer right.
pub(super) fn pairs(report: &BenchmarkReport) -> Option<Part> {
    let pairs = report.comparison.as_ref()?.pairs;
    let rows = [
        row("Panel right", &[pairs.both_right, pairs.only_first]),
        row("Panel not right", &[pairs.only_second, pairs.both_wrong]),
    ];
    let heads = ["", "Single model right", "Single model not right"];
    let rows = if pairs.total() > 0 {
        rows.to_vec()
    } else {
        Vec::new()
    };
    Table::of(1, &heads, rows)
}

/// Returns a row of counts.
fn row(label: &str, counts: &[u64]) -> Vec<Line> {
    let counts = counts.iter().map(|count| figure(count.to_string()));
    std::iter::once(figure(label)).chain(counts).collect()
}

pub(super) fn tags(report: &BenchmarkReport) -> Option<Part> {
    let rows = report.figures_by_tag().into_iter().map(|(arm, figures)| {
        let of = &figures.accuracy;
        vec![
            figures
                .tag
                .as_deref()
                .map_or(Line::of("(no tag)", []), cell),
            figure(arm.name()),
            figure(format!("{} of {}", of.right, of.of)),
            figure(accuracy(of)),
            known(figures.spend.cost_per_case.map(amount)),
        ]
    });
    let heads = ["Tag", "Arm", "Right", "Accuracy", "Cost per case"];
    Table::of(2, &heads, rows.collect())
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
            figure(format!("{}, {measure}", arm.name())),
            figure(rates.count.to_string()),
            figure(percent(rates.mean)),
            figure(percent(rates.median)),
        ]
    });
    let heads = ["", "Transcriptions", "Mean", "Median"];
    Table::of(1, &heads, rows.collect())
}

/// The answers of an arm whose confidence is compared with their outcomes.
pub(super) fn reliabilities(arm: &ArmReport) -> impl Iterator<Item = (String, &Reliability)> {
    let kinds = arm.calibration.kinds().into_iter();
    kinds.map(|(kind, of)| (format!("{}, {kind}", arm.arm.name()), of))
}

pub(super) fn calibration(report: &BenchmarkReport) -> Vec<Part> {
    let mut parts: Vec<Part> = reliability_table(report).into_iter().collect();
    for (kind, reliability) in report.arms.iter().flat_map(reliabilities) {
        let bins = bins(reliability).map(|bins| [paragraph("{}:", [&kind]), bins]);
        parts.extend(bins.into_iter().flatten());
    }
    parts
}

pub(super) fn reliability_table(report: &BenchmarkReport) -> Option<Part> {
    let mut rows = Vec::new();
    for arm in &report.arms {
        rows.extend(reliabilities(arm).map(|(kind, of)| reliability_row(kind, of)));
        rows.extend(arm.calibration.experts.iter().map(|expert| {
            let name = format!("{}, Round 1 of {}", arm.arm.name(), expert.model);
            reliability_row(name, &expert.reliability)
        }));
    }
    let heads = ["", "Answers", "Mean confidence", "Right", "Brier", "ECE"];
    Table::of(1, &heads, rows)
}

fn reliability_row(name: String, reliability: &Reliability) -> Vec<Line> {
    vec![
        figure(name),
        figure(reliability.count.to_string()),
        figure(percent(reliability.mean_stated)),
        figure(percent(reliability.mean_right)),
        figure(format!("{:.3}", reliability.brier)),
        figure(format!("{:.3}", reliability.expected_calibration_error)),
    ]
}

pub(super) fn bins(reliability: &Reliability) -> Option<Part> {
    let rows = reliability.bins.iter().map(|bin| {
        vec![
            figure(format!("{:.0}-{}", bin.from * 100.0, whole_percent(bin.to))),
            figure(bin.count.to_string()),
            figure(percent(bin.mean_stated)),
            figure(percent(bin.mean_right)),
        ]
    });
    let heads = ["Confidence", "Answers", "Mean confidence", "Right"];
    Table::of(1, &heads, rows.collect())
}

pub(super) fn debate(report: &BenchmarkReport) -> Vec<Part> {
    let figures = report
        .arms
        .iter()
        .find_map(|arm| arm.debate.zip(arm.early_stops));
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
        row(
            label,
            &[
                of.wrong_to_right,
                of.right_to_wrong,
                of.both_right,
                of.both_wrong,
            ],
        )
    });
    let heads = [
        "From, to",
        "Wrong to right",
        "Right to wrong",
        "Both right",
        "Both wrong",
    ];
    let mut parts: Vec<Part> = Table::of(1, &heads, rows.collect()).into_iter().collect();
    if stops.stopped.whole() > 0 {
        let right = |share: Proportion| format!("{} of {} right", share.part(), share.whole());
        let [stopped, full] = [right(stops.stopped), right(stops.full)];
        let mut line = Line::of("Early stops: {}; full debates: {}.", [&stopped, &full]);
        if stops.saved_known > 0 {
            line = line.and(" They saved about {}.", [&cost_in_words(stops.saved)]);
        }
        parts.push(Part::Paragraph(line));
    }
    parts
}

pub(super) fn experts(report: &BenchmarkReport) -> Option<Part> {
    let experts = report.arms.iter().flat_map(|arm| &arm.experts);
    let rows = experts.map(|expert| {
        vec![
            cell(expert.seat.as_str()),
            cell(&expert.model.to_string()),
            figure(accuracy(&expert.accuracy)),
            known(expert.cost_per_case.map(amount)),
        ]
    });
    let heads = ["Expert", "Model", "Accuracy in Round 1", "Cost per case"];
    Table::of(2, &heads, rows.collect())
}
