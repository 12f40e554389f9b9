//! The live display as lines: what fits the width and height of the terminal.

use std::fmt::Write as _;
use std::time::Duration;

use console::{Alignment, measure_text_width, pad_str, truncate_str};

use crate::domain::money::Cost;

use super::LiveView;
use super::row::{AgentPhase, AgentRow, CallStage, OpenCall};
use crate::terminal::output::format::{amount, clock, round_title, seconds, thousands};
use crate::terminal::output::live_area::{FRAME, TerminalSize};
use crate::terminal::output::wrap::widest;

const FRAMES: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
/// Columns of `done 12.3s · 12,345 tok · $0.0131`.
const LONGEST_PHASE: usize = 33;

/// The detail in which a phase is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DetailLevel {
    All,
    Least,
}

impl LiveView {
    /// Returns the display as lines, none wider than the terminal and no more than it has rows.
    pub(in crate::terminal) fn lines(&self, elapsed: Duration, size: TerminalSize) -> Vec<String> {
        let TerminalSize {
            columns: width,
            rows: height,
        } = size;
        if self.is_blank() {
            return Vec::new();
        }
        let mut lines = self.row_lines(elapsed, width);
        let room = height.saturating_sub(3).max(1);
        if lines.len() > room {
            // Agents at work come first.
            let (ended, at_work): (Vec<_>, Vec<_>) = lines
                .into_iter()
                .zip(&self.rows)
                .partition(|(_, row)| row.phase.has_ended());
            let done = ended.len();
            lines = at_work
                .into_iter()
                .chain(ended)
                .map(|(line, _)| line)
                .take(room)
                .collect();
            let rest = format!(
                "… {} more, {done} of {} done",
                self.rows.len() - room,
                self.rows.len()
            );
            lines.push(
                self.paint
                    .dim(&truncate_str(&rest, width.saturating_sub(1).max(8), "…")),
            );
        }
        lines.push(self.run_line(elapsed, width));
        lines
    }

    /// Removes the rows of the agents that have ended, and returns them as lines.
    pub(in crate::terminal) fn take_finished(
        &mut self,
        elapsed: Duration,
        width: usize,
    ) -> Vec<String> {
        let lines = self.row_lines(elapsed, width).into_iter().zip(&self.rows);
        let finished = lines
            .filter(|(_, row)| row.phase.has_ended())
            .map(|(line, _)| line)
            .collect();
        self.rows.retain(|row| !row.phase.has_ended());
        finished
    }

    /// Returns one line for each agent.
    fn row_lines(&self, elapsed: Duration, width: usize) -> Vec<String> {
        // The last column stays free: some terminals wrap as soon as it is filled.
        let width = width.saturating_sub(1).max(8);
        let names = widest(self.rows.iter().map(|row| &row.name)).max(self.columns.0);
        let detail = if 2 + names + 2 + LONGEST_PHASE <= width {
            DetailLevel::All
        } else {
            DetailLevel::Least
        };
        let phases: Vec<String> = self
            .rows
            .iter()
            .map(|row| self.phase_text(row, elapsed, detail))
            .collect();
        // A long reason for a failure is cut, not the names beside it.
        let phase = widest(&phases).min(LONGEST_PHASE);
        let name = names.min(width.saturating_sub(phase + 4).clamp(6, 28));
        let models = widest(self.rows.iter().map(|row| &row.model.model)).max(self.columns.1);
        let model = Some(models).filter(|model| 2 + name + 2 + model + 2 + phase.max(24) <= width);
        let row = |(row, phase): (&AgentRow, &String)| {
            let mut line = format!(
                "{} {}  ",
                self.mark(row, elapsed),
                self.paint.bold(&pad(&row.name, name))
            );
            if let Some(model) = model {
                let _ = write!(line, "{}  ", self.paint.dim(&pad(&row.model.model, model)));
            }
            line.push_str(phase);
            truncate_str(&line, width, "…").into_owned()
        };
        self.rows.iter().zip(&phases).map(row).collect()
    }

    fn mark(&self, row: &AgentRow, elapsed: Duration) -> String {
        match row.phase {
            AgentPhase::Done { .. } => self.paint.green("✔"),
            AgentPhase::Failed(_) => self.paint.red("✘"),
            AgentPhase::Stopped => self.paint.dim("·"),
            AgentPhase::Working(_) | AgentPhase::Retrying { .. } | AgentPhase::Asking => {
                let frame = usize::try_from(elapsed.as_millis() / FRAME.as_millis()).unwrap_or(0)
                    % FRAMES.len();
                self.paint.cyan(FRAMES.get(frame).copied().unwrap_or("·"))
            }
        }
    }

    fn phase_text(&self, row: &AgentRow, elapsed: Duration, detail: DetailLevel) -> String {
        let waited = clock(elapsed.saturating_sub(row.since));
        let waiting = || match detail {
            DetailLevel::All => self
                .paint
                .yellow(&format!("waiting for {} · {waited}", row.model.provider)),
            DetailLevel::Least => self.paint.yellow(&format!("waiting · {waited}")),
        };
        match &row.phase {
            AgentPhase::Working(calls) => {
                match calls.iter().max_by_key(|open_call| open_call.stage) {
                    None => waiting(),
                    Some(furthest) => calls_text(furthest.stage, calls, &waited, detail),
                }
            }
            AgentPhase::Retrying { until } => {
                match until.saturating_sub(elapsed).as_secs_f64().ceil() {
                    // The wait is over, and the provider has no capacity yet.
                    left if left < 1.0 => waiting(),
                    left => self.paint.yellow(&format!("retrying in {left:.0} s")),
                }
            }
            AgentPhase::Asking => self.paint.yellow("waiting for your answer"),
            AgentPhase::Done { took, tokens, cost } => match detail {
                DetailLevel::All => format!(
                    "done {} · {} tok · {}",
                    seconds(*took),
                    thousands(*tokens),
                    amount(*cost)
                ),
                DetailLevel::Least => format!("{} · {}", seconds(*took), amount(*cost)),
            },
            AgentPhase::Failed(reason) => self.paint.red(&format!("failed: {reason}")),
            AgentPhase::Stopped => self.paint.dim("stopped"),
        }
    }

    fn run_line(&self, elapsed: Duration, width: usize) -> String {
        let (paint, time) = (self.paint, clock(elapsed));
        let spent = amount(self.spent);
        let estimate = self.estimate.filter(|estimate| *estimate != Cost::FREE);
        let against = match estimate {
            Some(estimate) if estimate.lower_bound => format!(" of {estimate:.2}"),
            Some(estimate) => format!(" of about {estimate:.2}"),
            None => String::new(),
        };
        let long = format!(
            "Round {} of {} · {} · {time} · {spent}{against}",
            self.round,
            self.rounds,
            round_title(self.round)
        );
        let short = format!("{}/{} · {time} · {spent}", self.round, self.rounds);
        let width = width.saturating_sub(1).max(8);
        let line = if measure_text_width(&long) <= width {
            long
        } else {
            short
        };
        paint.dim(&truncate_str(&line, width, "…"))
    }
}

/// Describes an agent's open calls by the one that is furthest, and names the model of a hedge.
fn calls_text(stage: CallStage, calls: &[OpenCall], waited: &str, detail: DetailLevel) -> String {
    let stage = match (stage, detail) {
        (CallStage::Connecting, _) => "connecting".to_owned(),
        (CallStage::Thinking, _) => "thinking".to_owned(),
        (CallStage::Writing { ascii, other }, DetailLevel::All) => {
            format!("writing {} tokens", thousands(ascii.div_ceil(4) + other))
        }
        (CallStage::Writing { ascii, other }, DetailLevel::Least) => {
            format!("{} tok", thousands(ascii.div_ceil(4) + other))
        }
    };
    match calls {
        [_, hedge, ..] => format!("{stage} · {waited} · hedged to {}", hedge.model.model),
        [_] | [] => format!("{stage} · {waited}"),
    }
}

/// Cuts or pads the text to a width.
fn pad(text: &str, width: usize) -> String {
    let cut = truncate_str(text, width, "…");
    pad_str(&cut, width, Alignment::Left, None).into_owned()
}
