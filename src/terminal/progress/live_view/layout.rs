//! The live display as lines: what fits the width and height of the terminal.

use std::fmt::Write as _;
use std::time::Duration;

use console::{Alignment, measure_text_width, pad_str, truncate_str};

use crate::domain::cost::money::Cost;
use crate::domain::ids::AgentId;

use super::LiveView;
use super::phase::PhaseText;
use super::row::{AgentPhase, AgentRow};
use crate::terminal::output::format::{amount, clock, round_title};
use crate::terminal::output::live_area::{FRAME, TerminalSize};
use crate::terminal::output::wrap::widest;

const FRAMES: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
/// Columns for an activity, beside which the model is shown: those of
/// `retrying 2 of 3 in 12 s (HTTP 529)`.
const USUAL_PHASE: usize = 35;
/// Columns for an activity, for which long names are cut.
const MIN_PHASE: usize = 24;

impl LiveView {
    /// Returns the display as lines, none wider than the terminal and no more than it has rows.
    /// `since_start` includes the time in which only the person was waited for.
    pub(in crate::terminal) fn lines(
        &self,
        since_start: Duration,
        size: TerminalSize,
    ) -> Vec<String> {
        let TerminalSize {
            columns: width,
            rows: height,
        } = size;
        if self.is_blank() {
            return Vec::new();
        }
        let elapsed = self.elapsed(since_start);
        let mut lines = self.row_lines(elapsed, since_start, width);
        let room = height.saturating_sub(3).max(1);
        if lines.len() > room {
            // Agents at work come first.
            let (ended, at_work): (Vec<_>, Vec<_>) = lines
                .into_iter()
                .zip(&self.rows)
                .partition(|(_, row)| row.phase.has_ended());
            lines = at_work
                .into_iter()
                .chain(ended)
                .map(|(line, _)| line)
                .take(room)
                .collect();
            let rest = format!("… {} more", self.rows.len() - room);
            lines.push(
                self.paint
                    .dim(&truncate_str(&rest, width.saturating_sub(1).max(8), "…")),
            );
        }
        lines.push(self.run_line(elapsed, width));
        lines
    }

    pub(in crate::terminal) fn take_lines(
        &mut self,
        elapsed: Duration,
        width: usize,
    ) -> Vec<String> {
        let lines = self.row_lines(elapsed, elapsed, width);
        self.clear();
        lines
    }

    /// The marks move with `frames`.
    fn row_lines(&self, elapsed: Duration, frames: Duration, width: usize) -> Vec<String> {
        // The last column stays free: some terminals wrap as soon as it is filled.
        let width = width.saturating_sub(1).max(8);
        let names = widest(self.rows.iter().map(|row| &row.name)).max(self.columns.0);
        let name = names.min(width.saturating_sub(MIN_PHASE + 4).clamp(6, 28));
        let models = widest(self.rows.iter().map(|row| &row.model.model)).max(self.columns.1);
        let used = 2 + name + 2;
        let model = Some(models).filter(|model| used + model + 2 + USUAL_PHASE <= width);
        let room = width.saturating_sub(used + model.map_or(0, |model| model + 2));
        let row = |row: &AgentRow| {
            let mut line = format!(
                "{} {}  ",
                self.mark(row, frames),
                self.paint.bold(&pad(&row.name, name))
            );
            if let Some(model) = model {
                let _ = write!(line, "{}  ", self.paint.dim(&pad(&row.model.model, model)));
            }
            let PhaseText { words, clock, tone } = self.phase_text(row, elapsed);
            let clock = clock.map_or(String::new(), |clock| format!(" · {clock}"));
            let words_room = room.saturating_sub(measure_text_width(&clock));
            let words = truncate_str(&words, words_room, "…");
            line.push_str(&self.paint.tone(tone, &format!("{words}{clock}")));
            truncate_str(&line, width, "…").into_owned()
        };
        self.rows.iter().map(row).collect()
    }

    fn mark(&self, row: &AgentRow, frames: Duration) -> String {
        match row.phase {
            AgentPhase::Failed(_) => self.paint.red("✘"),
            AgentPhase::Stopped => self.paint.dim("·"),
            AgentPhase::Working(_) | AgentPhase::Retrying(_) | AgentPhase::Asking => {
                let frame = usize::try_from(frames.as_millis() / FRAME.as_millis()).unwrap_or(0)
                    % FRAMES.len();
                self.paint.cyan(FRAMES.get(frame).copied().unwrap_or("·"))
            }
        }
    }

    /// Describes the run: its round, the time, and the cost beside the estimate.
    pub(in crate::terminal) fn run_words(&self, since_start: Duration) -> String {
        let [long, _] = self.long_and_short(self.elapsed(since_start));
        long
    }

    /// Returns an agent's model and activity; `None` without a row of its own.
    pub(in crate::terminal) fn activity(
        &self,
        agent: &AgentId,
        since_start: Duration,
    ) -> Option<[String; 2]> {
        let row = self.rows.iter().find(|row| row.agent == *agent)?;
        let PhaseText { words, clock, .. } = self.phase_text(row, self.elapsed(since_start));
        let clock = clock.map_or(String::new(), |clock| format!(" · {clock}"));
        Some([row.model.model.clone(), words + &clock])
    }

    fn run_line(&self, elapsed: Duration, width: usize) -> String {
        let [long, short] = self.long_and_short(elapsed);
        let width = width.saturating_sub(1).max(8);
        let line = if measure_text_width(&long) <= width {
            long
        } else {
            short
        };
        self.paint.dim(&truncate_str(&line, width, "…"))
    }

    fn long_and_short(&self, elapsed: Duration) -> [String; 2] {
        let time = clock(elapsed);
        let billed = self.estimate.filter(|estimate| !estimate.is_unbilled());
        let (spent, against) = match billed {
            None if self.estimate.is_some_and(|estimate| estimate.by_plan) => {
                ((self.spent + Cost::BY_PLAN).to_string(), String::new())
            }
            Some(estimate) if estimate.is_unknown() => (estimate.to_string(), String::new()),
            // Its price is known, or a part of it.
            _ if self.spent.is_unknown() => ("cost unknown".to_owned(), String::new()),
            Some(estimate) if estimate.lower_bound => {
                (amount(self.spent), format!(" of {estimate:.2}"))
            }
            // Beside the plan, only what is billed is compared.
            Some(estimate) if estimate.by_plan => {
                let [spent, estimate] = [self.spent, estimate].map(Cost::billed);
                (amount(spent), format!(" of about {estimate:.2} + plan"))
            }
            Some(estimate) => (amount(self.spent), format!(" of about {estimate:.2}")),
            None => (amount(self.spent), String::new()),
        };
        let (round, rounds) = (self.round, self.rounds);
        let at = match round {
            0 => "Preparing".to_owned(),
            _ => format!("Round {round} of {rounds} · {}", round_title(round)),
        };
        [
            format!("{at} · {time} · {spent}{against}"),
            format!("{round}/{rounds} · {time} · {spent}"),
        ]
    }
}

fn pad(text: &str, width: usize) -> String {
    let cut = truncate_str(text, width, "…");
    pad_str(&cut, width, Alignment::Left, None).into_owned()
}
