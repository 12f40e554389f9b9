//! The policy of a loop: does what its state names, writes the log, and writes the document once
//! all consultations of an iteration have ended.
//!
//! The document is read when an iteration begins, and compared before it is replaced: a person who
//! edits it meanwhile stops the loop, and loses nothing.

mod working_document;
mod consultations;
mod merge;

use crate::domain::ids::ConsultationId;
use crate::error::Error;
use crate::records::refinements::{LockedRefinement, SpecFile};
use crate::refinement::event::{BatchStarted, RefinementEventKind, StopCause};
use crate::refinement::mask::TextMask;
use crate::refinement::state::{NextStep, RefinementLoop, RefinementState};
use crate::session::batch::accounts::Accounts;
use crate::session::batch::driver::{BatchDriver, BatchPolicy, BatchStep};
use crate::session::batch::take_over::TakeOver;
use crate::session::batch::{Batch, FinishedConsultation, Watch};

use self::working_document::WorkingDocument;
use super::progress::LoopProgress;
use super::request::{LoopJob, RefinementTerms};
use super::templates::RefinementTemplates;

/// The parties to a loop.
#[derive(Debug)]
pub struct RefinementDriver<'a> {
    /// The loop, which was begun or resumed. It has what earlier processes have spent.
    pub refinement: LockedRefinement,
    pub source: SpecFile,
    /// The same as `source` for a change in place.
    pub output: SpecFile,
    pub templates: &'a RefinementTemplates,
    pub batch: BatchDriver<'a>,
    pub terms: RefinementTerms,
    pub mask: TextMask,
    pub progress: &'a dyn LoopProgress,
    /// Writes the log for people.
    pub changes: fn(&RefinementState) -> String,
}

/// A loop in this process.
struct LoopInProgress<'a> {
    driver: RefinementDriver<'a>,
    accounts: Accounts,
    document: WorkingDocument,
    /// The iteration that was announced.
    announced: Option<u64>,
    /// What another consultation is asked at once.
    repeated: Option<LoopJob>,
    /// The text of a merge that is in the log and not in the file.
    merged: Option<String>,
    stop: Option<StopRequested>,
}

/// Why nothing more starts.
#[derive(Clone, Debug)]
struct StopRequested {
    cause: StopCause,
    message: String,
}

impl<'a> RefinementDriver<'a> {
    /// Drives the loop until it has ended or is stopped and nothing is in flight.
    ///
    /// # Errors
    ///
    /// When the document or the log cannot be read or written, or another process runs one of the
    /// consultations. The loop can be resumed.
    pub async fn drive(self, batch: Batch<'a, LoopJob>) -> Result<LockedRefinement, Error> {
        let driver = self.batch.clone();
        let mut work = LoopInProgress {
            accounts: Accounts::of(&driver.planner.sources.home),
            document: WorkingDocument::read(&self)?,
            driver: self,
            announced: None,
            repeated: None,
            merged: None,
            stop: None,
        };
        let spent = work.current().spend().cost;
        work.driver.progress.spent(spent);
        let ended = driver.drive(&mut work, batch).await;
        work.write_changes();
        ended.map(|()| work.driver.refinement)
    }

    fn current(&self) -> &RefinementLoop {
        self.refinement.state().current()
    }
}

impl BatchPolicy for LoopInProgress<'_> {
    type Job = LoopJob;

    const ITEMS: &'static str = "consultations";

    fn next(&mut self, batch: &Batch<'_, LoopJob>) -> Result<BatchStep<LoopJob>, Error> {
        if let Some(job) = self.repeated.take() {
            return match self.hold(batch)? {
                // It is left over for the next process.
                Some(hold) => Ok(hold),
                None => self.start(job),
            };
        }
        match self.current().next_step(&self.document.now) {
            NextStep::Extract { left_over } => match (self.hold(batch)?, left_over) {
                (Some(hold), _) => return Ok(hold),
                (None, Some(id)) => return Ok(BatchStep::TakeOver(LoopJob::Extraction, id)),
                (None, None) => return self.start(LoopJob::Extraction),
            },
            NextStep::StartIteration { iteration } => {
                if let Some(hold) = self.hold(batch)? {
                    return Ok(hold);
                }
                let document = self.document.now.read.clone();
                self.record(RefinementEventKind::IterationStarted {
                    iteration,
                    document,
                })?;
            }
            NextStep::Ask {
                left_over, batches, ..
            } => {
                let left_over = left_over.first().map(|batch| (*batch).clone());
                let asked = batches.into_iter().next();
                self.announce();
                self.notice_edit();
                match (self.hold(batch)?, left_over, asked) {
                    (Some(hold), _, _) => return Ok(hold),
                    (None, Some(left_over), _) => {
                        let job = LoopJob::Questions(left_over.about);
                        return Ok(BatchStep::TakeOver(job, left_over.consultation));
                    }
                    (None, None, Some(asked)) => return self.start(LoopJob::Questions(asked)),
                    (None, None, None) => {}
                }
            }
            NextStep::Wait => return Ok(BatchStep::Wait(None)),
            NextStep::Integrate { .. } => {
                self.announce();
                return self.integrate(batch);
            }
            NextStep::Write { merge } => {
                let merge = merge.clone();
                return self.write(&merge, batch);
            }
            NextStep::RecordWritten { document } => self.written(document)?,
            NextStep::Stop { cause, message } => {
                self.request_stop(cause, message);
                return self.end_or_wait(batch);
            }
            NextStep::End => self.record(RefinementEventKind::Ended)?,
            NextStep::Rest => return Ok(BatchStep::Rest),
        }
        Ok(BatchStep::Again)
    }

    fn accounts(&mut self) -> &mut Accounts {
        &mut self.accounts
    }

    fn started(&mut self, job: &LoopJob, id: &ConsultationId) -> Result<(), Error> {
        match job {
            LoopJob::Extraction => {
                self.record(RefinementEventKind::ExtractionStarted {
                    consultation: id.clone(),
                    document: self.document.now.read.clone(),
                })?;
                self.driver.progress.extraction_started(id);
            }
            LoopJob::Questions(batch) => {
                let iteration = self.current().next_iteration();
                self.record(RefinementEventKind::BatchStarted(Box::new(BatchStarted {
                    iteration,
                    consultation: id.clone(),
                    batch: batch.clone(),
                })))?;
                self.driver.progress.batch_started(id, &batch.keys());
            }
        }
        Ok(())
    }

    fn watch(&self, id: &ConsultationId) -> Watch {
        self.driver.progress.watch(id)
    }

    fn ended(&mut self, finished: FinishedConsultation<LoopJob>) -> Result<(), Error> {
        let FinishedConsultation { key, id, result } = finished;
        match key {
            LoopJob::Extraction => self.extracted(&id, result),
            LoopJob::Questions(batch) => self.batch_ended(&id, &batch, result),
        }
    }

    fn takes_over(
        &mut self,
        job: &LoopJob,
        id: &ConsultationId,
        left: &TakeOver,
    ) -> Result<bool, Error> {
        let Some(why) = self.why_repeat(job, id, left) else {
            return Ok(true);
        };
        self.record_cut_off(id)?;
        self.repeated = match job {
            LoopJob::Extraction => Some(LoopJob::Extraction),
            LoopJob::Questions(batch) => {
                let notice = format!("the questions of {} are asked again: {why}", id.short());
                self.driver.batch.planner.face.detail(&notice);
                self.due(batch).map(LoopJob::Questions)
            }
        };
        Ok(false)
    }

    fn again(&mut self, job: LoopJob, id: ConsultationId) -> Result<BatchStep<LoopJob>, Error> {
        self.start_as(job, Some(id))
    }

    fn interrupted(&mut self) -> Result<(), Error> {
        self.request_stop(StopCause::Interrupt, "it was interrupted".to_owned());
        Ok(())
    }
}

impl LoopInProgress<'_> {
    fn current(&self) -> &RefinementLoop {
        self.driver.current()
    }

    fn record(&mut self, mut kind: RefinementEventKind) -> Result<(), Error> {
        self.document.read.mask(kind.texts_mut());
        let now = self.driver.batch.clock.now();
        let recorded = self.driver.refinement.record(now, kind);
        recorded.map_err(Error::failed)?;
        self.driver.progress.spent(self.current().spend().cost);
        Ok(())
    }

    /// `None` if something may start now.
    fn hold(&mut self, batch: &Batch<'_, LoopJob>) -> Result<Option<BatchStep<LoopJob>>, Error> {
        if self.stop.is_some() {
            return self.end_or_wait(batch).map(Some);
        }
        Ok((!batch.may_start()).then_some(BatchStep::Wait(None)))
    }

    fn end_or_wait(&mut self, batch: &Batch<'_, LoopJob>) -> Result<BatchStep<LoopJob>, Error> {
        if batch.in_flight() > 0 {
            return Ok(BatchStep::Wait(None));
        }
        if let Some(StopRequested { cause, message }) = self.stop.clone() {
            self.record(RefinementEventKind::Stopped { cause, message })?;
        }
        Ok(BatchStep::Again)
    }

    /// The first reason counts.
    fn request_stop(&mut self, cause: StopCause, message: String) {
        self.stop.get_or_insert(StopRequested { cause, message });
        self.driver.progress.ending();
    }

    /// A person has changed the document, or a provider refuses access, so that questions would be
    /// left out.
    fn must_not_merge(&self) -> bool {
        let Some(stop) = &self.stop else {
            return false;
        };
        match stop.cause {
            StopCause::Authentication | StopCause::Quota | StopCause::DocumentChanged => true,
            StopCause::Interrupt
            | StopCause::CostCeiling
            | StopCause::MonthlyBudget
            | StopCause::NoAnswer => false,
        }
    }
}
