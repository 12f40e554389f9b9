//! The state of one run: what its turns add up to.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::domain::time::Timestamp;

use super::breaker::{BreakerState, LoopBreaker, TurnProgress};
use super::event::ExitSettings;
use super::evidence::{ErrorSignature, ErrorStreaks, StatedState, TurnEvidence, Words};
use super::progress::ProgressTrail;
use super::run::RunRef;
use crate::stopping::batch::state::next;

/// The counters of one run after its last turn.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopRun {
    #[serde(flatten)]
    pub run: RunRef,
    /// The number of checked turns.
    pub turn: u64,
    /// The time of the last check or record.
    pub last_seen: Timestamp,
    /// Whether the last decision was to stop.
    pub stopped: bool,
    pub progress: ProgressTrail,
    subject: RunSubject,
    /// What the last turn changed.
    pub last_progress: TurnProgress,
    pub claims: ClaimStreak,
    /// Turns in a row that ask the person and change nothing.
    pub question_turns: u64,
    /// Turns in a row with a stated confidence below its threshold.
    pub low_confidence_turns: u64,
    /// Turns in a row in which the agent program failed or said nothing, and changed nothing.
    pub failed_turns: u64,
    pub error_turns: ErrorStreaks,
    pub seed: SeedStagnation,
    pub breaker: LoopBreaker,
    /// The circuit when the last turn was checked, before the turn was recorded.
    pub circuit_before: BreakerState,
}

/// What a run works on: the tasks of its plan, and the commit that it has reached. What is not known
/// has no entry.
type RunSubject = BTreeMap<String, String>;

/// Turns in a row that claim completion while the same tasks are completed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaimStreak {
    pub turns: u64,
    /// The completed tasks at these claims; `None` without a checklist.
    pub completed_set: Option<String>,
}

/// Stagnation as the original script defines it: decisions in a row with the same number of
/// completed tasks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeedStagnation {
    /// `None` until a plan is known.
    pub completed: Option<u64>,
    pub unchanged: u64,
}

impl LoopRun {
    pub fn new(run: RunRef, now: Timestamp) -> Self {
        Self {
            breaker: LoopBreaker::new(run.id.clone(), now),
            run,
            last_seen: now,
            ..Self::default()
        }
    }

    /// In words, what a later turn works on that is not the subject of this run.
    pub(super) fn other_subject(&self, later: &TurnEvidence) -> Option<&'static str> {
        let later = subject(later);
        let differs = |name| {
            let both = self.subject.get(name).zip(later.get(name));
            both.is_some_and(|(earlier, later)| earlier != later)
        };
        if differs("tasks") {
            return Some("the plan has other tasks");
        }
        differs("head").then_some("there is a new commit")
    }

    /// The decision on the turn is not made yet.
    pub fn observe(&mut self, evidence: &TurnEvidence, settings: &ExitSettings, now: Timestamp) {
        self.circuit_before = self.breaker.state(now);
        self.turn = self.turn.saturating_add(1);
        self.last_seen = now;
        self.subject.extend(subject(evidence));
        let (progress, completed_more) = self.progress.observe(evidence);
        self.last_progress = progress;
        let made_none = progress != TurnProgress::Made;

        self.claims.observe(evidence);
        let words = evidence.words.as_ref();
        let asks = words.is_some_and(|words| words.asks_person);
        self.question_turns = next(self.question_turns, asks && made_none);
        let is_low = |stated| u64::from(stated) < settings.thresholds.min_confidence;
        let is_low = evidence.stated_confidence.is_some_and(is_low);
        self.low_confidence_turns = next(self.low_confidence_turns, is_low);
        self.failed_turns = next(self.failed_turns, agent_failed(evidence) && made_none);
        // An agent that completes another task is past its errors, even if it reports them again.
        let errors: &[ErrorSignature] = if completed_more {
            &[]
        } else {
            &evidence.errors
        };
        self.error_turns.observe(errors);
        self.seed.observe(evidence);
        self.breaker
            .record(&settings.circuit, progress, errors, now);
    }
}

fn subject(evidence: &TurnEvidence) -> RunSubject {
    let tasks = evidence.checklist.as_ref().map(|plan| plan.tasks.clone());
    let tasks = tasks.filter(|tasks| !tasks.is_empty());
    let head = evidence.git.as_ref().and_then(|git| git.head.clone());
    let known = [("tasks", tasks), ("head", head)].into_iter();
    known
        .filter_map(|(name, value)| Some((name.to_owned(), value?)))
        .collect()
}

impl ClaimStreak {
    fn observe(&mut self, evidence: &TurnEvidence) {
        let checklist = evidence.checklist.as_ref();
        let set = checklist.map(|checklist| checklist.completed_set.clone());
        if !claims_completion(evidence) {
            *self = Self::default();
        } else if self.turns > 0 && self.completed_set == set {
            self.turns = self.turns.saturating_add(1);
        } else {
            *self = Self {
                turns: 1,
                completed_set: set,
            };
        }
    }
}

impl SeedStagnation {
    fn observe(&mut self, evidence: &TurnEvidence) {
        let Some(tasks) = evidence.seed_tasks else {
            return;
        };
        let is_unchanged = self.completed == Some(tasks.completed);
        self.unchanged = next(self.unchanged, is_unchanged);
        self.completed = Some(tasks.completed);
    }
}

/// Returns whether a turn claims, in a status block or in words, that all work is done, and says
/// nothing to the contrary.
fn claims_completion(evidence: &TurnEvidence) -> bool {
    let admits = |failure: fn(&Words) -> bool| evidence.words.as_ref().is_some_and(failure);
    match evidence.status.as_ref().map(|status| status.state) {
        // One that only seems to lack something arms the rule; the guard holds back its stop.
        Some(StatedState::Done) => !admits(|words| words.admission.is_some()),
        Some(StatedState::NotDone | StatedState::Blocked) => false,
        None => admits(|words| words.claims_completion && !words.admits_open_work),
    }
}

fn agent_failed(evidence: &TurnEvidence) -> bool {
    let is_silent = evidence.words.is_none() && evidence.status.is_none();
    is_silent || evidence.agent_exit.is_some_and(|status| status != 0)
}
