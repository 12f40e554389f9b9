//! The report of a benchmark as a screen: the figures that decide first, then where they come from,
//! and the cases to look at. The page, the Markdown and the JSON have everything; the screen names
//! what it leaves out.

mod debate;
mod misses;

use std::collections::BTreeSet;

use console::measure_text_width;

use super::calibration::reliability;
use super::columns::hanging;
use super::writer::ScreenText;
use crate::benchmark::case::ErrorRate;
use crate::benchmark::report::BenchmarkReport;
use crate::benchmark::report::arm::{ArmReport, TagFigures};
use crate::benchmark::report::words::{interval, percent, whole_percent};
use crate::terminal::output::format::{amount, count, seconds, thousands};
use crate::terminal::output::style::Paint;
use crate::text::clean::one_line;

/// Tags on a screen.
const MOST_TAGS: usize = 10;

/// Columns below which a text is not set behind its head.
const NARROWEST_TEXT: usize = 30;

const UNKNOWN: &str = "-";

/// Returns the screen for a terminal of this width.
pub fn screen(report: &BenchmarkReport, width: usize, paint: Paint) -> String {
    let screen = ScreenText::new(Some(width), paint);
    let mut screen = ReportScreen { screen, report };
    screen.head();
    screen.notices();
    screen.headline();
    screen.comparison();
    screen.tags();
    screen.error_rates();
    screen.calibration();
    screen.debate();
    screen.misses();
    screen.screen.text
}

struct ReportScreen<'a> {
    screen: ScreenText,
    report: &'a BenchmarkReport,
}

impl ReportScreen<'_> {
    fn head(&mut self) {
        let terms = &self.report.terms;
        let title = format!("Benchmark {}", one_line(&terms.suite.name));
        self.screen.heading(&title);
        let status = self.report.run_status.name();
        let cases = count(terms.cases.len(), "case");
        let run = format!("{cases}, {}, {status}", self.report.run_id);
        self.screen.wrapped(&run);
    }

    fn notices(&mut self) {
        for notice in self.report.notices() {
            let text = hanging("", &one_line(&notice.text), 0, self.screen.width);
            let screen = &mut self.screen;
            screen.text.push('\n');
            match notice.command {
                Some(command) => {
                    screen.text.push_str(&screen.paint.yellow(&text));
                    // One line, so that it can be copied.
                    screen.text.extend(["Resume it with:\n  ", &command, "\n"]);
                }
                None => screen.text.push_str(&text),
            }
        }
    }

    fn headline(&mut self) {
        let heads = [
            "right",
            "accuracy",
            "95% interval",
            "cost",
            "per right",
            "median",
            "p90",
        ];
        let rows: Vec<Vec<String>> = self.report.arms.iter().map(headline_row).collect();
        self.screen.text.push('\n');
        self.screen.figures(&heads, &rows);
        for arm in &self.report.arms {
            self.labelled(&format!("{}: ", arm.arm.name()), &arm_in_words(arm));
        }
    }

    fn comparison(&mut self) {
        let Some(comparison) = &self.report.comparison else {
            return;
        };
        self.screen.text.push('\n');
        self.screen.wrapped(&comparison.sentence);
        let pairs = comparison.pairs;
        if pairs.total() > 0 {
            self.screen.wrapped(&format!(
                "Both right {}, only the panel {}, only the single model {}, neither {}.",
                pairs.both_right, pairs.only_first, pairs.only_second, pairs.both_wrong
            ));
        }
    }

    fn tags(&mut self) {
        let arms = &self.report.arms;
        let tags: BTreeSet<(bool, Option<&str>)> = arms
            .iter()
            .flat_map(|arm| &arm.tags)
            .map(|figures| (figures.tag.is_none(), figures.tag.as_deref()))
            .collect();
        let mut heads = Vec::new();
        for arm in arms {
            heads.extend([arm.arm.name(), "right"]);
        }
        let mut rows = Vec::new();
        for (_, tag) in tags.iter().take(MOST_TAGS) {
            let mut row = vec![tag.map_or_else(|| "(no tag)".to_owned(), one_line)];
            for arm in arms {
                row.extend(tag_cells(arm, *tag));
            }
            rows.push(row);
        }
        self.screen.table("By tag", &heads, &rows);
        if tags.len() > MOST_TAGS {
            let others = count(tags.len() - MOST_TAGS, "more tag");
            self.screen.wrapped(&format!("and {others}"));
        }
    }

    fn error_rates(&mut self) {
        let mut rows = Vec::new();
        for arm in &self.report.arms {
            for rates in &arm.error_rates {
                let measure = match rates.measure {
                    ErrorRate::Cer => "CER",
                    ErrorRate::Wer => "WER",
                };
                rows.push(vec![
                    format!("{}, {measure}", arm.arm.name()),
                    rates.count.to_string(),
                    percent(rates.mean),
                    percent(rates.median),
                ]);
            }
        }
        self.screen
            .table("Transcriptions", &["count", "mean", "median"], &rows);
    }

    fn calibration(&mut self) {
        let arms = self.report.arms.iter();
        let rows = arms.flat_map(|arm| {
            let kinds = arm.calibration.kinds().into_iter();
            kinds.map(|(kind, of)| reliability(&format!("{}, {kind}", arm.arm.name()), of))
        });
        let rows: Vec<Vec<String>> = rows.collect();
        let heads = ["answers", "confidence", "right", "Brier", "ECE"];
        self.screen.table("Calibration", &heads, &rows);
    }

    /// Writes a text behind its label, continued beneath itself if there is room.
    fn labelled(&mut self, label: &str, text: &str) {
        let indent = measure_text_width(label);
        if self
            .screen
            .width
            .is_some_and(|width| width < indent + NARROWEST_TEXT)
        {
            let label = label.trim_end_matches([' ', ':']);
            self.screen.hanging("", &format!("{label}: {text}"), 2);
        } else {
            self.screen.hanging(label, text, indent);
        }
    }
}

fn headline_row(arm: &ArmReport) -> Vec<String> {
    let mut row = vec![arm.arm.name().to_owned()];
    match arm.accuracy {
        Some(accuracy) => row.extend([
            format!("{}/{}", accuracy.right, accuracy.of),
            percent(accuracy.share),
            interval(accuracy.interval),
        ]),
        None => row.extend(["0/0", UNKNOWN, UNKNOWN].map(ToOwned::to_owned)),
    }
    row.push(amount(arm.spend.cost));
    row.push(arm.spend.cost_per_right.map_or(UNKNOWN.to_owned(), amount));
    match arm.time {
        Some(time) => row.extend([seconds(time.median()), seconds(time.p90())]),
        None => row.extend([UNKNOWN.to_owned(), UNKNOWN.to_owned()]),
    }
    row
}

/// What the table of an arm has no room for.
fn arm_in_words(arm: &ArmReport) -> String {
    let mut words = Vec::new();
    if arm.counts.failed > 0 {
        let answered = arm.accuracy_of_answered;
        let answered = answered.map(|share| format!(", {} of answers right", percent(share.share)));
        words.push(format!(
            "{} without an answer{}",
            arm.counts.failed,
            answered.unwrap_or_default()
        ));
    }
    if let Some(consistency) = arm.consistency {
        words.push(format!(
            "{} cases always right, {} sometimes, {} never",
            consistency.always_right, consistency.sometimes_right, consistency.never_right
        ));
    }
    let spend = &arm.spend;
    let per_right = spend.tokens_per_right.map(thousands);
    let per_right = per_right.map(|tokens| format!(" ({tokens} per right answer)"));
    words.push(format!("{} calls", thousands(spend.calls)));
    words.push(format!(
        "{} tokens{}",
        thousands(spend.tokens()),
        per_right.unwrap_or_default()
    ));
    if arm.counts.retried > 0 {
        words.push(format!("{} tried again", arm.counts.retried));
    }
    words.join("; ")
}

fn tag_cells(arm: &ArmReport, tag: Option<&str>) -> [String; 2] {
    let mut tags = arm.tags.iter();
    let figures = tags.find(|figures| figures.tag.as_deref() == tag);
    figures.map_or_else(
        || [UNKNOWN.to_owned(), String::new()],
        |TagFigures { accuracy, .. }| {
            [
                format!("{}/{}", accuracy.right, accuracy.of),
                whole_percent(accuracy.share),
            ]
        },
    )
}
