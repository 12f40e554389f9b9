//! The reports of `conclave exit-check state` and `history`: plain data, which is also their JSON,
//! and their screens.

use jiff::tz::TimeZone;
use serde::Serialize;

use super::circuit::{check, state_of};
use super::doctor::{Check, CheckStatus, check_lines};
use crate::domain::time::Timestamp;
#[cfg(test)]
use crate::stopping::evaluation::DecisionWord;
use crate::stopping::exit_check::breaker::{BreakerState, TurnProgress};
use crate::stopping::exit_check::event::{LoopEvent, LoopEventKind};
use crate::stopping::exit_check::run::{LoopRunId, RunOrigin, RunRef};
use crate::stopping::exit_check::run_state::LoopRun;
use crate::stopping::exit_check::totals::{DecisionTotals, SeedDecision};
use crate::terminal::document::{self, Table, Tail};
use crate::terminal::output::evaluation_tree::decision_in_words;
use crate::terminal::output::format::local_moment;
use crate::terminal::output::style::Paint;

/// The state of a loop at one moment.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ExitStateReport {
    #[cfg_attr(test, schemars(extend("const" = "1.0")))]
    pub schema_version: &'static str,
    /// The folder of the state.
    pub folder: String,
    /// `None` before the first turn.
    pub run: Option<RunView>,
    pub circuit: BreakerState,
    /// The last decision, and totals over all runs, under the names of the original script.
    #[serde(flatten)]
    pub totals: DecisionTotals,
}

/// The counters of a run.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RunView {
    pub id: LoopRunId,
    pub origin: RunOrigin,
    /// The number of checked turns.
    pub turn: u64,
    pub last_seen: Timestamp,
    /// Whether the last decision was to stop.
    pub stopped: bool,
    pub last_progress: TurnProgress,
    /// Turns in a row without progress; `None` if nothing is measured.
    pub no_progress_turns: Option<u64>,
    /// Turns in a row that claim completion.
    pub completion_claims: u64,
    /// Turns in a row that ask the person.
    pub question_turns: u64,
    /// Turns in a row with a low stated confidence.
    pub low_confidence_turns: u64,
    /// Turns in a row in which the agent program failed or said nothing.
    pub failed_turns: u64,
    /// Turns in a row with the error that lasts longest.
    pub same_error_turns: u64,
}

impl ExitStateReport {
    pub fn new(
        folder: String,
        run: Option<&LoopRun>,
        totals: DecisionTotals,
        now: Timestamp,
    ) -> Self {
        Self {
            schema_version: "1.0",
            folder,
            run: run.map(RunView::of),
            circuit: state_of(run, now),
            totals,
        }
    }
}

impl RunView {
    fn of(run: &LoopRun) -> Self {
        let is_measured = run.progress.is_measured();
        Self {
            id: run.run.id.clone(),
            origin: run.run.origin,
            turn: run.turn,
            last_seen: run.last_seen,
            stopped: run.stopped,
            last_progress: run.last_progress,
            no_progress_turns: is_measured.then_some(run.progress.unchanged_turns),
            completion_claims: run.claims.turns,
            question_turns: run.question_turns,
            low_confidence_turns: run.low_confidence_turns,
            failed_turns: run.failed_turns,
            same_error_turns: run
                .error_turns
                .longest()
                .map_or(0, |(_, turns)| turns.into()),
        }
    }

    fn check(&self, now: Timestamp, zone: &TimeZone) -> Check {
        let seen = local_moment(self.last_seen, now, zone);
        let turns = match self.turn {
            0 => "no turn checked".to_owned(),
            turn => format!("turn {turn}"),
        };
        let message = format!("{}: {turns}, last seen {seen}", self.id);
        Check::new(CheckStatus::Note, message, "").of("run", "run")
    }

    fn streaks(&self) -> Check {
        let progress = self
            .no_progress_turns
            .map_or_else(|| "unknown".to_owned(), |turns| turns.to_string());
        let counters = [
            ("questions", self.question_turns),
            ("same error", self.same_error_turns),
            ("low confidence", self.low_confidence_turns),
            ("claims of completion", self.completion_claims),
            ("failures of the agent program", self.failed_turns),
        ];
        let mut text = format!("turns in a row: {progress} without progress");
        for (name, turns) in counters.into_iter().filter(|(_, turns)| *turns > 0) {
            text.extend([", ", &turns.to_string(), " with ", name]);
        }
        Check::new(CheckStatus::Note, text, "").of("streaks", "streaks")
    }
}

/// `None` does not wrap.
pub fn screen(
    report: &ExitStateReport,
    now: Timestamp,
    zone: &TimeZone,
    width: Option<usize>,
    paint: Paint,
) -> String {
    let totals = &report.totals;
    let decision = match totals.decision {
        None => Check::new(CheckStatus::Note, "none yet", ""),
        Some(decision) => {
            let (status, word) = match decision {
                SeedDecision::Continue => (CheckStatus::Ok, "CONTINUE"),
                SeedDecision::Exit => (CheckStatus::Warning, "STOP"),
            };
            let reason = &totals.decision_reason;
            Check::new(status, format!("{word}: {reason}"), "")
        }
    };
    let decision = decision.of("decision", "decision");
    let mut checks = vec![decision, check(&report.circuit, now, zone)];
    if let Some(run) = &report.run {
        checks.push(run.check(now, zone));
        checks.push(run.streaks());
    }
    let total = format!(
        "{} decisions: {} to continue, {} to stop",
        totals.total_decisions, totals.continue_count, totals.exit_count
    );
    checks.push(Check::new(CheckStatus::Note, total, "").of("total", "total"));
    checks.push(Check::new(CheckStatus::Note, &report.folder, "").of("folder", "folder"));
    check_lines(&checks, width, paint)
}

/// Events of the log, newest first.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ExitHistory {
    #[cfg_attr(test, schemars(extend("const" = "1.0")))]
    pub schema_version: &'static str,
    pub events: Vec<ExitHistoryRow>,
}

/// An event in one line.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ExitHistoryRow {
    pub time: Timestamp,
    #[cfg_attr(test, schemars(extend("enum" = [
        "turn", "circuit_record", "circuit_reset", "reset", "clock_set_back"
    ])))]
    pub event: &'static str,
    /// `None` for what concerns all runs.
    pub run: Option<LoopRunId>,
    /// The number of a checked turn in its run.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub turn: Option<u64>,
    /// The decision of a checked turn.
    #[cfg_attr(test, schemars(with = "Option<DecisionWord>"))]
    pub decision: Option<String>,
    /// The rule that decided a stop.
    pub rule: Option<String>,
    /// The event in words.
    pub message: String,
}

impl ExitHistory {
    pub fn new(events: &[LoopEvent]) -> Self {
        Self {
            schema_version: "1.0",
            events: events.iter().map(ExitHistoryRow::of).collect(),
        }
    }
}

impl ExitHistoryRow {
    fn of(event: &LoopEvent) -> Self {
        let (mut turn, mut decision, mut rule) = (None, None, None);
        let (name, run, message): (_, Option<&RunRef>, _) = match &event.kind {
            LoopEventKind::Turn(record) => {
                let evaluation = &record.evaluation;
                turn = Some(record.turn);
                decision = Some(evaluation.decision_name());
                rule = evaluation.deciding_rule().map(ToOwned::to_owned);
                let message = decision_in_words(&evaluation.decision);
                ("turn", Some(&record.run), message)
            }
            LoopEventKind::CircuitRecord(record) => {
                let progress = match record.progress {
                    TurnProgress::Made => "circuit: progress",
                    TurnProgress::None => "circuit: no progress",
                    TurnProgress::Unknown => "circuit: progress unknown",
                };
                let mut message = progress.to_owned();
                for error in &record.errors {
                    message.extend([", error: ", &error.0]);
                }
                ("circuit_record", Some(&record.run), message)
            }
            LoopEventKind::CircuitReset { run } => {
                ("circuit_reset", Some(run), "circuit closed by hand".into())
            }
            LoopEventKind::Reset => ("reset", None, "everything was reset".into()),
            LoopEventKind::ClockSetBack => {
                ("clock_set_back", None, "the clock went backwards".into())
            }
        };
        Self {
            time: event.time,
            event: name,
            run: run.map(|run| run.id.clone()),
            turn,
            decision,
            rule,
            message,
        }
    }
}

/// `None` does not cut.
pub fn history_screen(
    history: &ExitHistory,
    now: Timestamp,
    zone: &TimeZone,
    width: Option<usize>,
    paint: Paint,
) -> String {
    let rows = history.events.iter().map(|event| {
        let run = event.run.as_ref().map(|run| run.0.clone());
        let turn = event.turn.map(|turn| turn.to_string());
        vec![
            local_moment(event.time, now, zone),
            run.unwrap_or_default(),
            turn.unwrap_or_default(),
            event.message.clone(),
        ]
    });
    let heads = ["TIME", "RUN", "TURN", "DECISION"];
    let table = Table::with_tail(Tail::Cut, 2, &heads, rows);
    document::screen(table.as_slice(), width, paint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schema_of_the_state_is_published() {
        let title = "What `conclave exit-check state --json` prints; `reset` prints it too";
        crate::schema::check::<ExitStateReport>("exit_state", title);
    }

    #[test]
    fn schema_of_the_history_is_published() {
        let title = "What `conclave exit-check history --json` prints";
        crate::schema::check::<ExitHistory>("exit_history", title);
    }
}
