//! The report of a benchmark as a page: the result, the plots with the figures under each, and all
//! cases. The plots are SVG in the page; colours come from its style sheet, for light and dark, and
//! shapes and letters name each mark without them.

mod plot;
mod accuracy_plot;
mod reliability_plot;
mod figures;
mod cases;

use maud::{Markup, html};

use self::figures::{ARM_NAMES, arm_name};
use super::elements::{inline, joined, moment, section};
use super::{document, short_title};
use crate::benchmark::report::BenchmarkReport;
use crate::benchmark::report::words::cost_in_words;
use crate::benchmark::run::RunId;
use crate::domain::words::thousands;

/// Renders the page.
pub fn page(report: &BenchmarkReport) -> String {
    let name = &report.terms.suite.name;
    let title = short_title(&format!("Benchmark {name}"), "Benchmark");
    let body = html! {
        (notices(report))
        (head(report))
        (figures::result(report))
        (section("Accuracy and Cost", &accuracy_plot::accuracy_and_cost(report)))
        (section("By Tag", &figures::tags(report)))
        (section("Calibration", &reliability_plot::calibration(report)))
        (section("Debate", &figures::debate(report)))
        (section("Transcriptions", &figures::error_rates(report)))
        (section("Cases", &cases::cases(report)))
        (colophon(report))
    };
    document(&title, include_str!("plot.css"), &body)
}

fn notices(report: &BenchmarkReport) -> Markup {
    let notices = report.notices();
    html! {
        @if !notices.is_empty() {
            aside.notice {
                @for notice in notices {
                    p {
                        (inline(&notice.text))
                        @if let Some(command) = notice.command {
                            " Resume it with " code { (command) } "."
                        }
                    }
                }
            }
        }
    }
}

fn head(report: &BenchmarkReport) -> Markup {
    let cases = u64::try_from(report.terms.cases.len()).unwrap_or(u64::MAX);
    html! {
        header {
            p.label { "Benchmark" }
            h1.said dir="auto" { (report.terms.suite.name) }
            ul.facts {
                li { (moment(report.started_at)) }
                li { (report.run_status.name()) }
                li { (thousands(cases)) @if cases == 1 { " case" } @else { " cases" } }
                li { (cost_in_words(report.spend.cost)) }
                li { (thousands(report.spend.calls)) " calls" }
                li { (thousands(report.spend.tokens())) " tokens" }
            }
        }
    }
}

/// The ids, the models and the suite.
fn colophon(report: &BenchmarkReport) -> Markup {
    let suite = &report.terms.suite;
    html! {
        footer {
            h2 { "About this page" }
            dl.facts {
                (fact("Run", &inline(report.run_id.as_str())))
                (fact("Merged from", &joined(report.merged_from.iter().map(RunId::as_str))))
                (fact("Suite", &html! { (inline(&suite.path)) " (SHA-256 " (inline(&suite.sha256)) ")" }))
                @for arm in ARM_NAMES {
                    @for report in report.arms.iter().filter(|report| report.arm == arm) {
                        (fact(arm_name(arm), &joined(&report.seats)))
                        @if let Some(judge) = &report.judge { (fact("Judge", &inline(judge))) }
                    }
                }
                (fact("Written by", &html! { "conclave " (inline(&report.terms.tool_version)) }))
            }
        }
    }
}

fn fact(term: &str, value: &Markup) -> Markup {
    html! { @if !value.0.is_empty() { div { dt { (term) } dd { (value) } } } }
}
