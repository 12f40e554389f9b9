//! The progress of a benchmark's run on standard error: a row on a terminal, a line now and then
//! elsewhere, and with `--verbose` a line for each finished case.

use std::time::Duration;

use console::{measure_text_width, truncate_str};

use crate::benchmark::result::{CaseOutcome, CaseResult};
use crate::benchmark::run::{Arm, CaseRunId};
use crate::domain::cost::money::Cost;
use crate::session::benchmark::progress::RunProgress;
use crate::terminal::output::format::{amount, dollars, seconds};
use crate::terminal::output::live_area::TerminalSize;
use crate::terminal::output::printer::Printer;
use crate::terminal::output::style::Paint;
use crate::terminal::output::wrap::fitted_row;
use crate::text::clean::one_line;

use super::live_row::{LiveRow, ending};

/// Lines of a run without a terminal.
const PLAIN_LINES: u64 = 20;

/// Columns of the bar, where the row has room for it.
const BAR: usize = 20;

/// Results of this process before it says how long the rest will take.
const RESULTS_FOR_TIME: u64 = 2;

/// Columns of an answer on the line of a case.
const LONGEST_ANSWER: usize = 40;

/// Shows one run. Dropping it clears the row.
#[derive(Debug)]
pub struct BenchmarkProgress {
    row: LiveRow<RunCounts>,
    /// Results between two plain lines.
    step: u64,
    /// The first arm of a comparison is named on the lines of cases.
    names_arms: bool,
}

/// The counts that the row is made of.
#[derive(Clone, Debug, Default)]
pub struct RunCounts {
    pub total: u64,
    /// Those with a result, earlier processes included.
    pub done: u64,
    /// Those of the measured arm with an answer.
    pub answered: u64,
    pub right: u64,
    pub cost: Cost,
    /// Those with a result of an earlier process.
    pub done_before: u64,
    /// The case runs in flight.
    pub running: u64,
    /// Nothing more starts.
    pub is_ending: bool,
}

impl BenchmarkProgress {
    /// Draws on standard error, if lines can be redrawn there.
    pub fn new(printer: &Printer, counts: RunCounts, arms: &[Arm]) -> Self {
        let step = counts.total.div_ceil(PLAIN_LINES).max(1);
        let paint = printer.err_traits().paint;
        let row = move |counts: &RunCounts, elapsed, size: TerminalSize| {
            vec![counts.row(elapsed, size.room(), paint)]
        };
        Self {
            row: LiveRow::new(printer, counts, row),
            step,
            names_arms: arms.len() > 1,
        }
    }
}

impl RunProgress for BenchmarkProgress {
    fn running(&self, running: usize) {
        self.row.counts().running = running as u64;
    }

    fn spent(&self, cost: Cost) {
        self.row.counts().cost = cost;
    }

    fn ending(&self) {
        self.row.counts().is_ending = true;
    }

    fn finished(&self, result: &CaseResult, expected: &str, is_measured: bool, elapsed: Duration) {
        let line = {
            let mut counts = self.row.counts();
            counts.done += 1;
            counts.running = counts.running.saturating_sub(1);
            if is_measured {
                counts.answered += 1;
                counts.right += u64::from(result.outcome == CaseOutcome::Approved);
            }
            let is_due = counts.done == counts.total || counts.done.is_multiple_of(self.step);
            (is_due && !self.row.is_live).then(|| counts.segments(elapsed).join(" · "))
        };
        self.row
            .printer
            .detail(&case_line(result, expected, self.names_arms));
        if let Some(line) = line {
            self.row.printer.note(&line);
        }
    }
}

impl RunCounts {
    fn row(&self, elapsed: Duration, width: usize, paint: Paint) -> String {
        let segments = self.segments(elapsed);
        let row = fitted_row(&segments, width);
        let room = width.saturating_sub(measure_text_width(&row) + 1);
        if room < BAR {
            return row;
        }
        let name = segments.first().map_or(0, String::len);
        let (counts, rest) = row.split_at_checked(name).unwrap_or((&row, ""));
        format!("{counts} {}{rest}", self.bar(paint))
    }

    /// The most important first.
    fn segments(&self, elapsed: Duration) -> Vec<String> {
        let mut segments = vec![format!("benchmark {}/{}", self.done, self.total)];
        if self.answered > 0 {
            segments.push(format!("{}% right", percent(self.right, self.answered)));
        }
        // Before the first result nothing is known of it: a plan may pay.
        segments.extend((self.cost != Cost::FREE).then(|| dollars(self.cost)));
        let ending = ending(self.is_ending, self.running);
        segments.extend(ending.or_else(|| self.time_left(elapsed)));
        segments
    }

    /// `about 3 min left`, from the pace so far; `None` before there is one.
    fn time_left(&self, elapsed: Duration) -> Option<String> {
        let here = self.done.saturating_sub(self.done_before);
        let left = self.total.saturating_sub(self.done);
        if here < RESULTS_FOR_TIME || left == 0 {
            return None;
        }
        let milliseconds = elapsed.as_millis() * u128::from(left) / u128::from(here);
        let seconds = u64::try_from(milliseconds / 1000).unwrap_or(u64::MAX);
        Some(format!("about {} left", span(seconds)))
    }

    fn bar(&self, paint: Paint) -> String {
        let full = usize::try_from(self.done * BAR as u64 / self.total.max(1)).unwrap_or(BAR);
        let full = full.min(BAR);
        format!("{}{}", "━".repeat(full), paint.dim(&"─".repeat(BAR - full)))
    }
}

/// `q-12 panel: wrong, C instead of B · $0.0120 · 14.2s`.
fn case_line(result: &CaseResult, expected: &str, names_arm: bool) -> String {
    let mut parts = vec![format!(
        "{}: {}",
        name(&result.run, names_arm),
        verdict(result, expected)
    )];
    parts.push(amount(result.spend.cost));
    parts.push(seconds(Duration::from_millis(result.duration_ms)));
    if result.attempts > 1 {
        parts.push(format!("{} attempts", result.attempts));
    }
    parts.join(" · ")
}

fn name(run: &CaseRunId, names_arm: bool) -> String {
    let mut name = run.case.to_string();
    if run.repetition > 1 {
        name.extend([" #", &run.repetition.to_string()]);
    }
    if names_arm {
        name.extend([" ", run.arm.name()]);
    }
    name
}

fn verdict(result: &CaseResult, expected: &str) -> String {
    let short = |text: &str| truncate_str(&one_line(text), LONGEST_ANSWER, "…").into_owned();
    let answer = result.answer.as_ref().map(|answer| short(&answer.text));
    match (result.outcome, answer) {
        (CaseOutcome::Approved, Some(answer)) => format!("right, {answer}"),
        (CaseOutcome::Approved, None) => "right".to_owned(),
        (CaseOutcome::Rejected, Some(answer)) => {
            format!("wrong, {answer} instead of {}", short(expected))
        }
        (CaseOutcome::Rejected, None) => {
            format!("wrong, no final answer instead of {}", short(expected))
        }
        (CaseOutcome::Failed, _) => match &result.error {
            Some(error) => format!("no answer: {error}"),
            None => "no answer".to_owned(),
        },
    }
}

fn percent(part: u64, whole: u64) -> u64 {
    (part * 200 + whole) / (whole * 2).max(1)
}

/// `40 s`, `3 min`, `2 h 10 min`.
fn span(seconds: u64) -> String {
    match seconds {
        ..60 => format!("{} s", seconds.max(1)),
        60..3_600 => format!("{} min", (seconds + 30) / 60),
        _ => format!("{} h {} min", seconds / 3_600, seconds % 3_600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::cost::money::MicroUsd;

    fn counts() -> RunCounts {
        RunCounts {
            total: 60,
            done: 23,
            answered: 23,
            right: 18,
            cost: Cost::exactly(MicroUsd(420_000)),
            running: 4,
            ..RunCounts::default()
        }
    }

    fn row(counts: &RunCounts, columns: usize) -> String {
        counts.row(Duration::from_secs(112), columns - 1, Paint::PLAIN)
    }

    #[test]
    fn row_has_what_fits_its_width() {
        let counts = counts();
        assert_eq!(
            row(&counts, 100),
            "benchmark 23/60 ━━━━━━━───────────── · 78% right · $0.42 · about 3 min left"
        );
        assert_eq!(
            row(&counts, 60),
            "benchmark 23/60 · 78% right · $0.42 · about 3 min left"
        );
        assert_eq!(row(&counts, 50), "benchmark 23/60 · 78% right · $0.42");
        assert_eq!(row(&counts, 20), "benchmark 23/60");
        assert_eq!(row(&counts, 10), "benchmar…");
    }

    #[test]
    fn time_left_follows_the_pace_of_this_process() {
        let resumed = RunCounts {
            done_before: 20,
            ..counts()
        };
        assert_eq!(
            resumed.time_left(Duration::from_secs(30)).unwrap(),
            "about 6 min left"
        );
        let first = RunCounts {
            done_before: 22,
            ..counts()
        };
        assert_eq!(first.time_left(Duration::from_secs(30)), None);
    }

    #[test]
    fn run_that_is_stopping_says_what_still_runs() {
        let ending = RunCounts {
            is_ending: true,
            ..counts()
        };
        assert!(row(&ending, 80).ends_with("· $0.42 · stopping, 4 still running"));
    }

    #[test]
    fn spans_are_rounded_for_people() {
        let texts = [0, 40, 170, 7_800].map(span);
        assert_eq!(texts, ["1 s", "40 s", "3 min", "2 h 10 min"]);
    }
}
