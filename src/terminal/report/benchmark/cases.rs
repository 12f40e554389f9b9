//! The cases: those that are not right, and on a page all of them.

use std::time::Duration;

use super::figures::{cell, figure, known};
use crate::benchmark::report::BenchmarkReport;
use crate::benchmark::report::misses::Miss;
use crate::benchmark::report::words::whole_percent;
use crate::benchmark::result::{CaseOutcome, CaseResult};
use crate::benchmark::run::CaseRunId;
use crate::terminal::document::{Line, Part, Table};
use crate::terminal::output::format::{amount, seconds};
use crate::text::clean::count;

pub(super) fn misses(report: &BenchmarkReport) -> Vec<Part> {
    let misses = report.misses();
    let number = count(misses.len(), "case run");
    let rows = misses.iter().map(|miss| miss_row(report, miss)).collect();
    let heads = ["Case", "Arm", "Expected", "Given", "Record", "Confidence"];
    let table = Table::of(5, &heads, rows);
    let hint = Line::of("{}; `conclave history show RECORD` shows one.", [&number]);
    let table = table.map(|table| [Part::Paragraph(hint), table]);
    table.into_iter().flatten().collect()
}

fn miss_row(report: &BenchmarkReport, miss: &Miss<'_>) -> Vec<Line> {
    let [case, arm] = name(report, &miss.result.run);
    vec![
        case,
        arm,
        cell(miss.expected()),
        cell(miss.given()),
        record(miss.result),
        known(miss.result.confidence.map(whole_percent)),
    ]
}

/// The case with its repetition, and the arm.
fn name(report: &BenchmarkReport, run: &CaseRunId) -> [Line; 2] {
    let mut case = cell(run.case.as_str());
    if report.terms.repetitions > 1 {
        case = case.and(" #{}", [&run.repetition.to_string()]);
    }
    [case, figure(run.arm.name())]
}

fn record(result: &CaseResult) -> Line {
    let record = result.consultations.last();
    record.map_or_else(|| known(None), |record| Line::foreign(record.as_str()))
}

/// All case runs, those without a result last.
pub(super) fn all(report: &BenchmarkReport) -> Vec<Part> {
    let heads = [
        "Case",
        "Arm",
        "Outcome",
        "Expected",
        "Answer",
        "Record",
        "Confidence",
        "Time",
        "Cost",
    ];
    let mut rows: Vec<Vec<Line>> = report
        .results
        .iter()
        .map(|result| finished(report, result))
        .collect();
    rows.extend(report.not_done.iter().map(|run| {
        let mut row = name(report, run).to_vec();
        row.push(figure("not done"));
        row.resize_with(heads.len(), || known(None));
        row
    }));
    let hint = Line::of("`conclave history show RECORD` shows a record.", []);
    let table = Table::of(6, &heads, rows).map(|table| [Part::Paragraph(hint), table]);
    table.into_iter().flatten().collect()
}

fn finished(report: &BenchmarkReport, result: &CaseResult) -> Vec<Line> {
    let miss = Miss {
        result,
        case: report.case(&result.run.case),
    };
    let outcome = match result.outcome {
        CaseOutcome::Approved => Line::of("right", []),
        CaseOutcome::Rejected => Line::of("**wrong**", []),
        CaseOutcome::Failed | CaseOutcome::Infrastructure => Line::of("**no answer**", []),
    };
    let mut row = name(report, &result.run).to_vec();
    row.extend([
        outcome,
        cell(miss.expected()),
        cell(miss.given()),
        record(result),
        known(result.confidence.map(whole_percent)),
        figure(seconds(Duration::from_millis(result.duration_ms))),
        figure(amount(result.spend.cost)),
    ]);
    row
}
