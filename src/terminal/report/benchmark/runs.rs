//! The runs of a home as a list, and two of them side by side.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::figures::{cell, figures_of, known, left_out};
use super::{accuracy_and_cost, arm_name, plots};
use crate::benchmark::report::BenchmarkReport;
use crate::benchmark::report::accuracy::Accuracy;
use crate::benchmark::report::arm::ArmReport;
use crate::benchmark::report::words::{interval, p_value, percent};
use crate::benchmark::result::CaseResult;
use crate::benchmark::run::{Arm, CaseRunId};
use crate::benchmark::statistics::paired::PairedCounts;
use crate::terminal::document::{Line, Part, Table, fact, paragraph, titled};
use crate::terminal::output::format::{amount, count};
use crate::terminal::report::consultation::moment;
use crate::terminal::report::sections::Detail;

/// The address of a run's page.
fn address(report: &BenchmarkReport) -> String {
    format!("/benchmarks/{}", report.run_id)
}

/// The runs, newest first, and how accurate they were.
pub fn list_of_runs(reports: &[Arc<BenchmarkReport>]) -> Vec<Part> {
    let rows = reports.iter().enumerate().map(|(at, report)| {
        let of = |arm| {
            let arm = report.arms.iter().find(|one| one.arm == arm);
            let share = arm.and_then(|arm| arm.accuracy.as_ref());
            let words =
                |of: &Accuracy| format!("{} ({})", percent(of.share), interval(of.interval));
            known(share.map(words))
        };
        let per_right = report.arms.first().and_then(|arm| arm.spend.cost_per_right);
        let mut older = reports.iter().skip(at + 1);
        let before = older.find(|older| older.terms.suite.name == report.terms.suite.name);
        let beside = before.map(|before| {
            let address = format!("/compare?a={}&b={}", before.run_id, report.run_id);
            Line::link(address, "compare")
        });
        vec![
            Line::link(address(report), Line::foreign(&report.terms.suite.name)),
            moment(report.started_at).into(),
            report.run_status.name().into(),
            of(Arm::Panel),
            of(Arm::Single),
            beside.unwrap_or_default(),
            known(per_right.map(amount)),
            amount(report.spend.cost).into(),
        ]
    });
    let heads = [
        "Suite",
        "Begun",
        "State",
        "Panel",
        "Single model",
        "With the run before",
        "Per right answer",
        "Cost",
    ];
    let table = Table::of(6, &heads, rows);
    let none = || paragraph("There are no runs yet: `conclave benchmark SUITE`", []);
    let runs = count(reports.len(), "run");
    let about = "{}, the newest first. Accuracy with its 95% interval.";
    let mut parts = vec![
        Part::Heading(1, "Benchmarks".into()),
        paragraph(about, [&runs]),
    ];
    parts.extend(plots::accuracy_of_runs(reports));
    parts.push(table.unwrap_or_else(none));
    parts
}

/// The earlier one first.
pub fn two_runs(one: &BenchmarkReport, other: &BenchmarkReport) -> Vec<Part> {
    let mut in_order = [one, other];
    in_order.sort_by(|one, other| one.run_id.cmp(&other.run_id));
    let [first, second] = in_order;
    let both = [("First run", first), ("Second run", second)];
    let title = Line::of("Two runs of {}", [&first.terms.suite.name]);
    let mut parts = vec![Part::Heading(1, title)];
    if first.terms.suite.sha256 != second.terms.suite.sha256 {
        let note = "The suite is not the same file in both: cases are matched by their ids.";
        parts.push(Part::Notice(vec![paragraph(note, [])]));
    }
    let runs = both.map(|(side, report)| {
        let link = Line::link(address(report), Line::foreign(report.run_id.as_str()));
        let begun = Line::from(moment(report.started_at));
        let facts = [
            fact("Run", link),
            begun.into(),
            Line::from(report.run_status.name()).into(),
        ];
        let facts = facts.into_iter();
        let headlines = report.arms.iter().map(super::headline);
        let parts = [
            Some(Part::Heading(3, side.into())),
            Some(Part::Facts(facts.chain(super::models(report)).collect())),
            crate::terminal::document::list(headlines),
        ];
        parts.into_iter().flatten().collect()
    });
    parts.push(Part::Articles(runs.to_vec()));
    let columns = both.iter().flat_map(|(_, report)| &report.arms);
    let heads = both
        .iter()
        .flat_map(|(side, report)| report.arms.iter().map(|arm| head(side, arm)));
    let columns: Vec<(&'static str, &ArmReport)> = heads.zip(columns).collect();
    let mut empty = left_out(first);
    empty.retain(|label| left_out(second).contains(label));
    let figures = figures_of(&columns, Detail::Full, &empty);
    parts.extend(titled(2, "Figures", figures));
    parts.extend(titled(2, "Accuracy and Cost", accuracy_and_cost(&both)));
    parts.extend(cases(first, second));
    parts
}

fn head(side: &str, arm: &ArmReport) -> &'static str {
    match (side, arm.arm) {
        ("First run", Arm::Panel) => "First run, panel",
        ("First run", Arm::Single) => "First run, single model",
        (_, Arm::Panel) => "Second run, panel",
        (_, Arm::Single) => "Second run, single model",
    }
}

/// What both runs have answered: how often each was right, and each case in which they differ.
fn cases(first: &BenchmarkReport, second: &BenchmarkReport) -> Vec<Part> {
    let later = second.results.iter().map(|result| (&result.run, result));
    let later: BTreeMap<&CaseRunId, &CaseResult> = later.collect();
    let pairs = first.results.iter();
    let pairs = pairs.filter_map(|result| Some((result, *later.get(&result.run)?)));
    let pairs: Vec<(&CaseResult, &CaseResult)> = pairs.collect();
    let results = pairs.iter();
    let results = results.map(|(first, second)| (first.is_right(), second.is_right()));
    let counts = PairedCounts::of(results);
    let words = [counts.both_right, counts.only_first, counts.only_second];
    let [both, only_first, only_second] = words.map(|count| count.to_string());
    let p = p_value(counts.mcnemar_p());
    let counted = "Right in both: {}; only in the first: {}; only in the second: {} (McNemar's test \
                   of chance: {}).";
    let counted = paragraph(counted, [&both, &only_first, &only_second, &p]);
    let of = |differ: bool| {
        let rows = pairs.iter();
        let rows = rows.filter(move |(one, other)| (one.is_right() != other.is_right()) == differ);
        let rows = rows.map(|(one, other)| case(first, one, other));
        let heads = ["Case", "Arm", "Expected", "First run", "Second run"];
        Table::of(5, &heads, rows)
    };
    let mut parts = titled(2, "Cases", (counts.total() > 0).then_some(counted));
    parts.extend(titled(3, "Right in one of the two", of(true)));
    let title = "Cases with the same result";
    parts.extend(of(false).map(|table| Part::Folded(title.into(), vec![table])));
    parts
}

fn case(report: &BenchmarkReport, one: &CaseResult, other: &CaseResult) -> Vec<Line> {
    let answer = |result: &CaseResult| {
        let outcome = if result.is_right() { "" } else { "**wrong**: " };
        let answer = Line::from(outcome).then(cell(result.given()));
        let record = result.consultations.last();
        answer.and(" ", []).consultations(record)
    };
    vec![
        cell(one.run.case.as_str()),
        arm_name(one.run.arm).into(),
        cell(report.expected(one)),
        answer(one),
        answer(other),
    ]
}
