//! A report as JUnit XML, for CI servers: a test suite for each arm, a test case for each case run.
//!
//! Wrong answers are failures, missing answers errors, and case runs that are not done skipped. The
//! elements and attributes are those of the schema of Jenkins (`junit-10.xsd`), which other servers
//! read as well.

use std::time::Duration;

use super::report::BenchmarkReport;
use super::report::arm::{ArmReport, OutcomeCounts};
use super::result::{CaseOutcome, CaseResult};
use super::run::CaseRunId;
use crate::domain::ids::ConsultationId;
use crate::text::clean::{clean, shortened};

/// Characters of the longest answer in an attribute; the element's text has the whole.
const LONGEST_IN_ATTRIBUTE: usize = 200;

pub fn junit(report: &BenchmarkReport) -> String {
    let suites: String = report.arms.iter().map(|arm| suite(report, arm)).collect();
    let sum = |count: fn(&OutcomeCounts) -> u64| {
        let counts = report.arms.iter().map(|arm| count(&arm.counts));
        counts.sum::<u64>().to_string()
    };
    let attributes = [
        ("name", "conclave benchmark".to_owned()),
        ("tests", sum(|counts| counts.total)),
        ("failures", sum(|counts| counts.rejected)),
        ("errors", sum(|counts| counts.failed)),
        ("time", seconds(report.results.iter())),
    ];
    let all = element("testsuites", &attributes, 0, &suites);
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{all}")
}

fn suite(report: &BenchmarkReport, arm: &ArmReport) -> String {
    let name = format!("{}.{}", report.terms.suite.name, arm.arm.name());
    let results = report.results.iter();
    let results = results.filter(|result| result.run.arm == arm.arm);
    let not_done = report.not_done.iter().filter(|run| run.arm == arm.arm);
    let finished = results.clone().map(|result| {
        let children = outcome(report, result);
        let time = seconds(std::iter::once(result));
        case(report, &name, &result.run, time, &children)
    });
    let skipped = "      <skipped message=\"not done\"/>\n";
    let skipped = not_done.map(|run| case(report, &name, run, "0.000".to_owned(), skipped));
    let cases: String = finished.chain(skipped).collect();
    let counts = &arm.counts;
    let attributes = [
        ("name", name.clone()),
        ("tests", counts.total.to_string()),
        ("failures", counts.rejected.to_string()),
        ("errors", counts.failed.to_string()),
        ("skipped", counts.not_done.to_string()),
        ("time", seconds(results)),
    ];
    element("testsuite", &attributes, 2, &cases)
}

fn case(
    report: &BenchmarkReport,
    suite: &str,
    run: &CaseRunId,
    time: String,
    children: &str,
) -> String {
    let name = match report.terms.repetitions {
        0 | 1 => run.case.to_string(),
        _ => format!("{} #{}", run.case, run.repetition),
    };
    let tags = report.case(&run.case).map(|case| case.tags.as_slice());
    let class = match tags.and_then(<[String]>::first) {
        Some(tag) => format!("{suite}.{tag}"),
        None => suite.to_owned(),
    };
    let attributes = [("name", name), ("classname", class), ("time", time)];
    element("testcase", &attributes, 4, children)
}

fn outcome(report: &BenchmarkReport, result: &CaseResult) -> String {
    let (expected, given) = (report.expected(result), result.given());
    let short = |text| shortened(text, LONGEST_IN_ATTRIBUTE);
    let problem = |name, kind, message: &str, content: &str| {
        let (message, content) = (attribute(message), text(content));
        format!("      <{name} message=\"{message}\" type=\"{kind}\">{content}</{name}>\n")
    };
    let problem = match result.outcome {
        CaseOutcome::Approved => String::new(),
        CaseOutcome::Rejected => {
            let message = format!("expected {}, got {}", short(expected), short(given));
            let content = format!("expected: {expected}\ngiven: {given}");
            problem("failure", "wrong_answer", &message, &content)
        }
        CaseOutcome::Failed => problem("error", "no_answer", &short(given), given),
    };
    let records = result.consultations.iter().map(ConsultationId::as_str);
    let records: Vec<&str> = records.collect();
    if records.is_empty() {
        return problem;
    }
    let records = text(&records.join("\n"));
    format!("{problem}      <system-out>{records}</system-out>\n")
}

fn element(name: &str, attributes: &[(&str, String)], indent: usize, children: &str) -> String {
    let attributes = attributes.iter();
    let attributes: Vec<String> = attributes
        .map(|(name, value)| format!(" {name}=\"{}\"", attribute(value)))
        .collect();
    let attributes = attributes.concat();
    let margin = " ".repeat(indent);
    if children.is_empty() {
        return format!("{margin}<{name}{attributes}/>\n");
    }
    format!("{margin}<{name}{attributes}>\n{children}{margin}</{name}>\n")
}

fn seconds<'r>(results: impl Iterator<Item = &'r CaseResult>) -> String {
    let time: u64 = results.map(|result| result.duration_ms).sum();
    format!("{:.3}", Duration::from_millis(time).as_secs_f64())
}

/// On one line.
fn attribute(value: &str) -> String {
    let value = text(value);
    value.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// XML forbids control characters and noncharacters even as references, so they are dropped.
fn text(value: &str) -> String {
    let mut escaped = String::with_capacity(value.len());
    for c in clean(value).chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\u{fffe}' | '\u{ffff}' => {}
            c => escaped.push(c),
        }
    }
    escaped
}
