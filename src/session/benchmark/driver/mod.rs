//! Drives a run: starts what its state names, grades what finishes, and writes the log.

mod outcomes;
mod account;

use std::collections::BTreeMap;
use std::time::Duration;

use crate::benchmark::event::BenchmarkEventKind;
use crate::benchmark::grading::{ConsultationAnswer, grade};
use crate::benchmark::run::CaseRunId;
use crate::benchmark::state::{AttemptFailure, BenchmarkState, PendingCaseRun};
use crate::config::paths::Home;
use crate::consultation::plan::ControlRequest;
use crate::consultation::transcript::no_answer::NoAnswer;
use crate::domain::ids::ConsultationId;
use crate::domain::stored_record::spend::ConsultationSpend;
use crate::domain::time::Timestamp;
use crate::engine::clock::Clock;
use crate::error::{Error, whole};
use crate::records::runs::LockedRun;
use crate::session::batch::{
    Batch, BatchUpdate, FinishedConsultation, InterruptStage, TakeOver, approved, take_over,
};
use crate::session::load;
use crate::setup::plan::Planner;
use crate::stopping::batch::state::StopRequest;

use super::arms::ArmTemplates;
use super::cases::{CaseBook, CaseEntry};
use super::progress::RunProgress;

/// The parties to a run.
#[derive(Debug)]
pub(crate) struct BenchmarkDriver<'a> {
    pub(crate) run: LockedRun,
    pub(crate) book: &'a CaseBook,
    pub(crate) arms: &'a ArmTemplates,
    pub(crate) planner: &'a Planner<'a>,
    /// The limits of consultations that an earlier process began.
    pub(crate) control: ControlRequest,
    /// The most consultations at once.
    pub(crate) jobs: usize,
    pub(crate) clock: Clock,
    pub(crate) progress: &'a dyn RunProgress,
}

/// What a consultation is for.
#[derive(Clone, Debug)]
pub(crate) enum Job {
    Answer(CaseRunId),
    /// A model decides whether this answer is right.
    Grading {
        run: CaseRunId,
        answer: Box<ConsultationAnswer>,
        attempt: u32,
    },
}

/// What is known of a case run beside its log: of this process alone.
#[derive(Debug, Default)]
struct CaseRunAccount {
    /// The spend of each of its consultations.
    spends: BTreeMap<ConsultationId, ConsultationSpend>,
    /// The time of its finished attempts since it was started.
    duration: Duration,
}

/// A run in this process.
struct RunInProgress<'a> {
    driver: BenchmarkDriver<'a>,
    batch: Batch<'a, Job>,
    accounts: BTreeMap<CaseRunId, CaseRunAccount>,
    started_at: Timestamp,
}

impl<'a> BenchmarkDriver<'a> {
    /// Drives the run until it is complete or stopped and nothing is in flight.
    ///
    /// # Errors
    ///
    /// When the log cannot be written, or another process runs one of the consultations. The run
    /// can be resumed.
    pub(crate) async fn drive(self, batch: Batch<'a, Job>) -> Result<LockedRun, Error> {
        let face = self.planner.face;
        let mut run = RunInProgress {
            started_at: self.clock.now(),
            driver: self,
            batch,
            accounts: BTreeMap::new(),
        };
        let driven = run.drive_to_end().await;
        run.batch.finish(face);
        driven.map(|()| run.driver.run)
    }
}

impl RunInProgress<'_> {
    async fn drive_to_end(&mut self) -> Result<(), Error> {
        loop {
            self.start_waiting().await?;
            self.driver.progress.running(self.batch.in_flight());
            match self.batch.next().await {
                None => return Ok(()),
                Some(BatchUpdate::Finished(finished)) => self.finished(*finished)?,
                Some(BatchUpdate::Interrupted(InterruptStage::Drain)) => {
                    self.record(BenchmarkEventKind::StopRequested(StopRequest::Interrupt))?;
                    if self.batch.in_flight() > 0 {
                        self.driver.planner.face.note(
                            "Stopping: cases in flight are finished; press Ctrl-C again to cancel \
                             them",
                        );
                    }
                }
                Some(BatchUpdate::Interrupted(InterruptStage::Cancel)) => {
                    self.driver
                        .planner
                        .face
                        .note("Cancelling the calls in flight…");
                }
            }
        }
    }

    fn state(&self) -> &BenchmarkState {
        self.driver.run.state()
    }

    fn now(&self) -> Timestamp {
        self.driver.clock.now()
    }

    fn record(&mut self, kind: BenchmarkEventKind) -> Result<(), Error> {
        let now = self.now();
        self.driver.run.record(now, kind).map_err(Error::failed)?;
        if self.state().is_halted() && !self.state().is_complete() {
            self.driver.progress.ending();
        }
        let cost = self.state().spend().cost;
        self.driver.progress.spent(cost);
        Ok(())
    }

    fn home(&self) -> &Home {
        &self.driver.planner.sources.home
    }

    /// Starts case runs until no more may start.
    async fn start_waiting(&mut self) -> Result<(), Error> {
        while self.batch.interrupt.is_none() && self.batch.in_flight() < self.driver.jobs {
            let Some(pending) = self.state().next_start().cloned() else {
                return Ok(());
            };
            if !self.take_over(&pending).await? {
                self.start_attempt(&pending.run)?;
            }
        }
        Ok(())
    }

    /// Takes over the last consultation of a case run, if it has an answer that was not graded or
    /// was interrupted. Returns whether that succeeded.
    async fn take_over(&mut self, pending: &PendingCaseRun) -> Result<bool, Error> {
        let Some(entry) = self.driver.book.get(&pending.run.case) else {
            return Ok(false);
        };
        let Some(id) = self.left_over(pending, entry) else {
            return Ok(false);
        };
        let sources = self.driver.planner.resume_sources();
        let clock = self.driver.clock;
        match take_over(&id, &sources, &self.driver.control, clock).await? {
            TakeOver::Repeat(why) => {
                let notice = format!("{} is asked again: {why}", pending.run.case);
                self.driver.planner.face.detail(&notice);
                Ok(false)
            }
            TakeOver::Finished(outcome) => match grade(&entry.key, &outcome.record) {
                Err(_) => Ok(false),
                Ok(answer) => {
                    if pending.unfinished.is_some() {
                        self.count_earlier_time(&pending.run, &outcome.record);
                    }
                    self.answered(&pending.run, &id, answer, &outcome.record)?;
                    Ok(true)
                }
            },
            TakeOver::Resume(session) => {
                self.record(BenchmarkEventKind::CaseRunStarted {
                    run: pending.run.clone(),
                    attempt: pending.attempts.max(1),
                    consultation: id,
                })?;
                self.batch
                    .resume(Job::Answer(pending.run.clone()), *session);
                Ok(true)
            }
        }
    }

    /// Returns the consultation that a case run can take over.
    fn left_over(&self, pending: &PendingCaseRun, entry: &CaseEntry) -> Option<ConsultationId> {
        if let Some(id) = &pending.unfinished {
            return Some(id.clone());
        }
        let last = pending.consultations.last()?;
        match grade(&entry.key, &load::record_of(self.home(), last)?) {
            // Its grading failed.
            Ok(_) => Some(last.clone()),
            Err(NoAnswer::Interrupted | NoAnswer::CostCeiling { .. } | NoAnswer::Unfinished) => {
                Some(last.clone())
            }
            Err(NoAnswer::Failed { .. } | NoAnswer::Infrastructure { .. }) => None,
        }
    }

    /// Starts a new consultation for a case run that waits or has failed.
    fn start_attempt(&mut self, run: &CaseRunId) -> Result<(), Error> {
        let (book, arms) = (self.driver.book, self.driver.arms);
        let attempts = self
            .state()
            .pending(run)
            .map_or(0, |pending| pending.attempts);
        let planned = match (book.get(&run.case), arms.of(run.arm)) {
            (Some(entry), Some(template)) => entry
                .question()
                .and_then(|question| template.plan(question))
                .map(|prepared| (approved(prepared), template)),
            (None, _) | (_, None) => Err(Error::failed("the case is not part of the run")),
        };
        match planned {
            Ok((plan, template)) => {
                self.record(BenchmarkEventKind::CaseRunStarted {
                    run: run.clone(),
                    attempt: attempts + 1,
                    consultation: plan.id.clone(),
                })?;
                self.batch
                    .start(Job::Answer(run.clone()), plan, &template.providers);
                Ok(())
            }
            Err(error) => self.fail(run, None, None, whole(error.source())),
        }
    }

    fn finished(&mut self, finished: FinishedConsultation<Job>) -> Result<(), Error> {
        let FinishedConsultation { key, id, result } = finished;
        match key {
            Job::Answer(run) => {
                self.count_time(&run);
                match result {
                    Ok(outcome) => self.consulted(&run, &id, &outcome),
                    Err(error) => {
                        self.no_answer(&run, AttemptFailure::NoAnswer, whole(error.source()))
                    }
                }
            }
            Job::Grading {
                run,
                answer,
                attempt,
            } => self.graded(&run, *answer, attempt, &id, result),
        }
    }
}
