//! The report of a benchmark: as Markdown, and as a page with plots and all cases.

mod figures;
mod cases;
mod plot;
mod accuracy_plot;
mod reliability_plot;

use std::collections::BTreeSet;

use super::page::moment;
use crate::benchmark::report::BenchmarkReport;
use crate::benchmark::report::arm::ArmReport;
use crate::benchmark::report::words::{accuracy, cost_in_words};
use crate::benchmark::run::{Arm, RunId};
use crate::terminal::document::{self, Line, Part, list, titled};
use crate::terminal::output::format::thousands;
use crate::text::clean::count;

/// Writes the report.
pub fn markdown(report: &BenchmarkReport) -> String {
    let title = Line::of("Benchmark: {}", [&report.terms.suite.name]);
    let mut facts = vec![
        Line::of(
            "**Run:** {} ({})",
            [report.run_id.as_str(), report.run_status.name()],
        ),
        Line::of("**Cases:** {}", [&report.terms.cases.len().to_string()]),
    ];
    facts.extend(models(report));
    let mut parts = vec![Part::Heading(1, title), Part::Facts(facts)];
    parts.extend(notices(report));
    parts.extend(figures::arms(report));
    parts.extend(titled(2, "Comparison", comparison(report)));
    parts.extend(titled(2, "By Tag", figures::tags(report)));
    parts.extend(titled(2, "Transcriptions", figures::error_rates(report)));
    parts.extend(titled(2, "Calibration", figures::calibration(report)));
    parts.extend(titled(2, "Debate", figures::debate(report)));
    parts.extend(titled(2, "Experts Alone", figures::experts(report)));
    parts.extend(titled(2, "Cases That Are Not Right", cases::misses(report)));
    document::markdown(&parts)
}

/// Renders the page: the result, the plots with the figures under each, and all cases.
pub fn page(report: &BenchmarkReport) -> String {
    let name = report.terms.suite.name.as_str();
    let mut parts: Vec<Part> = notices(report).into_iter().collect();
    parts.push(Part::Heading(1, Line::of("Benchmark {}", [name])));
    parts.push(Part::Facts(head(report)));
    parts.extend(titled(2, "Result", result(report)));
    let mut arms: Vec<Part> = figures::arms(report).into_iter().collect();
    arms.extend(figures::pairs(report));
    parts.extend(titled(2, "Figures", arms));
    parts.extend(titled(
        2,
        "Accuracy and Cost",
        accuracy_plot::accuracy_and_cost(report),
    ));
    parts.extend(titled(2, "By Tag", figures::tags(report)));
    parts.extend(titled(
        2,
        "Calibration",
        reliability_plot::calibration(report),
    ));
    parts.extend(titled(2, "Debate", figures::debate(report)));
    parts.extend(titled(2, "Transcriptions", figures::error_rates(report)));
    parts.extend(titled(2, "Cases", cases::all(report)));
    parts.extend(titled(
        2,
        "About this page",
        vec![Part::Facts(origin(report))],
    ));
    document::page(
        &format!("Benchmark {name}"),
        "Benchmark",
        &parts,
        &BTreeSet::new(),
    )
}

fn notices(report: &BenchmarkReport) -> Option<Part> {
    let lines = report.notices().into_iter().map(|notice| {
        let command = notice.command.unwrap_or_default();
        Part::Paragraph(Line::foreign(notice.text).with(" Resume it with `{}`.", &command))
    });
    let lines: Vec<Part> = lines.collect();
    (!lines.is_empty()).then_some(Part::Notice(lines))
}

fn head(report: &BenchmarkReport) -> Vec<Line> {
    vec![
        Line::foreign(moment(report.started_at)),
        Line::foreign(report.run_status.name()),
        Line::foreign(count(report.terms.cases.len(), "case")),
        Line::foreign(cost_in_words(report.spend.cost)),
        Line::of("{} calls", [&thousands(report.spend.calls)]),
        Line::of("{} tokens", [&thousands(report.spend.tokens())]),
    ]
}

/// The models of each arm.
fn models(report: &BenchmarkReport) -> impl Iterator<Item = Line> {
    report.arms.iter().map(|arm| {
        let judge = arm.judge.iter().map(|judge| format!("judge {judge}"));
        let agents: Vec<String> = arm.seats.iter().cloned().chain(judge).collect();
        Line::of("**{}:** {}", [arm_name(arm.arm), &agents.join(", ")])
    })
}

fn arm_name(arm: Arm) -> &'static str {
    match arm {
        Arm::Panel => "Panel",
        Arm::Single => "Single model",
    }
}

/// The headline of each arm, and what the comparison means.
fn result(report: &BenchmarkReport) -> Vec<Part> {
    let headlines = list(report.arms.iter().map(headline));
    let sentence = report.comparison.as_ref();
    let sentence = sentence.map(|comparison| Line::foreign(&comparison.sentence));
    headlines
        .into_iter()
        .chain(sentence.map(Part::Paragraph))
        .collect()
}

fn headline(arm: &ArmReport) -> Line {
    let line = Line::of("**{}**: ", [arm_name(arm.arm)]);
    let cost = cost_in_words(arm.spend.cost);
    match &arm.accuracy {
        None => line.and("no result yet, for {}", [&cost]),
        Some(share) => line.and(
            "{} right, {} of {}, for {}",
            [
                &accuracy(share),
                &share.right.to_string(),
                &share.of.to_string(),
                &cost,
            ],
        ),
    }
}

fn comparison(report: &BenchmarkReport) -> Vec<Part> {
    let sentence = report.comparison.as_ref();
    let sentence = sentence.map(|comparison| Line::foreign(&comparison.sentence));
    let sentence = sentence.map(Part::Paragraph);
    sentence.into_iter().chain(figures::pairs(report)).collect()
}

/// The ids, the models and the suite.
fn origin(report: &BenchmarkReport) -> Vec<Line> {
    let suite = &report.terms.suite;
    let mut facts = vec![Line::of("**Run:** {}", [report.run_id.as_str()])];
    let merged: Vec<&str> = report.merged_from.iter().map(RunId::as_str).collect();
    if !merged.is_empty() {
        facts.push(Line::of("**Merged from:** {}", [&merged.join(", ")]));
    }
    facts.push(Line::of(
        "**Suite:** {} (SHA-256 {})",
        [&suite.path, &suite.sha256],
    ));
    facts.extend(models(report));
    facts.push(Line::of(
        "**Written by:** conclave {}",
        [&report.terms.tool_version],
    ));
    facts
}
