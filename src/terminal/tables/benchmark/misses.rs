//! The cases to look at, and how to see more.

use super::ReportScreen;
use crate::benchmark::report::misses::Miss;
use crate::benchmark::report::words::whole_percent;
use crate::text::clean::{one_line, shortened};

/// Misses on a screen; fewer if the figures take most of it.
const MOST_MISSES: usize = 10;
const FEWEST_MISSES: usize = 4;

/// Lines that suit a screen, without those after the misses.
const LINES: usize = 36;

/// Characters of the longest answer on a screen.
const LONGEST_ANSWER: usize = 40;

impl ReportScreen<'_> {
    pub(super) fn misses(&mut self) {
        let misses = self.report.misses();
        if !misses.is_empty() {
            self.screen.title(&format!("Not right ({})", misses.len()));
        }
        let lines_left = LINES.saturating_sub(self.screen.text.lines().count());
        let most = lines_left.clamp(FEWEST_MISSES, MOST_MISSES);
        for miss in misses.iter().take(most) {
            let line = self.miss(miss);
            self.screen.hanging("", &line, 2);
        }
        if misses.len() > most {
            self.screen
                .wrapped(&format!("and {} more", misses.len() - most));
        }
        self.next_steps(&misses);
    }

    fn miss(&self, miss: &Miss<'_>) -> String {
        let run = &miss.result.run;
        let mut name = one_line(run.case.as_str());
        if self.report.arms.len() > 1 {
            name = format!("{} {name}", run.arm.name());
        }
        if self.report.terms.repetitions > 1 {
            name = format!("{name} #{}", run.repetition);
        }
        let given = shortened(&one_line(miss.given()), LONGEST_ANSWER);
        if miss.result.answer.is_none() {
            return format!("{name}: no answer: {given}");
        }
        let expected = shortened(&one_line(miss.expected()), LONGEST_ANSWER);
        let confidence = miss
            .result
            .confidence
            .map(|stated| format!(" (confidence {})", whole_percent(stated)))
            .unwrap_or_default();
        format!("{name}: expected {expected}, got {given}{confidence}")
    }

    fn next_steps(&mut self, misses: &[Miss<'_>]) {
        self.screen.text.push('\n');
        let record = misses
            .first()
            .and_then(|miss| miss.result.consultations.last());
        if let Some(record) = record {
            self.command("One case:", &format!("conclave history show {record}"));
        }
        let run = &self.report.run_id;
        let page = format!("conclave benchmark report {run} -o report.html");
        self.command("All cases:", &page);
    }

    /// Writes a command on one line, so that it can be copied.
    fn command(&mut self, label: &str, command: &str) {
        let length = label.len() + command.len();
        let is_wide = self.screen.width.is_none_or(|width| length < width);
        let gap = if is_wide { " " } else { "\n  " };
        let line = format!("{label}{gap}{command}\n");
        self.screen.text.push_str(&self.screen.paint.dim(&line));
    }
}
