//! The cases: those that are not right, and on a page all of them.

use super::figures::{cell, known, milliseconds};
use crate::benchmark::report::BenchmarkReport;
use crate::benchmark::report::words::whole_percent;
use crate::benchmark::result::{CaseOutcome, CaseResult};
use crate::benchmark::run::CaseRunId;
use crate::domain::ids::short_id;
use crate::terminal::document::{Line, Part, Table, paragraph};
use crate::terminal::output::format::amount;
use crate::terminal::report::sections::Detail;
use crate::text::clean::count;

/// Rows of a long table on a screen.
const MAX_ROWS: usize = 8;

pub(super) fn misses(report: &BenchmarkReport, detail: Detail) -> Vec<Part> {
    let misses = report.misses();
    let number = count(misses.len(), "case run");
    let row = |miss: &&CaseResult| {
        let mut row = name(report, &miss.run).to_vec();
        row.extend([cell(report.expected(miss)), cell(miss.given())]);
        row.extend((detail == Detail::Full).then(|| record(miss)));
        row.push(known(miss.confidence.map(whole_percent)));
        row
    };
    let rows = misses.iter().map(row);
    if detail == Detail::Brief {
        let heads = ["Case", "Arm", "Expected", "Given", "Confidence"];
        return first(Table::of(4, &heads, rows));
    }
    let heads = ["Case", "Arm", "Expected", "Given", "Record", "Confidence"];
    let hint = paragraph("{}; `conclave history show RECORD` shows one.", [&number]);
    let table = Table::of(5, &heads, rows).map(|table| [hint, table]);
    table.into_iter().flatten().collect()
}

/// Keeps the first rows of a table, and says how many more there are.
pub(super) fn first(table: Option<Part>) -> Vec<Part> {
    let Some(Part::Table(mut table)) = table else {
        return Vec::new();
    };
    let left_out = table.rows.len().saturating_sub(MAX_ROWS);
    table.rows.truncate(MAX_ROWS);
    let rest = paragraph("and {} more", [&left_out.to_string()]);
    let rest = Some(rest).filter(|_| left_out > 0);
    std::iter::once(Part::Table(table)).chain(rest).collect()
}

pub(super) fn next_steps(report: &BenchmarkReport) -> Vec<(String, String)> {
    let misses = report.misses();
    let record = misses.first().and_then(|miss| miss.consultations.last());
    let case = record.map(|record| {
        (
            format!("conclave history show {}", short_id(record.as_str())),
            "one case".to_owned(),
        )
    });
    let run = short_id(report.run_id.as_str());
    let page = format!("conclave benchmark report {run} -o report.html");
    let resume = report.notices().into_iter();
    let resume = resume.filter_map(|notice| Some((notice.command?, "resume it".to_owned())));
    let all = [(page, "all cases".to_owned())];
    resume.chain(case).chain(all).collect()
}

fn name(report: &BenchmarkReport, run: &CaseRunId) -> [Line; 2] {
    let mut case = cell(run.case.as_str());
    if report.terms.repetitions > 1 {
        case = case.and(" #{}", [&run.repetition.to_string()]);
    }
    [case, run.arm.name().into()]
}

fn record(result: &CaseResult) -> Line {
    let record = result.consultations.last();
    record.map_or("-".into(), |id| Line::default().consultations([id]))
}

/// Case runs without a result come last.
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
    let finished = report.results.iter().map(|result| finished(report, result));
    let not_done = report.not_done.iter().map(|run| {
        let mut row = name(report, run).to_vec();
        row.push("not done".into());
        row.resize_with(heads.len(), || known(None));
        row
    });
    let hint = paragraph("`conclave history show RECORD` shows a record.", []);
    let table = Table::of(6, &heads, finished.chain(not_done));
    let table = table.map(|table| [hint, table]);
    table.into_iter().flatten().collect()
}

fn finished(report: &BenchmarkReport, result: &CaseResult) -> Vec<Line> {
    let outcome = match result.outcome {
        CaseOutcome::Approved => "right",
        CaseOutcome::Rejected => "**wrong**",
        CaseOutcome::Failed => "**no answer**",
    };
    let mut row = name(report, &result.run).to_vec();
    row.extend([
        outcome.into(),
        cell(report.expected(result)),
        cell(result.given()),
        record(result),
        known(result.confidence.map(whole_percent)),
        milliseconds(result.duration_ms).into(),
        amount(result.spend.cost).into(),
    ]);
    row
}
