//! The live display: one line for each agent at work and one for the run, redrawn in place on standard error.
//! What it shows is a value (`Screen`) that is turned into lines purely; drawing them, and the clock, are indicatif's.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use console::{Term, measure_text_width, truncate_str};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use crate::domain::ids::SeatId;
use crate::domain::money::Cost;

use super::paint::Paint;
use super::words::{amount, clock, round_title, seconds, thousands};

const FRAMES: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
/// Columns of `done 12.3s · 12,345 tok · $0.0131`.
const LONGEST_PHASE: usize = 33;
const FRAME: Duration = Duration::from_millis(100);

/// The display and what is on it. Nothing is drawn before `start`.
pub(super) struct Live {
    bar: ProgressBar,
    screen: Arc<Mutex<Screen>>,
}

impl Live {
    pub(super) fn new(paint: Paint, bar: ProgressBar) -> Self {
        Self { bar, screen: Arc::new(Mutex::new(Screen::new(paint))) }
    }

    /// Begins to draw, and to count the time.
    pub(super) fn start(&self) {
        let screen = Arc::clone(&self.screen);
        let draw = move |state: &ProgressState, to: &mut dyn std::fmt::Write| {
            let (rows, columns) = Term::stderr().size_checked().unwrap_or((24, 80));
            let lines = lock(&screen).lines(state.elapsed(), usize::from(columns), usize::from(rows));
            // Only a formatter that fails could make this fail.
            let _ = to.write_str(&lines.join("\n"));
        };
        let style = ProgressStyle::with_template("{screen}").unwrap_or_else(|_| ProgressStyle::default_spinner());
        self.bar.set_style(style.with_key("screen", draw));
        self.bar.reset_elapsed();
        self.bar.set_draw_target(ProgressDrawTarget::stderr());
        self.bar.enable_steady_tick(FRAME);
    }

    /// True when nothing is drawn: before the first line, or while a question is open.
    pub(super) fn is_hidden(&self) -> bool {
        let screen = lock(&self.screen);
        screen.hidden || screen.rows.is_empty()
    }

    /// Takes the display away for good.
    pub(super) fn stop(&self) {
        self.bar.disable_steady_tick();
        self.aside(|| lock(&self.screen).hidden = true);
        self.bar.set_draw_target(ProgressDrawTarget::hidden());
    }

    /// Leaves what is drawn where it is, for good. The echo of Ctrl-C has moved the cursor, so that nothing can be redrawn in place.
    pub(super) fn leave(&self) {
        self.bar.disable_steady_tick();
        self.bar.set_draw_target(ProgressDrawTarget::hidden());
        let mut screen = lock(&self.screen);
        screen.hidden = true;
        screen.rows.clear();
    }

    /// Takes the display away until what is returned is dropped: while a question is open.
    pub(super) fn hide(&self) -> Hidden<'_> {
        self.aside(|| lock(&self.screen).hidden = true);
        Hidden(self)
    }

    /// Runs what writes to the terminal, with the display out of its way.
    pub(super) fn aside<R>(&self, write: impl FnOnce() -> R) -> R {
        self.bar.suspend(write)
    }

    /// Changes what is shown; it is drawn with the next frame.
    pub(super) fn update(&self, change: impl FnOnce(&mut Screen)) {
        change(&mut lock(&self.screen));
    }
}

/// The display is out of the way as long as this lives.
pub(super) struct Hidden<'a>(&'a Live);

impl Drop for Hidden<'_> {
    fn drop(&mut self) {
        lock(&self.0.screen).hidden = false;
    }
}

fn lock(screen: &Mutex<Screen>) -> MutexGuard<'_, Screen> {
    screen.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What is on the display. Times count from the start of the run.
#[derive(Clone, Debug)]
pub(super) struct Screen {
    hidden: bool,
    paint: Paint,
    pub(super) rows: Vec<Row>,
    /// Widths that names and models take at least, so that the columns of all rounds stand under each other.
    pub(super) columns: (usize, usize),
    pub(super) round: u8,
    pub(super) rounds: u8,
    pub(super) spent: Cost,
    pub(super) estimate: Option<Cost>,
}

/// One agent in one round.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) agent: SeatId,
    pub(super) name: String,
    pub(super) model: String,
    pub(super) since: Duration,
    pub(super) phase: Phase,
}

/// What an agent is at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Connecting,
    Thinking,
    Writing {
        ascii: u64,
        other: u64,
    },
    Retrying {
        until: Duration,
    },
    Done {
        took: Duration,
        tokens: u64,
        cost: Cost,
    },
    Failed(String),
    /// The run ended before the agent did.
    Stopped,
}

/// How much of a phase there is room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Detail {
    All,
    Least,
}

impl Phase {
    fn has_ended(&self) -> bool {
        match self {
            Self::Done { .. } | Self::Failed(_) | Self::Stopped => true,
            Self::Connecting | Self::Thinking | Self::Writing { .. } | Self::Retrying { .. } => false,
        }
    }

    /// Counts a piece of the answer.
    pub(super) fn write(&mut self, piece: &str) {
        let all = piece.chars().count() as u64;
        let ascii = piece.chars().filter(char::is_ascii).count() as u64;
        *self = match *self {
            Self::Writing { ascii: before, other } => Self::Writing { ascii: before + ascii, other: other + all - ascii },
            Self::Connecting | Self::Thinking | Self::Retrying { .. } | Self::Done { .. } | Self::Failed(_) | Self::Stopped => {
                Self::Writing { ascii, other: all - ascii }
            }
        };
    }
}

impl Screen {
    fn new(paint: Paint) -> Self {
        Self { hidden: false, paint, rows: Vec::new(), columns: (0, 0), round: 0, rounds: 4, spent: Cost::FREE, estimate: None }
    }

    /// The latest line of an agent.
    pub(super) fn row(&mut self, agent: &SeatId) -> Option<&mut Row> {
        self.rows.iter_mut().rev().find(|row| &row.agent == agent)
    }

    /// Marks all that are still at work as stopped.
    pub(super) fn stop_all(&mut self) {
        for row in &mut self.rows {
            if !row.phase.has_ended() {
                row.phase = Phase::Stopped;
            }
        }
    }

    /// The display as lines, none of them wider than the terminal, and not more than it has rows.
    pub(super) fn lines(&self, elapsed: Duration, width: usize, height: usize) -> Vec<String> {
        if self.hidden || self.rows.is_empty() {
            return Vec::new();
        }
        let mut lines = self.row_lines(elapsed, width);
        let room = height.saturating_sub(3).max(1);
        if lines.len() > room {
            // Those at work are worth the room.
            let (ended, at_work): (Vec<_>, Vec<_>) = lines.into_iter().zip(&self.rows).partition(|(_, row)| row.phase.has_ended());
            let done = ended.len();
            lines = at_work.into_iter().chain(ended).map(|(line, _)| line).take(room).collect();
            let rest = format!("… {} more, {done} of {} done", self.rows.len() - room, self.rows.len());
            lines.push(self.paint.dim(&truncate_str(&rest, width.saturating_sub(1).max(8), "…")));
        }
        lines.push(self.run_line(elapsed, width));
        lines
    }

    /// The lines of the agents.
    pub(super) fn row_lines(&self, elapsed: Duration, width: usize) -> Vec<String> {
        // A last column left free: some terminals wrap as soon as it is filled.
        let width = width.saturating_sub(1).max(8);
        let widest = |text: fn(&Row) -> &String, at_least: usize| {
            self.rows.iter().map(|row| measure_text_width(text(row))).max().unwrap_or(0).max(at_least)
        };
        let names = widest(|row| &row.name, self.columns.0);
        let detail = if 2 + names + 2 + LONGEST_PHASE <= width { Detail::All } else { Detail::Least };
        let phases: Vec<String> = self.rows.iter().map(|row| self.phase(row, elapsed, detail)).collect();
        // A reason for failing is cut rather than the names beside it.
        let phase = phases.iter().map(|phase| measure_text_width(phase)).max().unwrap_or(0).min(LONGEST_PHASE);
        let name = names.min(width.saturating_sub(phase + 4).clamp(6, 28));
        let model = Some(widest(|row| &row.model, self.columns.1)).filter(|model| 2 + name + 2 + model + 2 + phase.max(24) <= width);
        let row = |(row, phase): (&Row, &String)| {
            let mut line = format!("{} {}  ", self.sign(row, elapsed), self.paint.bold(&pad(&row.name, name)));
            if let Some(model) = model {
                let _ = write!(line, "{}  ", self.paint.dim(&pad(&row.model, model)));
            }
            line.push_str(phase);
            truncate_str(&line, width, "…").into_owned()
        };
        self.rows.iter().zip(&phases).map(row).collect()
    }

    fn sign(&self, row: &Row, elapsed: Duration) -> String {
        match row.phase {
            Phase::Done { .. } => self.paint.green("✔"),
            Phase::Failed(_) => self.paint.red("✘"),
            Phase::Stopped => self.paint.dim("·"),
            Phase::Connecting | Phase::Thinking | Phase::Writing { .. } | Phase::Retrying { .. } => {
                let frame = usize::try_from(elapsed.as_millis() / FRAME.as_millis()).unwrap_or(0) % FRAMES.len();
                self.paint.cyan(FRAMES.get(frame).copied().unwrap_or("·"))
            }
        }
    }

    fn phase(&self, row: &Row, elapsed: Duration, detail: Detail) -> String {
        let waited = clock(elapsed.saturating_sub(row.since));
        match &row.phase {
            Phase::Connecting => format!("connecting · {waited}"),
            Phase::Thinking => format!("thinking · {waited}"),
            Phase::Writing { ascii, other } => {
                let tokens = thousands(ascii.div_ceil(4) + other);
                match detail {
                    Detail::All => format!("writing {tokens} tokens · {waited}"),
                    Detail::Least => format!("{tokens} tok · {waited}"),
                }
            }
            Phase::Retrying { until } => {
                let left = until.saturating_sub(elapsed).as_secs_f64().ceil();
                self.paint.yellow(&format!("retrying in {left:.0} s"))
            }
            Phase::Done { took, tokens, cost } => match detail {
                Detail::All => format!("done {} · {} tok · {}", seconds(*took), thousands(*tokens), amount(*cost)),
                Detail::Least => format!("{} · {}", seconds(*took), amount(*cost)),
            },
            Phase::Failed(reason) => self.paint.red(&format!("failed: {reason}")),
            Phase::Stopped => self.paint.dim("stopped"),
        }
    }

    fn run_line(&self, elapsed: Duration, width: usize) -> String {
        let (paint, time) = (self.paint, clock(elapsed));
        let spent = amount(self.spent);
        let estimate = self.estimate.filter(|estimate| *estimate != Cost::FREE);
        let against =
            estimate.map(|estimate| format!(" of {}{estimate:.2}", if estimate.lower_bound { "" } else { "about " })).unwrap_or_default();
        let long = format!("Round {} of {} · {} · {time} · {spent}{against}", self.round, self.rounds, round_title(self.round));
        let short = format!("{}/{} · {time} · {spent}", self.round, self.rounds);
        let width = width.saturating_sub(1).max(8);
        let line = if measure_text_width(&long) <= width { long } else { short };
        paint.dim(&truncate_str(&line, width, "…"))
    }
}

/// The text cut or filled up to a width.
fn pad(text: &str, width: usize) -> String {
    let cut = truncate_str(text, width, "…");
    let missing = width.saturating_sub(measure_text_width(&cut));
    format!("{cut}{}", " ".repeat(missing))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::money::MicroUsd;

    fn screen() -> Screen {
        let row = |agent: &str, name: &str, model: &str, phase| Row {
            agent: SeatId::new(agent),
            name: name.to_owned(),
            model: model.to_owned(),
            since: Duration::from_secs(2),
            phase,
        };
        let done = Phase::Done { took: Duration::from_millis(8_200), tokens: 1_204, cost: Cost::exactly(MicroUsd(13_100)) };
        let mut screen = Screen::new(Paint::Plain);
        screen.rows = vec![
            row("security", "Security Expert", "claude-sonnet-5-5", done),
            row("architect", "Architect", "gpt-6.1-sol", Phase::Writing { ascii: 400, other: 2 }),
            row("pragmatic", "Pragmatist", "gemini-3-pro", Phase::Retrying { until: Duration::from_secs(14) }),
            row("skeptic", "建築家 with a very long name indeed", "m", Phase::Failed("no credit left".to_owned())),
        ];
        screen.round = 1;
        screen.spent = Cost::exactly(MicroUsd(13_100));
        screen.estimate = Some(Cost::at_least(MicroUsd(300_000)));
        screen
    }

    #[test]
    fn each_agent_has_a_line_that_says_what_it_is_at() {
        insta::assert_snapshot!(screen().lines(Duration::from_millis(10_400), 100, 24).join("\n"), @r"
        ✔ Security Expert               claude-sonnet-5-5  done 8.2s · 1,204 tok · $0.0131
        ⠼ Architect                     gpt-6.1-sol        writing 102 tokens · 0:08
        ⠼ Pragmatist                    gemini-3-pro       retrying in 4 s
        ✘ 建築家 with a very long nam…  m                  failed: no credit left
        Round 1 of 4 · independent answers · 0:10 · $0.0131 of ≥ $0.30
        ");
    }

    #[test]
    fn a_narrow_terminal_drops_the_model_first_and_no_line_is_wider_than_it() {
        insta::assert_snapshot!(screen().lines(Duration::from_millis(10_400), 50, 24).join("\n"), @r"
        ✔ Security Expert          8.2s · $0.0131
        ⠼ Architect                102 tok · 0:08
        ⠼ Pragmatist               retrying in 4 s
        ✘ 建築家 with a very lon…  failed: no credit left
        1/4 · 0:10 · $0.0131
        ");
        for width in 10..130 {
            for line in screen().lines(Duration::from_secs(3_700), width, 24) {
                assert!(measure_text_width(&line) < width, "{width}: {line}");
            }
        }
    }

    #[test]
    fn a_low_terminal_shows_who_is_at_work_and_how_the_run_stands() {
        insta::assert_snapshot!(screen().lines(Duration::from_millis(10_400), 60, 5).join("\n"), @r"
        ⠼ Architect                     102 tok · 0:08
        ⠼ Pragmatist                    retrying in 4 s
        … 2 more, 2 of 4 done
        1/4 · 0:10 · $0.0131
        ");
    }
}
