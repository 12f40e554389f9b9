//! The policy of a run: starts what its state names, grades what finishes, and writes the log.

mod outcomes;

use std::collections::VecDeque;

use serde_json::{Value, json};

use crate::benchmark::event::{BenchmarkEventKind, DeferralCause};
use crate::benchmark::grading::{ConsultationAnswer, grade};
use crate::benchmark::run::CaseRunId;
use crate::benchmark::state::{BenchmarkState, PendingCaseRun};
use crate::consultation::transcript::no_answer::NoAnswer;
use crate::domain::ids::ConsultationId;
use crate::domain::time::Timestamp;
use crate::error::{Error, whole};
use crate::records::runs::LockedRun;
use crate::session::batch::accounts::Accounts;
use crate::session::batch::driver::{BatchDriver, BatchPolicy, BatchStep};
use crate::session::batch::take_over::TakeOver;
use crate::session::batch::{Batch, FinishedConsultation, approved};
use crate::session::load;
use crate::stopping::batch::state::StopRequest;

use super::arms::ArmTemplates;
use super::cases::CaseBook;
use super::identity::consultation_id;
use super::progress::RunProgress;

/// The parties to a run.
#[derive(Debug)]
pub struct BenchmarkDriver<'a> {
    pub run: LockedRun,
    pub book: &'a CaseBook,
    pub arms: &'a ArmTemplates,
    pub batch: BatchDriver<'a>,
    pub progress: &'a dyn RunProgress,
}

/// What a consultation is for.
#[derive(Clone, Debug)]
pub enum Job {
    Answer(CaseRunId),
    /// A model decides whether this answer is right.
    Grading {
        run: CaseRunId,
        answer: Box<ConsultationAnswer>,
        attempt: u32,
    },
}

/// A run in this process.
struct RunInProgress<'a> {
    driver: BenchmarkDriver<'a>,
    accounts: Accounts,
    /// What follows for case runs that have begun, before others begin.
    follow_ups: VecDeque<Job>,
    started_at: Timestamp,
}

impl<'a> BenchmarkDriver<'a> {
    /// Drives the run until it is complete or stopped and nothing is in flight.
    ///
    /// # Errors
    ///
    /// When the log cannot be written, or another process runs one of the consultations. The run
    /// can be resumed.
    pub async fn drive(self, batch: Batch<'a, Job>) -> Result<LockedRun, Error> {
        let driver = self.batch.clone();
        let mut run = RunInProgress {
            started_at: driver.clock.now(),
            accounts: Accounts::of(&driver.planner.sources.home),
            driver: self,
            follow_ups: VecDeque::new(),
        };
        let ended = driver.drive(&mut run, batch).await;
        run.driver.run.write_old_state(driver.clock.now());
        ended.map(|()| run.driver.run)
    }
}

impl BatchPolicy for RunInProgress<'_> {
    type Job = Job;

    const ITEMS: &'static str = "cases";

    fn next(&mut self, batch: &Batch<'_, Job>) -> Result<BatchStep<Job>, Error> {
        match self.follow_ups.pop_front() {
            Some(Job::Answer(run)) if self.state().is_halted() => {
                self.defer(&run, DeferralCause::Stop, None)?;
                return Ok(BatchStep::Again);
            }
            Some(Job::Answer(run)) => return self.start_attempt(run, None),
            Some(Job::Grading { run, .. }) if batch.is_cancelled() => {
                self.defer(&run, DeferralCause::Stop, None)?;
                return Ok(BatchStep::Again);
            }
            Some(Job::Grading {
                run,
                answer,
                attempt,
            }) => {
                // Elsewhere, one that was cut off continues; here, another begins.
                let gradings = match self.state().pending(&run) {
                    Some(pending) if !batch.runs_elsewhere() => pending.gradings.len(),
                    Some(_) | None => usize::try_from(attempt).unwrap_or_default(),
                };
                let id = self.derived_id(&run, Some(gradings));
                return self.start_grading(run, answer, attempt, id);
            }
            None => {}
        }
        let Some(pending) = self.state().next_start().filter(|_| batch.may_start()) else {
            let due = self.driver.run.refresh_state(self.driver.batch.clock.now());
            self.driver.progress.running(batch.running());
            return Ok(match batch.in_flight() {
                0 => BatchStep::Rest,
                _ => BatchStep::Wait(due),
            });
        };
        let run = pending.run.clone();
        match self.left_over(pending) {
            Some(id) => Ok(BatchStep::TakeOver(Job::Answer(run), id)),
            None => self.start_attempt(run, None),
        }
    }

    fn accounts(&mut self) -> &mut Accounts {
        &mut self.accounts
    }

    fn started(&mut self, job: &Job, id: &ConsultationId) -> Result<(), Error> {
        let (run, id) = (job.run(), id.clone());
        match job {
            Job::Answer(_) => self.start_case_run(run, id),
            Job::Grading { .. } => self.record(BenchmarkEventKind::GradingStarted {
                run: run.clone(),
                consultation: id,
            }),
        }
    }

    fn trace_labels(&self, job: &Job) -> Value {
        let run = job.run();
        json!({
            "conclave.benchmark.run": self.state().begun.run,
            "conclave.benchmark.case": run.case, "conclave.benchmark.arm": run.arm,
            "conclave.benchmark.repetition": run.repetition,
            "conclave.benchmark.is_grading": matches!(job, Job::Grading { .. }),
        })
    }

    fn ended(&mut self, finished: FinishedConsultation<Job>) -> Result<(), Error> {
        let FinishedConsultation { key, id, result } = finished;
        match key {
            Job::Answer(run) => self.consulted(&run, &id, result),
            Job::Grading {
                run,
                answer,
                attempt,
            } => self.graded(&run, *answer, attempt, &id, result),
        }
    }

    fn takes_over(
        &mut self,
        job: &Job,
        _: &ConsultationId,
        left: &TakeOver,
    ) -> Result<bool, Error> {
        let case = &job.run().case;
        let why = match (left, self.driver.book.get(case)) {
            (TakeOver::Repeat(why), _) => why,
            (TakeOver::Finished(outcome), Some(entry))
                if grade(&entry.key, &outcome.record).is_err() =>
            {
                "it has no answer"
            }
            (TakeOver::Finished(_) | TakeOver::Resume(..), _) => return Ok(true),
        };
        let notice = format!("{case} is asked again: {why}");
        self.driver.batch.planner.face.detail(&notice);
        self.follow_ups.push_back(job.clone());
        Ok(false)
    }

    fn again(&mut self, job: Job, id: ConsultationId) -> Result<BatchStep<Job>, Error> {
        self.start_attempt(job.run().clone(), Some(id))
    }

    fn interrupted(&mut self) -> Result<(), Error> {
        self.record(BenchmarkEventKind::StopRequested(StopRequest::Interrupt))
    }
}

impl RunInProgress<'_> {
    fn state(&self) -> &BenchmarkState {
        self.driver.run.state()
    }

    fn record(&mut self, kind: BenchmarkEventKind) -> Result<(), Error> {
        let now = self.driver.batch.clock.now();
        self.driver.run.record(now, kind).map_err(Error::failed)?;
        if self.state().is_halted() && !self.state().is_complete() {
            self.driver.progress.ending();
        }
        let cost = self.state().spend().cost;
        self.driver.progress.spent(cost);
        Ok(())
    }

    /// A consultation that was interrupted, or whose answer was not graded.
    fn left_over(&self, pending: &PendingCaseRun) -> Option<ConsultationId> {
        if pending.unfinished.is_some() {
            return pending.unfinished.clone();
        }
        let entry = self.driver.book.get(&pending.run.case)?;
        let last = pending.consultations.last()?;
        match grade(
            &entry.key,
            &load::record_of(&self.driver.batch.planner.sources.home, last)?,
        ) {
            // Its grading failed.
            Ok(_) => Some(last.clone()),
            Err(NoAnswer::Interrupted | NoAnswer::CostCeiling { .. } | NoAnswer::Unfinished) => {
                Some(last.clone())
            }
            Err(NoAnswer::Failed { .. } | NoAnswer::Infrastructure { .. }) => None,
        }
    }

    /// `id` is that of a consultation which other processes have begun; without it, the attempt has
    /// one that every process of the run gives it.
    fn start_attempt(
        &mut self,
        run: CaseRunId,
        id: Option<ConsultationId>,
    ) -> Result<BatchStep<Job>, Error> {
        let (book, arms) = (self.driver.book, self.driver.arms);
        let planned = match (book.get(&run.case), arms.of(run.arm)) {
            (Some(entry), Some(template)) => entry
                .question()
                .and_then(|question| template.plan(question))
                .map(|prepared| (approved(prepared), template)),
            (None, _) | (_, None) => Err(Error::failed("the case is not part of the run")),
        };
        match planned {
            Ok((mut plan, template)) => {
                plan.id = id.unwrap_or_else(|| self.derived_id(&run, None));
                let providers = template.providers.clone();
                Ok(BatchStep::Start(
                    Job::Answer(run),
                    Box::new(plan),
                    providers,
                ))
            }
            Err(error) => {
                self.fail(&run, None, None, whole(error.source()))?;
                Ok(BatchStep::Again)
            }
        }
    }

    /// Of the next attempt, or of a grading of the last one.
    fn derived_id(&self, run: &CaseRunId, grading: Option<usize>) -> ConsultationId {
        let begun = &self.state().begun;
        let pending = self.state().pending(run);
        let attempt = pending.map_or(0, |pending| pending.consultations.len());
        let position = pending.map_or(0, PendingCaseRun::position);
        consultation_id(&begun.run, position, &(run, attempt, grading))
    }

    /// A new attempt, unless it had the consultation before.
    fn start_case_run(&mut self, run: &CaseRunId, id: ConsultationId) -> Result<(), Error> {
        let attempt = self.state().pending(run).map_or(1, |pending| {
            let is_new = pending.begins_attempt(&id);
            pending.attempts.saturating_add(is_new.into()).max(1)
        });
        self.record(BenchmarkEventKind::CaseRunStarted {
            run: run.clone(),
            attempt,
            consultation: id,
        })
    }
}

impl Job {
    fn run(&self) -> &CaseRunId {
        match self {
            Self::Answer(run) | Self::Grading { run, .. } => run,
        }
    }
}
