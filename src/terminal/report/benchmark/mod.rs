//! The report of a benchmark: as Markdown, as a page with plots and all cases, and as a screen with
//! the figures that decide and the cases to look at.

mod figures;
mod cases;
mod plots;
mod runs;

pub(in crate::terminal) use self::figures::{bins, reliability_row};
use self::plots::accuracy_and_cost;
pub(in crate::terminal) use self::plots::diagram;
pub use self::runs::{list_of_runs, two_runs};

use std::collections::BTreeSet;

use super::consultation::moment;
use super::sections::Detail;
use crate::benchmark::report::BenchmarkReport;
use crate::benchmark::report::arm::ArmReport;
use crate::benchmark::report::words::{accuracy, cost_in_words};
use crate::benchmark::run::{Arm, RunId};
use crate::terminal::document::{self, Fact, Line, Part, fact, list, titled};
use crate::terminal::output::format::thousands;
use crate::text::clean::count;

/// Writes the report, with the cases that are not right.
pub fn markdown(report: &BenchmarkReport) -> String {
    let misses = cases::misses(report, Detail::Full);
    let cases = titled(2, "Cases That Are Not Right", misses);
    document::markdown(&parts(report, cases))
}

/// Renders the page, with all cases.
pub fn page(report: &BenchmarkReport) -> String {
    let title = format!("Benchmark {}", report.terms.suite.name);
    document::page(&title, "Benchmark", &page_parts(report), &BTreeSet::new())
}

pub fn page_parts(report: &BenchmarkReport) -> Vec<Part> {
    parts(report, titled(2, "Cases", cases::all(report)))
}

fn parts(report: &BenchmarkReport, cases: Vec<Part>) -> Vec<Part> {
    let title = Line::of("Benchmark {}", [&report.terms.suite.name]);
    let notices = notices(report, Detail::Full);
    let mut parts: Vec<Part> = notices.into_iter().collect();
    parts.push(Part::Heading(1, title));
    parts.push(Part::Facts(head(report).map(Fact::from).to_vec()));
    let headlines = list(report.arms.iter().map(headline));
    let result = headlines.into_iter().chain(sentence(report));
    parts.extend(titled(2, "Result", result));
    let arms = figures::arms(report, Detail::Full);
    let figures = arms.into_iter().chain(figures::pairs(report));
    parts.extend(titled(2, "Figures", figures));
    let plot = accuracy_and_cost(&[("", report)]);
    parts.extend(titled(2, "Accuracy and Cost", plot));
    parts.extend(titled(2, "By Tag", figures::tags(report)));
    parts.extend(titled(2, "Calibration", plots::calibration(report)));
    parts.extend(titled(2, "Debate", figures::debate(report)));
    parts.extend(titled(2, "Transcriptions", figures::error_rates(report)));
    parts.extend(cases);
    parts.extend(titled(
        2,
        "About this report",
        [Part::Facts(origin(report))],
    ));
    parts
}

/// Returns what a terminal shows; the page, the Markdown and the JSON have everything.
pub fn summary(report: &BenchmarkReport) -> Vec<Part> {
    let title = Line::of("Benchmark {}", [&report.terms.suite.name]);
    let cases = count(report.terms.cases.len(), "case");
    let run = [&cases, report.run_id.as_str(), report.run_status.name()];
    let mut parts = vec![
        Part::Heading(1, title),
        Part::Paragraph(Line::of("{}, {}, {}", run)),
    ];
    parts.extend(notices(report, Detail::Brief));
    parts.extend(figures::arms(report, Detail::Brief));
    parts.extend(titled(2, "Comparison", sentence(report)));
    parts.extend(titled(2, "By tag", cases::first(figures::tags(report))));
    parts.extend(titled(2, "Transcriptions", figures::error_rates(report)));
    let calibration = figures::reliability_table(report, Detail::Brief);
    parts.extend(titled(2, "Calibration", calibration));
    parts.extend(titled(2, "Debate", figures::debate(report)));
    let misses = cases::misses(report, Detail::Brief);
    parts.extend(titled(2, "Not right", misses));
    parts.push(Part::Next(cases::next_steps(report)));
    parts
}

/// A screen has the commands at its end, unwrapped.
fn notices(report: &BenchmarkReport, detail: Detail) -> Option<Part> {
    let lines = report.notices().into_iter().map(|notice| {
        let command = notice.command.filter(|_| detail == Detail::Full);
        let command = command.unwrap_or_default();
        Part::Paragraph(Line::foreign(notice.text).with(" Resume it with `{}`.", &command))
    });
    let lines: Vec<Part> = lines.collect();
    (!lines.is_empty()).then_some(Part::Notice(lines))
}

fn head(report: &BenchmarkReport) -> [Line; 6] {
    let tokens = report.spend.input_tokens + report.spend.output_tokens;
    [
        moment(report.started_at).into(),
        report.run_status.name().into(),
        count(report.terms.cases.len(), "case").into(),
        cost_in_words(report.spend.cost).into(),
        Line::of("{} calls", [&thousands(report.spend.calls)]),
        Line::of("{} tokens", [&thousands(tokens)]),
    ]
}

fn models(report: &BenchmarkReport) -> impl Iterator<Item = Fact> {
    report.arms.iter().map(|arm| {
        let judge = arm.judge.iter().map(|judge| format!("judge {judge}"));
        let agents: Vec<String> = arm.seats.iter().cloned().chain(judge).collect();
        fact(arm_name(arm.arm), agents.join(", "))
    })
}

fn arm_name(arm: Arm) -> &'static str {
    match arm {
        Arm::Panel => "Panel",
        Arm::Single => "Single model",
    }
}

fn headline(arm: &ArmReport) -> Line {
    let line = Line::of("**{}**: ", [arm_name(arm.arm)]);
    let cost = cost_in_words(arm.spend.cost);
    let Some(share) = &arm.accuracy else {
        return line.and("no result yet, for {}", [&cost]);
    };
    let (right, of) = (share.right.to_string(), share.of.to_string());
    let figures = [&accuracy(share), &right, &of, &cost];
    line.and("{} right, {} of {}, for {}", figures.map(String::as_str))
}

fn sentence(report: &BenchmarkReport) -> Option<Part> {
    let comparison = report.comparison.as_ref()?;
    Some(Part::Paragraph(Line::foreign(&comparison.sentence)))
}

fn origin(report: &BenchmarkReport) -> Vec<Fact> {
    let suite = &report.terms.suite;
    let mut facts = vec![fact("Run", report.run_id.to_string())];
    let merged: Vec<&str> = report.merged_from.iter().map(RunId::as_str).collect();
    if !merged.is_empty() {
        facts.push(fact("Merged from", merged.join(", ")));
    }
    let file = Line::of("{} (SHA-256 {})", [&suite.path, &suite.sha256]);
    facts.push(fact("Suite", file));
    facts.extend(models(report));
    let version = Line::of("conclave {}", [&report.terms.tool_version]);
    facts.push(fact("Written by", version));
    facts
}
