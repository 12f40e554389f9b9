//! Drives a loop: does what its state names, writes the log, and writes the document once all
//! consultations of an iteration have ended.
//!
//! The document is read when an iteration begins, and compared before it is replaced: a person who
//! edits it meanwhile stops the loop, and loses nothing.

mod working_document;
mod extraction;
mod consultations;
mod left_over;
mod merge;

use std::collections::BTreeMap;

use crate::domain::ids::ConsultationId;
use crate::domain::stored_record::spend::ConsultationSpend;
use crate::engine::clock::Clock;
use crate::error::Error;
use crate::records::refinements::{LockedRefinement, SpecFile};
use crate::refinement::event::{RefinementEventKind, StopCause};
use crate::refinement::mask::TextMask;
use crate::refinement::state::{NextStep, RefinementLoop, RefinementState};
use crate::session::batch::{Batch, BatchUpdate, FinishedConsultation, InterruptStage};
use crate::session::load;
use crate::setup::plan::Planner;

use self::working_document::WorkingDocument;
use super::progress::LoopProgress;
use super::request::{LoopJob, RefinementTerms};
use super::templates::RefinementTemplates;

/// The parties to a loop.
#[derive(Debug)]
pub(crate) struct RefinementDriver<'a> {
    /// The loop, which was begun or resumed. It has what earlier processes have spent.
    pub(crate) refinement: LockedRefinement,
    pub(crate) source: SpecFile,
    /// The same as `source` for a change in place.
    pub(crate) output: SpecFile,
    pub(crate) templates: &'a RefinementTemplates,
    pub(crate) planner: &'a Planner<'a>,
    pub(crate) terms: RefinementTerms,
    pub(crate) mask: TextMask,
    /// The most consultations at once.
    pub(crate) jobs: usize,
    pub(crate) clock: Clock,
    pub(crate) progress: &'a dyn LoopProgress,
    /// Writes the log for people.
    pub(crate) changes: fn(&RefinementState) -> String,
}

/// A loop in this process.
struct LoopInProgress<'a> {
    driver: RefinementDriver<'a>,
    batch: Batch<'a, LoopJob>,
    document: WorkingDocument,
    /// The iteration that was announced.
    announced: Option<u64>,
    /// The text of a merge that is in the log and not in the file.
    merged: Option<String>,
    stop: Option<StopRequested>,
    /// The consultations that continue, with the number of the last call of an earlier process.
    resumed: BTreeMap<ConsultationId, u32>,
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
    pub(crate) async fn drive(self, batch: Batch<'a, LoopJob>) -> Result<LockedRefinement, Error> {
        let face = self.planner.face;
        let document = WorkingDocument::read(&self)?;
        let mut work = LoopInProgress {
            driver: self,
            batch,
            document,
            announced: None,
            merged: None,
            stop: None,
            resumed: BTreeMap::new(),
        };
        let spent = work.current().spend().cost;
        work.driver.progress.spent(spent);
        let driven = work.drive_to_end().await;
        work.write_changes();
        work.batch.finish(face);
        driven.map(|()| work.driver.refinement)
    }

    fn current(&self) -> &RefinementLoop {
        self.refinement.state().current()
    }
}

impl LoopInProgress<'_> {
    async fn drive_to_end(&mut self) -> Result<(), Error> {
        loop {
            if let Some(stage) = self.batch.poll_interrupt() {
                self.interrupted(stage);
            }
            match self.current().next_step(&self.document.now) {
                NextStep::Extract { left_over } => {
                    if self.may_start().await? {
                        match left_over {
                            Some(id) => self.take_over(id, LoopJob::Extraction).await?,
                            None => self.start(LoopJob::Extraction)?,
                        }
                    }
                }
                NextStep::StartIteration { iteration } => {
                    if self.may_start().await? {
                        let document = self.document.now.read.clone();
                        self.record(RefinementEventKind::IterationStarted {
                            iteration,
                            document,
                        })?;
                    }
                }
                NextStep::Ask {
                    left_over, batches, ..
                } => {
                    let left_over = left_over.first().map(|batch| (*batch).clone());
                    let batch = batches.into_iter().next();
                    self.announce();
                    self.notice_edit();
                    if self.may_start().await? {
                        match (left_over, batch) {
                            (Some(left_over), _) => {
                                let job = LoopJob::Questions(left_over.about);
                                self.take_over(left_over.consultation, job).await?;
                            }
                            (None, Some(batch)) => self.start(LoopJob::Questions(batch))?,
                            (None, None) => {}
                        }
                    }
                }
                NextStep::Wait => self.wait().await?,
                NextStep::Integrate { .. } => {
                    self.announce();
                    if self.must_not_merge() {
                        self.end_or_wait().await?;
                    } else {
                        self.integrate().await?;
                    }
                }
                NextStep::Write { merge } => {
                    let merge = merge.clone();
                    self.write(&merge).await?;
                }
                NextStep::RecordWritten { document } => self.written(document)?,
                NextStep::Stop { cause, message } => {
                    self.request_stop(cause, message);
                    self.end_or_wait().await?;
                }
                NextStep::End => self.record(RefinementEventKind::Ended)?,
                NextStep::Rest => return Ok(()),
            }
        }
    }

    fn current(&self) -> &RefinementLoop {
        self.driver.current()
    }

    fn record(&mut self, mut kind: RefinementEventKind) -> Result<(), Error> {
        self.document.read.mask(kind.texts_mut());
        let now = self.driver.clock.now();
        let recorded = self.driver.refinement.record(now, kind);
        recorded.map_err(Error::failed)?;
        self.driver.progress.spent(self.current().spend().cost);
        Ok(())
    }

    /// Returns whether something may start now. If not, waits for what is in flight, and stops the
    /// loop when nothing is.
    async fn may_start(&mut self) -> Result<bool, Error> {
        if self.stop.is_some() {
            self.end_or_wait().await?;
            return Ok(false);
        }
        if self.batch.in_flight() >= self.driver.jobs {
            self.wait().await?;
            return Ok(false);
        }
        Ok(true)
    }

    /// Waits for what is in flight, and stops the loop when nothing is.
    async fn end_or_wait(&mut self) -> Result<(), Error> {
        if self.batch.in_flight() > 0 {
            return self.wait().await;
        }
        let Some(StopRequested { cause, message }) = self.stop.clone() else {
            return Ok(());
        };
        self.record(RefinementEventKind::Stopped { cause, message })
    }

    async fn wait(&mut self) -> Result<(), Error> {
        match self.batch.next().await {
            None => Err(Error::failed(
                "the log has a consultation in flight that does not run",
            )),
            Some(BatchUpdate::Finished(finished)) => {
                let FinishedConsultation { key, id, result } = *finished;
                self.finished(&id, key, result)
            }
            Some(BatchUpdate::Interrupted(stage)) => {
                self.interrupted(stage);
                Ok(())
            }
        }
    }

    fn interrupted(&mut self, stage: InterruptStage) {
        match stage {
            InterruptStage::Drain => {
                self.request_stop(StopCause::Interrupt, "it was interrupted".to_owned());
                if self.batch.in_flight() > 0 {
                    self.driver.planner.face.note(
                        "Stopping: consultations in flight are finished; press Ctrl-C again to \
                         cancel them",
                    );
                }
            }
            InterruptStage::Cancel => {
                self.driver
                    .planner
                    .face
                    .note("Cancelling the calls in flight…");
            }
        }
    }

    /// Nothing more starts. The first reason counts.
    fn request_stop(&mut self, cause: StopCause, message: String) {
        self.stop.get_or_insert(StopRequested { cause, message });
        self.driver.progress.ending();
    }

    /// Returns whether the findings must wait: a person has changed the document, or a provider
    /// refuses access, so that questions would be left out.
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

    /// Returns the spend of a consultation from its files; nothing if it left none.
    fn spend_of(&self, id: &ConsultationId) -> ConsultationSpend {
        load::spend_of(&self.driver.planner.sources.home, id)
    }
}
