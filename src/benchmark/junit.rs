//! A report as JUnit XML, for CI servers: a test suite for each arm, a test case for each case run.
//!
//! Wrong answers are failures, missing answers errors, and case runs that are not done skipped. The
//! elements and attributes are those of the schema of Jenkins (`junit-10.xsd`), which other servers
//! read as well.

use std::fmt::Write;
use std::time::Duration;

use super::report::BenchmarkReport;
use super::report::arm::ArmReport;
use super::report::notices::Miss;
use super::result::{CaseOutcome, CaseResult};
use super::run::CaseRunId;
use crate::domain::ids::ConsultationId;
use crate::text::clean::{clean, shortened};

/// Characters of the longest answer in an attribute; the element's text has the whole.
const LONGEST_IN_ATTRIBUTE: usize = 200;

/// Renders the report.
pub fn junit(report: &BenchmarkReport) -> String {
    let suites: Vec<TestSuite> = report
        .arms
        .iter()
        .map(|arm| TestSuite::of(report, arm))
        .collect();
    let mut all = TestCounts::default();
    for TestSuite { counts, .. } in &suites {
        all.tests += counts.tests;
        all.failures += counts.failures;
        all.errors += counts.errors;
        all.time += counts.time;
    }
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(
        xml,
        "<testsuites name=\"conclave benchmark\" tests=\"{}\" failures=\"{}\" errors=\"{}\" \
         time=\"{}\">",
        all.tests,
        all.failures,
        all.errors,
        seconds(all.time),
    );
    for suite in suites {
        let TestCounts {
            tests,
            failures,
            errors,
            skipped,
            time,
        } = suite.counts;
        let _ = writeln!(
            xml,
            "  <testsuite name=\"{}\" tests=\"{tests}\" failures=\"{failures}\" \
             errors=\"{errors}\" skipped=\"{skipped}\" time=\"{}\">",
            attribute(&suite.name),
            seconds(time),
        );
        xml.push_str(&suite.cases);
        xml.push_str("  </testsuite>\n");
    }
    xml.push_str("</testsuites>\n");
    xml
}

/// The test suite of an arm.
struct TestSuite {
    name: String,
    counts: TestCounts,
    /// Its elements, in the order of the suite.
    cases: String,
}

#[derive(Clone, Copy, Default)]
struct TestCounts {
    tests: u64,
    failures: u64,
    errors: u64,
    skipped: u64,
    time: Duration,
}

impl TestSuite {
    fn of(report: &BenchmarkReport, arm: &ArmReport) -> Self {
        let mut suite = Self {
            name: format!("{}.{}", report.terms.suite.name, arm.arm.name()),
            counts: TestCounts::default(),
            cases: String::new(),
        };
        let own = |run: &&CaseRunId| run.arm == arm.arm;
        for result in &report.results {
            if own(&&result.run) {
                suite.finished(report, result);
            }
        }
        for run in report.not_done.iter().filter(own) {
            suite.counts.skipped += 1;
            let skipped = "<skipped message=\"not done\"/>".to_owned();
            suite.add(report, run, Duration::ZERO, &[skipped]);
        }
        suite
    }

    fn finished(&mut self, report: &BenchmarkReport, result: &CaseResult) {
        let miss = Miss {
            result,
            case: report.case(&result.run.case),
        };
        let (expected, given) = (miss.expected(), miss.given());
        let element = match result.outcome {
            CaseOutcome::Approved | CaseOutcome::Infrastructure => String::new(),
            CaseOutcome::Rejected => {
                self.counts.failures += 1;
                format!(
                    "<failure message=\"{}\" type=\"wrong_answer\">{}</failure>",
                    attribute(&format!(
                        "expected {}, got {}",
                        shortened(expected, LONGEST_IN_ATTRIBUTE),
                        shortened(given, LONGEST_IN_ATTRIBUTE)
                    )),
                    text(&format!("expected: {expected}\ngiven: {given}"))
                )
            }
            CaseOutcome::Failed => {
                self.counts.errors += 1;
                format!(
                    "<error message=\"{}\" type=\"no_answer\">{}</error>",
                    attribute(&shortened(given, LONGEST_IN_ATTRIBUTE)),
                    text(given)
                )
            }
        };
        let records: Vec<&str> = result
            .consultations
            .iter()
            .map(ConsultationId::as_str)
            .collect();
        let output = if records.is_empty() {
            String::new()
        } else {
            format!("<system-out>{}</system-out>", text(&records.join("\n")))
        };
        let time = Duration::from_millis(result.duration_ms);
        self.add(report, &result.run, time, &[element, output]);
    }

    fn add(
        &mut self,
        report: &BenchmarkReport,
        run: &CaseRunId,
        time: Duration,
        children: &[String],
    ) {
        self.counts.tests += 1;
        self.counts.time += time;
        let name = match report.terms.repetitions {
            0 | 1 => run.case.to_string(),
            _ => format!("{} #{}", run.case, run.repetition),
        };
        let tags = report.case(&run.case).map(|case| case.tags.as_slice());
        let class = match tags.and_then(<[String]>::first) {
            Some(tag) => format!("{}.{tag}", self.name),
            None => self.name.clone(),
        };
        let _ = write!(
            self.cases,
            "    <testcase name=\"{}\" classname=\"{}\" time=\"{}\"",
            attribute(&name),
            attribute(&class),
            seconds(time),
        );
        let children: Vec<&String> = children.iter().filter(|child| !child.is_empty()).collect();
        if children.is_empty() {
            self.cases.push_str("/>\n");
            return;
        }
        self.cases.push_str(">\n");
        for child in children {
            let _ = writeln!(self.cases, "      {child}");
        }
        self.cases.push_str("    </testcase>\n");
    }
}

fn seconds(time: Duration) -> String {
    format!("{:.3}", time.as_secs_f64())
}

/// Returns a value for an attribute, on one line.
fn attribute(value: &str) -> String {
    let value = text(value);
    value.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Escapes text. XML forbids control characters and noncharacters even as references, so they are
/// dropped.
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
