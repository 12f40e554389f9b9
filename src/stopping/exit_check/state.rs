//! The state of the loops in one folder: a fold over the events of their log.
//!
//! Pure: the time and the id of a new run are arguments. Each event carries what the decision
//! depended on, so that a replay of the log gives the state and the decisions of the live checks.
//!
//! Several named runs may take turns in one folder; each has its own counters and its own circuit.

use std::convert::Infallible;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::breaker::BreakerState;
use super::event::{ExitPolicy, ExitSettings, LoopEvent, LoopEventKind, TurnRecord};
use super::evidence::TurnEvidence;
use super::rules::{self, CheckedTurn};
use super::run::{LoopRunId, RunOrigin, RunRef};
use super::run_state::LoopRun;
use super::strict_seed;
use super::totals::DecisionTotals;
use crate::domain::record::log::Fold;
use crate::domain::time::Timestamp;

/// The most runs that are remembered; a folder rarely has two loops at once.
const MAX_RUNS: usize = 8;

/// The time without a check after which an implicit run has expired: its loop ended in some other
/// way.
pub const IMPLICIT_RUN_EXPIRY: Duration = Duration::from_secs(2 * 60 * 60);

/// The time after the end of an implicit run after which the next check is of another loop: one that
/// goes on in spite of a stop checks again after its next turn.
pub const NEW_LOOP_AFTER: Duration = Duration::from_secs(10 * 60);

/// The runs of one folder, and totals over all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LoopState {
    #[serde(flatten)]
    pub totals: DecisionTotals,
    /// The latest runs, the last used one at the end.
    runs: Vec<LoopRun>,
}

impl Fold for LoopState {
    type Event = LoopEvent;
    type Error = Infallible;

    fn begin(event: &LoopEvent) -> Result<Self, Infallible> {
        let mut state = Self::default();
        state.apply(event);
        Ok(state)
    }

    fn apply(&mut self, event: &LoopEvent) -> Result<(), Infallible> {
        self.apply(event);
        Ok(())
    }
}

impl LoopState {
    pub fn current(&self) -> Option<&LoopRun> {
        self.runs.last()
    }

    pub fn run(&self, id: &LoopRunId) -> Option<&LoopRun> {
        self.runs.iter().find(|run| run.run.id == *id)
    }

    /// [`LoopEventKind::ClockSetBack`] is the event to be logged.
    pub fn is_ahead_of(&self, now: Timestamp) -> bool {
        let waits = |run: &LoopRun| run.breaker.is_ahead_of(now) && !run.breaker.is_closed();
        self.runs.iter().any(waits)
    }

    /// The named one, else the implicit run, or one with the id of this time if that has stopped or
    /// expired.
    pub fn next_run(&self, named: Option<&str>, now: Timestamp) -> RunRef {
        if let Some(name) = named {
            return RunRef {
                id: LoopRunId(name.to_owned()),
                origin: RunOrigin::Named,
            };
        }
        match self.last_implicit() {
            Some(run) if !run.stopped && !has_expired(run, now) => run.run.clone(),
            _ => RunRef {
                id: LoopRunId(now.to_string()),
                origin: RunOrigin::Implicit,
            },
        }
    }

    /// Why an implicit run that has no turn yet is another loop than the one before it, in words.
    /// `None` if it is not known to be one, or if it is the first.
    pub fn new_loop(
        &self,
        run: &RunRef,
        evidence: Option<&TurnEvidence>,
        now: Timestamp,
    ) -> Option<&'static str> {
        if run.origin == RunOrigin::Named || self.run(&run.id).is_some() {
            return None;
        }
        let before = self.last_implicit()?;
        let has_waited = has_expired(before, now)
            || before.stopped && now.since(before.last_seen) >= NEW_LOOP_AFTER;
        let change = evidence.and_then(|evidence| before.other_subject(evidence));
        change.or(has_waited.then_some("the last one ended a while ago"))
    }

    /// Changes nothing: [`Self::apply`] does.
    pub fn check(
        &self,
        run: RunRef,
        now: Timestamp,
        evidence: TurnEvidence,
        settings: ExitSettings,
    ) -> LoopEvent {
        let mut state = self.begun(&run, Some(&evidence), now);
        state.observe(&evidence, &settings, now);
        let turn = CheckedTurn {
            thresholds: &settings.thresholds,
            run: &state,
            evidence: &evidence,
            now,
        };
        let evaluation = match settings.policy {
            ExitPolicy::Corrected => rules::evaluate(&turn),
            ExitPolicy::StrictSeed => strict_seed::evaluate(&turn),
        };
        let record = TurnRecord {
            run,
            turn: state.turn,
            evidence,
            settings,
            evaluation,
        };
        LoopEvent::new(now, LoopEventKind::Turn(Box::new(record)))
    }

    pub fn apply(&mut self, event: &LoopEvent) {
        let now = event.time;
        match &event.kind {
            LoopEventKind::Turn(record) => {
                self.change_run(&record.run, Some(&record.evidence), now, |run| {
                    run.observe(&record.evidence, &record.settings, now);
                    run.stopped = record.evaluation.stops();
                });
                let policy = record.settings.policy;
                self.totals
                    .record(policy, &record.evidence, &record.evaluation);
            }
            LoopEventKind::CircuitRecord(record) => {
                self.change_run(&record.run, None, now, |run| {
                    let rule = &record.settings.circuit;
                    run.breaker
                        .record(rule, record.progress, &record.errors, now);
                });
            }
            LoopEventKind::CircuitReset { run } => {
                self.change_run(run, None, now, |run| run.breaker.reset(now));
            }
            LoopEventKind::Reset => *self = Self::default(),
            LoopEventKind::ClockSetBack => {
                for run in &mut self.runs {
                    run.breaker.observe(now);
                    run.last_seen = run.last_seen.min(now);
                }
            }
        }
    }

    /// Changes a run, which begins if it is new, and puts it at the end of the list.
    fn change_run(
        &mut self,
        run: &RunRef,
        evidence: Option<&TurnEvidence>,
        now: Timestamp,
        change: impl FnOnce(&mut LoopRun),
    ) {
        let mut state = self.begun(run, evidence, now);
        state.last_seen = now;
        change(&mut state);
        // There is one implicit run at a time.
        let is_replaced = |other: &RunRef| {
            other.id == run.id
                || (other.origin == RunOrigin::Implicit && run.origin == RunOrigin::Implicit)
        };
        self.runs.retain(|other| !is_replaced(&other.run));
        self.runs.push(state);
        let excess = self.runs.len().saturating_sub(MAX_RUNS);
        self.runs.drain(..excess);
    }

    /// Returns the state of a run, or that of a new one. A new implicit run inherits a circuit that
    /// is not closed from the implicit run before it, unless it is another loop: the next check must
    /// not undo a stop, and the end of a loop must not stop the next one.
    fn begun(&self, run: &RunRef, evidence: Option<&TurnEvidence>, now: Timestamp) -> LoopRun {
        if let Some(state) = self.run(&run.id) {
            return state.clone();
        }
        let mut state = LoopRun::new(run.clone(), now);
        let goes_on =
            run.origin == RunOrigin::Implicit && self.new_loop(run, evidence, now).is_none();
        if let Some(before) = self.last_implicit().filter(|_| goes_on) {
            state.breaker = before.breaker.clone();
            state.breaker.begin_run(run.id.clone(), now);
        }
        state
    }

    fn last_implicit(&self) -> Option<&LoopRun> {
        let mut latest_first = self.runs.iter().rev();
        latest_first.find(|run| run.run.origin == RunOrigin::Implicit)
    }
}

/// An open circuit still rests for as long as it rests.
fn has_expired(run: &LoopRun, now: Timestamp) -> bool {
    let is_resting = matches!(run.breaker.state(now), BreakerState::Open { .. });
    !is_resting && now.since(run.last_seen) > IMPLICIT_RUN_EXPIRY
}
