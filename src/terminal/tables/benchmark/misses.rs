//! The cases to look at, and how to see more.

use super::ReportScreen;
use crate::benchmark::report::misses::Miss;
use crate::benchmark::report::words::whole_percent;
use crate::benchmark::run::Arm;
use crate::domain::text::shortened;
use crate::terminal::markdown::escape::one_line;

/// Misses on a screen.
const MOST_MISSES: usize = 10;

/// Characters of the longest answer on a screen.
const LONGEST_ANSWER: usize = 40;

impl ReportScreen<'_> {
    pub(super) fn misses(&mut self) {
        let misses = self.report.misses();
        if !misses.is_empty() {
            let title = format!("Not right ({})", misses.len());
            self.text.extend(["\n", &self.paint.cyan(&title), "\n"]);
        }
        for miss in misses.iter().take(MOST_MISSES) {
            let line = self.miss(miss);
            self.text
                .push_str(&super::hanging("", &line, 2, Some(self.width)));
        }
        if misses.len() > MOST_MISSES {
            self.wrapped(&format!("and {} more", misses.len() - MOST_MISSES));
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
            .map(|stated| format!(" ({} sure)", whole_percent(stated)))
            .unwrap_or_default();
        format!("{name}: expected {expected}, got {given}{confidence}")
    }

    fn next_steps(&mut self, misses: &[Miss<'_>]) {
        let mut commands = Vec::new();
        let panel_first = |miss: &&Miss<'_>| miss.result.run.arm == Arm::Panel;
        let example = misses.iter().find(panel_first).or(misses.first());
        let record = example.and_then(|miss| miss.result.consultations.last());
        if let Some(record) = record {
            commands.push(("one case", format!("conclave history show {record}")));
        }
        let page = format!(
            "conclave benchmark report {} -o report.html",
            self.report.run_id
        );
        commands.push(("all cases and plots", page));
        self.text.push('\n');
        for (label, command) in commands {
            let line = format!("{label}:\n  {command}\n");
            self.text.push_str(&self.paint.dim(&line));
        }
    }
}
