//! The state of a run: the fold of its log. Pure: a live run decides from the same state that a
//! replay of its log gives.
//!
//! The driver of a run appends an event for each action and applies it. Then it appends the events
//! of [`BenchmarkState::due_event`] until there are none: a halt when a stop condition fires, the
//! end when nothing is left to wait for. [`BenchmarkState::next_start`] names the case run to start
//! next.

mod queue;
mod view;

use std::collections::VecDeque;

use crate::domain::record::log::Fold;
use crate::domain::time::Timestamp;
use crate::stopping::batch::reason::{BatchStopReason, StopCondition};
use crate::stopping::batch::state::{BatchState, Workload};
use crate::stopping::batch::statistics::BatchStatistics;
use crate::stopping::batch::totals::ItemRole;
use crate::stopping::evaluation::Evaluation;

use super::event::{BenchmarkEvent, BenchmarkEventKind, CaseRunDeferred, DeferralCause, RunBegun};
use super::result::{CaseOutcome, CaseResult};
use super::run::{Arm, CaseRunId, RunId};
use crate::domain::record::stored_record::spend::ConsultationSpend;

use queue::CaseRunQueue;

pub use queue::PendingCaseRun;
pub use view::{BenchmarkStateView, BenchmarkStatus};

/// A log whose events do not follow from each other.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BenchmarkStateError {
    #[error("its first event is not the beginning of a run")]
    NotBegun,
    #[error("a run begins twice")]
    BegunTwice,
    #[error("`{}` is not a case run of this run, or is finished", .0.describe())]
    UnknownCaseRun(CaseRunId),
}

/// Everything that is known of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct BenchmarkState {
    pub begun: RunBegun,
    pub begun_at: Timestamp,
    pub updated_at: Timestamp,
    /// The runs that this one was merged from.
    pub merged_from: Vec<RunId>,
    pub batch: BatchState,
    queue: CaseRunQueue,
    /// In the order of their ends.
    pub results: Vec<CaseResult>,
    phase: RunPhase,
    probe: ProbePhase,
    /// Since the run began, oldest first.
    pub halts: Vec<BatchStopReason>,
    /// Why the last attempt without an answer had none.
    last_error: Option<String>,
}

/// What a run does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RunPhase {
    Running,
    /// Nothing starts any more.
    Halted,
    /// Nothing is in flight either.
    Ended,
}

/// The first case run after a resume: it runs alone.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ProbePhase {
    None,
    Due,
    Running(CaseRunId),
}

/// What follows when an attempt gave no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterFailedAttempt {
    /// Start another attempt.
    Retry,
    /// Record that the case run remains to be done, because the run stops.
    Defer,
    /// Record that the case run failed.
    Fail,
}

impl Fold for BenchmarkState {
    type Event = BenchmarkEvent;
    type Error = BenchmarkStateError;

    fn begin(event: &BenchmarkEvent) -> Result<Self, BenchmarkStateError> {
        let BenchmarkEventKind::Begun(begun) = &event.kind else {
            return Err(BenchmarkStateError::NotBegun);
        };
        Ok(Self {
            batch: BatchState::new(begun.conditions),
            queue: CaseRunQueue::new(begun.terms.case_runs(), begun.terms.attempts_per_case),
            begun: begun.as_ref().clone(),
            begun_at: event.time,
            updated_at: event.time,
            merged_from: Vec::new(),
            results: Vec::new(),
            phase: RunPhase::Running,
            probe: ProbePhase::None,
            halts: Vec::new(),
            last_error: None,
        })
    }

    fn apply(&mut self, event: &BenchmarkEvent) -> Result<(), BenchmarkStateError> {
        match &event.kind {
            BenchmarkEventKind::Begun(_) => return Err(BenchmarkStateError::BegunTwice),
            BenchmarkEventKind::Merged { runs } => self.merged_from.clone_from(runs),
            BenchmarkEventKind::CaseRunStarted {
                run, consultation, ..
            } => {
                let is_new = self.queue.start(run, consultation)?;
                if is_new {
                    self.batch.start_attempt();
                }
                if self.probe == ProbePhase::Due {
                    self.probe = ProbePhase::Running(run.clone());
                }
            }
            BenchmarkEventKind::GradingStarted { run, consultation } => {
                self.queue.grade(run, consultation)?;
            }
            BenchmarkEventKind::CaseRunFinished { result } => self.finish(result)?,
            BenchmarkEventKind::CaseRunDeferred(deferred) => self.defer(deferred)?,
            BenchmarkEventKind::StopRequested(request) => self.batch.request_stop(request.clone()),
            BenchmarkEventKind::Halted { reason, .. } => {
                self.phase = RunPhase::Halted;
                self.halts.push(reason.clone());
            }
            BenchmarkEventKind::Resumed { conditions } => {
                self.batch.resume(*conditions);
                self.queue.resume();
                self.phase = RunPhase::Running;
                self.probe = ProbePhase::Due;
            }
            BenchmarkEventKind::Ended => self.phase = RunPhase::Ended,
        }
        self.updated_at = event.time;
        Ok(())
    }
}

impl BenchmarkState {
    fn finish(&mut self, result: &CaseResult) -> Result<(), BenchmarkStateError> {
        self.queue.take(&result.run)?;
        let has_failed = result.outcome == CaseOutcome::Failed;
        let error = result.error.as_ref().filter(|_| has_failed);
        self.last_error = error.or(self.last_error.as_ref()).cloned();
        let role = self.role(result.run.arm);
        self.batch.finish(role, result.outcome, result.attempts);
        self.results.push(result.clone());
        self.end_probe(&result.run, has_failed);
        Ok(())
    }

    fn defer(&mut self, deferred: &CaseRunDeferred) -> Result<(), BenchmarkStateError> {
        self.queue.defer(deferred)?;
        let error = deferred.error.as_ref();
        self.last_error = error.or(self.last_error.as_ref()).cloned();
        let is_outage = deferred.cause == DeferralCause::Infrastructure;
        if is_outage {
            self.batch.defer();
        }
        self.end_probe(&deferred.run, is_outage);
        Ok(())
    }

    fn end_probe(&mut self, run: &CaseRunId, has_failed: bool) {
        if matches!(&self.probe, ProbePhase::Running(probe) if probe == run) {
            self.probe = ProbePhase::None;
            self.batch.probe_failed |= has_failed;
        }
    }

    /// Returns the event that must follow now, if any: a halt, or the end.
    pub fn due_event(&self) -> Option<BenchmarkEventKind> {
        match self.phase {
            RunPhase::Running => {
                let evaluation = self.evaluation();
                if let Some(reason) = BatchStopReason::of(&evaluation) {
                    return Some(BenchmarkEventKind::Halted { reason, evaluation });
                }
                self.is_complete().then_some(BenchmarkEventKind::Ended)
            }
            RunPhase::Halted => {
                let is_idle = self.queue.in_flight.is_empty();
                is_idle.then_some(BenchmarkEventKind::Ended)
            }
            RunPhase::Ended => None,
        }
    }

    /// `None` if none may start now: the run is halted, the probe of a resumed run must finish
    /// first, or none waits.
    pub fn next_start(&self) -> Option<&PendingCaseRun> {
        let is_probing = matches!(self.probe, ProbePhase::Running(_));
        let may_start = !self.is_halted() && !is_probing && self.batch.allows_attempt();
        self.queue.waiting.front().filter(|_| may_start)
    }

    /// Returns what follows when the models gave no usable answer in an attempt of a case run in
    /// flight.
    pub fn after_failed_attempt(&self, run: &CaseRunId) -> AfterFailedAttempt {
        if !self.queue.has_attempts_left(run) {
            AfterFailedAttempt::Fail
        } else if self.phase == RunPhase::Running && self.batch.allows_attempt() {
            AfterFailedAttempt::Retry
        } else {
            AfterFailedAttempt::Defer
        }
    }

    pub fn evaluation(&self) -> Evaluation {
        self.batch.evaluate(self.workload())
    }

    pub fn workload(&self) -> Workload {
        self.queue.workload()
    }

    pub fn is_complete(&self) -> bool {
        self.workload().remaining == 0
    }

    pub fn is_halted(&self) -> bool {
        self.phase != RunPhase::Running
    }

    pub fn has_ended(&self) -> bool {
        self.phase == RunPhase::Ended
    }

    /// A run whose process was killed is `Running`, unless its last case run was finished.
    pub fn status(&self) -> BenchmarkStatus {
        match self.phase {
            _ if self.is_complete() => BenchmarkStatus::Complete,
            RunPhase::Running => BenchmarkStatus::Running,
            RunPhase::Halted | RunPhase::Ended => BenchmarkStatus::Stopped,
        }
    }

    /// `None` if it is not.
    pub fn stop_reason(&self) -> Option<&BatchStopReason> {
        let last = self.halts.last();
        last.filter(|_| self.status() == BenchmarkStatus::Stopped)
    }

    /// Returns the error behind the stop, if the run stopped because attempts had no answer.
    pub fn stop_error(&self) -> Option<&str> {
        let condition = self.stop_reason()?.condition;
        let is_meant = matches!(
            condition,
            StopCondition::Authentication
                | StopCondition::Quota
                | StopCondition::ProbeFailed
                | StopCondition::ProviderOutage
                | StopCondition::Unanswered
        );
        self.last_error.as_deref().filter(|_| is_meant)
    }

    pub fn statistics(&self) -> BatchStatistics {
        let terms = &self.begun.terms;
        let by_arm = (terms.cases.len() as u64).saturating_mul(terms.repetitions.into());
        let baseline = terms.is_comparison().then_some(by_arm);
        self.batch.statistics(by_arm, baseline)
    }

    /// Returns the cost of everything, unfinished case runs included.
    pub fn spend(&self) -> ConsultationSpend {
        let mut spend = ConsultationSpend::default();
        let open = self.without_result().map(|pending| &pending.spend);
        let parts = self.results.iter().map(|result| &result.spend);
        parts.chain(open).for_each(|part| spend.add(part));
        spend
    }

    /// Returns the case runs without a result, in their original order.
    pub fn remaining(&self) -> Vec<&CaseRunId> {
        let mut open: Vec<&PendingCaseRun> = self.without_result().collect();
        open.sort_by_key(|pending| pending.position);
        open.into_iter().map(|pending| &pending.run).collect()
    }

    pub fn in_flight(&self) -> &VecDeque<PendingCaseRun> {
        &self.queue.in_flight
    }

    pub fn pending(&self, run: &CaseRunId) -> Option<&PendingCaseRun> {
        self.without_result().find(|pending| pending.run == *run)
    }

    pub fn without_result(&self) -> impl Iterator<Item = &PendingCaseRun> {
        self.queue.pending()
    }

    /// With both arms, the single one is what the panel is compared with.
    fn role(&self, arm: Arm) -> ItemRole {
        match arm {
            Arm::Single if self.begun.terms.is_comparison() => ItemRole::Baseline,
            Arm::Single | Arm::Panel => ItemRole::Subject,
        }
    }
}
