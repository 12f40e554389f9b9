//! The consultations of a loop: what is asked and read, and which ones of an earlier process
//! continue.

use crate::consultation::event::AbortReason;
use crate::consultation::transcript::no_answer::{NoAnswer, abort_reason};
use crate::domain::ids::{ConsultationId, ModelRef};
use crate::domain::panel::Panel;
use crate::domain::record::stored_record::StoredRecord;
use crate::domain::record::stored_record::spend::ConsultationSpend;
use crate::error::{Error, whole};
use crate::refinement::batches::QuestionBatch;
use crate::refinement::event::{BatchFinished, Extraction, RefinementEventKind, StopCause};
use crate::refinement::reading::{extracted_items, findings_of};
use crate::session::batch::driver::BatchStep;
use crate::session::batch::take_over::TakeOver;
use crate::session::batch::{ConsultationOutcome, approved};
use crate::session::refinement::progress::IterationPlan;
use crate::stopping::batch::state::StopRequest;
use crate::stopping::convergence::QuestionKey;

use super::{LoopInProgress, LoopJob, WorkingDocument};

/// The end of a consultation.
struct ConsultationEnd<T> {
    spend: ConsultationSpend,
    /// What was read from its answer, or why there is none.
    answer: Result<T, String>,
}

impl LoopInProgress<'_> {
    /// Shows the iteration before the first of its consultations that this process runs.
    pub(super) fn announce(&mut self) {
        let current = self.current();
        let Some(iteration) = current.open_iteration() else {
            return;
        };
        let number = iteration.number;
        let batches = &self.document.now.batches;
        let plan = IterationPlan {
            iteration: number,
            max_iterations: current.criteria.max_iterations,
            questions: batches
                .iter()
                .map(|batch| batch.questions.len() as u64)
                .sum(),
            consultations: batches.len() as u64,
        };
        if self.announced.replace(number) != Some(number) {
            self.driver.progress.iteration_started(plan);
        }
    }

    pub(super) fn start(&self, job: LoopJob) -> Result<BatchStep<LoopJob>, Error> {
        self.start_as(job, None)
    }

    /// `id` is that of a consultation which other processes have begun.
    pub(super) fn start_as(
        &self,
        job: LoopJob,
        id: Option<ConsultationId>,
    ) -> Result<BatchStep<LoopJob>, Error> {
        let templates = self.driver.templates;
        let mut plan = approved(match &job {
            LoopJob::Extraction => templates.plan_extraction(&self.document.read)?,
            LoopJob::Questions(batch) => templates.plan_batch(&self.document.prepared, batch)?,
        });
        plan.id = id.unwrap_or(plan.id);
        let providers = templates.of(&job)?.providers.clone();
        Ok(BatchStep::Start(job, Box::new(plan), providers))
    }

    pub(super) fn batch_ended(
        &mut self,
        id: &ConsultationId,
        batch: &QuestionBatch,
        result: Result<ConsultationOutcome, Error>,
    ) -> Result<(), Error> {
        let read = |record: &StoredRecord| findings_of(record, batch);
        let Some(ConsultationEnd { spend, answer }) = self.end(id, result, read)? else {
            return Ok(());
        };
        let error = answer.as_ref().err().cloned();
        let finished = BatchFinished {
            consultation: id.clone(),
            findings: answer.ok(),
            spend,
            error,
        };
        self.record(RefinementEventKind::BatchFinished(Box::new(
            finished.clone(),
        )))?;
        self.driver.progress.batch_finished(&finished);
        Ok(())
    }

    pub(super) fn extracted(
        &mut self,
        id: &ConsultationId,
        result: Result<ConsultationOutcome, Error>,
    ) -> Result<(), Error> {
        let end = self.end(id, result, extracted_items)?;
        let Some(ConsultationEnd { spend, answer }) = end else {
            return Ok(());
        };
        let error = answer.as_ref().err().cloned();
        let items = answer.unwrap_or_default();
        let extraction = Extraction {
            consultation: id.clone(),
            high: items.high,
            medium: items.medium,
            open: items.open,
            spend,
            error,
        };
        self.record(RefinementEventKind::ExtractionFinished(Box::new(
            extraction.clone(),
        )))?;
        self.driver.progress.extraction_finished(&extraction);
        self.notice_edit();
        if self.stop.is_none() {
            self.document = WorkingDocument::read(&self.driver)?;
        }
        Ok(())
    }

    /// Reads the answer of a consultation that is no longer in flight, and asks for a stop if the
    /// next ones would have none either. Returns `None` if it was cut off and can be resumed, which
    /// is recorded.
    fn end<T>(
        &mut self,
        id: &ConsultationId,
        result: Result<ConsultationOutcome, Error>,
        read: impl FnOnce(&StoredRecord) -> Result<T, NoAnswer>,
    ) -> Result<Option<ConsultationEnd<T>>, Error> {
        let spend = self.accounts.get(id).spend;
        let ended = |answer| Ok(Some(ConsultationEnd { spend, answer }));
        let outcome = match result {
            Ok(outcome) => outcome,
            // No process has begun it.
            Err(_) if self.stop.is_some() => {
                self.record_cut_off(id)?;
                return Ok(None);
            }
            Err(error) => return ended(Err(whole(error.source()))),
        };
        match read(&outcome.record) {
            Ok(answer) => return ended(Ok(answer)),
            Err(NoAnswer::Failed { message } | NoAnswer::Infrastructure { message }) => {
                if let (Some(refusal), Some(request)) = (&outcome.refusal, outcome.refused()) {
                    let why = format!("{}: {}", refusal.provider, refusal.message);
                    self.request_stop(cause(&request), why);
                }
                return ended(Err(message));
            }
            Err(NoAnswer::CostCeiling { message }) => {
                let request = outcome.ceiling();
                let cause = request.as_ref().map_or(StopCause::CostCeiling, cause);
                self.request_stop(cause, message);
            }
            Err(NoAnswer::Interrupted | NoAnswer::Unfinished) if self.stop.is_some() => {}
            // What is only put back could be cut off for ever.
            Err(NoAnswer::Interrupted | NoAnswer::Unfinished) => {
                return ended(Err("the consultation was cut off".to_owned()));
            }
        }
        self.record_cut_off(id).map(|()| None)
    }

    /// Records what a consultation that has not ended has cost, as far as its files have it.
    pub(super) fn record_cut_off(&mut self, id: &ConsultationId) -> Result<(), Error> {
        let spend = self.accounts.get(id).spend;
        self.record(RefinementEventKind::ConsultationCutOff {
            consultation: id.clone(),
            spend,
        })
    }

    /// A failed consultation continues, with what is paid, if the same models can still complete
    /// it.
    pub(super) fn why_repeat(
        &self,
        job: &LoopJob,
        id: &ConsultationId,
        left: &TakeOver,
    ) -> Option<String> {
        let failure = self.current().failure(id).map(str::to_owned);
        match left {
            TakeOver::Repeat(why) => Some(why.clone()),
            TakeOver::Finished(outcome) => {
                // One that failed would end the same way.
                let cut_off = || {
                    job.is_cut_off(&outcome.record)
                        .then(|| "it was cut off".to_owned())
                };
                failure.or_else(cut_off)
            }
            TakeOver::Resume(session, record) => failure.filter(|_| {
                // To resume after a strict abort is to accept the failure.
                let was_strict =
                    record.as_deref().and_then(abort_reason) == Some(AbortReason::Strict);
                let today = self.driver.templates.of(job);
                was_strict
                    || today.is_ok_and(|today| {
                        !models(&session.plan().panel).eq(models(&today.common.panel))
                    })
            }),
        }
    }

    /// Returns those of a batch's questions that are still in the document, with the claims that it
    /// has now.
    pub(super) fn due(&self, asked: &QuestionBatch) -> Option<QuestionBatch> {
        let asked = asked.keys();
        let batches = &self.document.now.batches;
        let questions = batches.iter().flat_map(|batch| &batch.questions);
        let due = questions.filter(|(key, _)| asked.contains(key)).cloned();
        let questions: Vec<(QuestionKey, String)> = due.collect();
        let first = batches.first().filter(|_| !questions.is_empty())?;
        Some(QuestionBatch {
            questions,
            ..first.clone()
        })
    }
}

fn cause(request: &StopRequest) -> StopCause {
    match request {
        StopRequest::Authentication { .. } => StopCause::Authentication,
        StopRequest::Quota { .. } => StopCause::Quota,
        StopRequest::CostCeiling { .. } => StopCause::CostCeiling,
        StopRequest::MonthlyBudget { .. } => StopCause::MonthlyBudget,
        StopRequest::Interrupt | StopRequest::UnfinishedParts => StopCause::Interrupt,
    }
}

fn models(panel: &Panel) -> impl Iterator<Item = &ModelRef> {
    let seats = panel.seats.iter().map(|seat| &seat.model);
    seats.chain(&panel.judges)
}

impl LoopJob {
    fn is_cut_off(&self, record: &StoredRecord) -> bool {
        let why = match self {
            Self::Extraction => extracted_items(record).err(),
            Self::Questions(batch) => findings_of(record, batch).err(),
        };
        match why {
            Some(NoAnswer::CostCeiling { .. } | NoAnswer::Interrupted | NoAnswer::Unfinished) => {
                true
            }
            None | Some(NoAnswer::Failed { .. } | NoAnswer::Infrastructure { .. }) => false,
        }
    }
}
