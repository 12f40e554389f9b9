//! The list of all cases with their answers and the ids of their records.

use std::time::Duration;

use maud::{Markup, html};

use super::figures::{arm_name, known};
use crate::benchmark::report::BenchmarkReport;
use crate::benchmark::report::misses::Miss;
use crate::benchmark::report::words::whole_percent;
use crate::benchmark::result::{CaseOutcome, CaseResult};
use crate::benchmark::run::CaseRunId;
use crate::domain::text::shortened;
use crate::domain::words::{amount, seconds};
use crate::records::page::elements::inline;

/// Characters of the longest answer; the record has the whole.
const LONGEST_ANSWER: usize = 300;

pub(super) fn cases(report: &BenchmarkReport) -> Markup {
    let heads = ["Arm", "Outcome", "Expected", "Answer"];
    let figures = ["Confidence", "Time", "Cost"];
    html! {
        @if !report.results.is_empty() || !report.not_done.is_empty() {
            p.quiet { code { "conclave history show RECORD" } " shows a record." }
            div.wide {
                table.cases {
                    thead {
                        tr {
                            th scope="col" { "Case" }
                            @for head in heads { th scope="col" { (head) } }
                            @for head in figures { th.number scope="col" { (head) } }
                            th scope="col" { "Record" }
                        }
                    }
                    tbody {
                        @for result in &report.results { (finished(report, result)) }
                        @for run in &report.not_done {
                            tr {
                                (name(report, run))
                                td { "not done" }
                                @for _ in 0..6 { td { "–" } }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn name(report: &BenchmarkReport, run: &CaseRunId) -> Markup {
    html! {
        th scope="row" {
            (inline(run.case.as_str()))
            @if report.terms.repetitions > 1 { " #" (run.repetition) }
        }
        td { (arm_name(run.arm)) }
    }
}

fn finished(report: &BenchmarkReport, result: &CaseResult) -> Markup {
    let miss = Miss {
        result,
        case: report.case(&result.run.case),
    };
    let outcome = match result.outcome {
        CaseOutcome::Approved => html! { "right" },
        CaseOutcome::Rejected => html! { strong.wrong { "wrong" } },
        CaseOutcome::Failed | CaseOutcome::Infrastructure => {
            html! { strong.wrong { "no answer" } }
        }
    };
    let text = |text: &str| html! { span.said dir="auto" { (shortened(text, LONGEST_ANSWER)) } };
    let time = seconds(Duration::from_millis(result.duration_ms));
    let record = result.consultations.last();
    html! {
        tr {
            (name(report, &result.run))
            td { (outcome) }
            td { (text(miss.expected())) }
            td { (text(miss.given())) }
            td.number { (known(result.confidence.map(whole_percent))) }
            td.number { (time) }
            td.number { (amount(result.spend.cost)) }
            td { @if let Some(record) = record { code { (record.as_str()) } } }
        }
    }
}
