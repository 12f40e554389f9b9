//! The consultations of a loop: what is asked and read.

use crate::consultation::transcript::no_answer::{AccessProblem, NoAnswer};
use crate::domain::ids::ConsultationId;
use crate::domain::stored_record::StoredRecord;
use crate::domain::stored_record::spend::{ConsultationSpend, spend};
use crate::error::{Error, whole};
use crate::refinement::batches::QuestionBatch;
use crate::refinement::event::{BatchFinished, BatchStarted, RefinementEventKind, StopCause};
use crate::refinement::reading::findings_of;
use crate::session::batch::{ConsultationOutcome, approved};
use crate::session::month::MonthCeiling;
use crate::session::refinement::progress::IterationPlan;

use super::{LoopInProgress, LoopJob};

/// The end of a consultation.
pub(super) struct ConsultationEnd<T> {
    pub(super) spend: ConsultationSpend,
    /// What was read from its answer, or why there is none.
    pub(super) answer: Result<T, String>,
}

/// The reason why a consultation has no answer.
enum Unanswered {
    /// It can be resumed.
    CutOff,
    Failed(String),
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

    /// Starts a consultation.
    pub(super) fn start(&mut self, job: LoopJob) -> Result<(), Error> {
        let templates = self.driver.templates;
        let plan = approved(match &job {
            LoopJob::Extraction => templates.plan_extraction(&self.document.read)?,
            LoopJob::Questions(batch) => templates.plan_batch(&self.document.prepared, batch)?,
        });
        let providers = &templates.of(&job)?.providers;
        self.record_start(&plan.id, &job)?;
        self.batch.start(job, plan, providers);
        Ok(())
    }

    pub(super) fn record_start(&mut self, id: &ConsultationId, job: &LoopJob) -> Result<(), Error> {
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

    /// Takes a consultation that is no longer in flight.
    pub(super) fn finished(
        &mut self,
        id: &ConsultationId,
        job: LoopJob,
        result: Result<ConsultationOutcome, Error>,
    ) -> Result<(), Error> {
        match job {
            LoopJob::Extraction => self.extracted(id, result),
            LoopJob::Questions(batch) => self.batch_ended(id, &batch, result),
        }
    }

    fn batch_ended(
        &mut self,
        id: &ConsultationId,
        batch: &QuestionBatch,
        result: Result<ConsultationOutcome, Error>,
    ) -> Result<(), Error> {
        let read = |record: &StoredRecord| findings_of(record, batch);
        let Some(ConsultationEnd { spend, answer }) = self.end(id, result, read)? else {
            return Ok(());
        };
        let (findings, error) = match answer {
            Ok(findings) => (Some(findings), None),
            Err(error) => (None, Some(error)),
        };
        let finished = BatchFinished {
            consultation: id.clone(),
            findings,
            spend,
            error,
        };
        self.record(RefinementEventKind::BatchFinished(Box::new(
            finished.clone(),
        )))?;
        self.driver.progress.batch_finished(&finished);
        Ok(())
    }

    /// Reads the answer of a consultation that is no longer in flight. Returns `None` if it was cut
    /// off, which is recorded.
    pub(super) fn end<T>(
        &mut self,
        id: &ConsultationId,
        result: Result<ConsultationOutcome, Error>,
        read: impl FnOnce(&StoredRecord) -> Result<T, NoAnswer>,
    ) -> Result<Option<ConsultationEnd<T>>, Error> {
        let outcome = match result {
            Ok(outcome) => outcome,
            Err(error) => {
                return Ok(Some(ConsultationEnd {
                    spend: self.spend_of(id),
                    answer: Err(whole(error.source())),
                }));
            }
        };
        for warning in &outcome.warnings {
            self.driver.planner.face.warning(warning);
        }
        let spend = spend([&outcome.record]);
        let answer = match read(&outcome.record) {
            Ok(answer) => Ok(answer),
            Err(why) => match self.unanswered(id, &outcome, why) {
                Unanswered::Failed(error) => Err(error),
                Unanswered::CutOff => {
                    let consultation = id.clone();
                    self.record(RefinementEventKind::ConsultationCutOff {
                        consultation,
                        spend,
                    })?;
                    return Ok(None);
                }
            },
        };
        Ok(Some(ConsultationEnd { spend, answer }))
    }

    /// Decides what follows a consultation without an answer, and asks for a stop if the next ones
    /// would have none either.
    fn unanswered(
        &mut self,
        id: &ConsultationId,
        outcome: &ConsultationOutcome,
        why: NoAnswer,
    ) -> Unanswered {
        match why {
            NoAnswer::CostCeiling { message } => {
                self.request_stop(ceiling(outcome), message);
                Unanswered::CutOff
            }
            NoAnswer::Interrupted | NoAnswer::Unfinished if self.batch.is_cancelled() => {
                Unanswered::CutOff
            }
            // What is only put back could be cut off for ever.
            NoAnswer::Interrupted | NoAnswer::Unfinished => {
                Unanswered::Failed("the consultation was cut off".to_owned())
            }
            NoAnswer::Failed { message } | NoAnswer::Infrastructure { message } => {
                if let Some(refusal) = self.refusal(id, &outcome.record) {
                    let cause = match refusal.problem {
                        AccessProblem::Authentication => StopCause::Authentication,
                        AccessProblem::Quota => StopCause::Quota,
                    };
                    let message = format!("{}: {}", refusal.provider, refusal.message);
                    self.request_stop(cause, message);
                }
                Unanswered::Failed(message)
            }
        }
    }
}

/// Returns the ceiling that did not allow a call.
fn ceiling(outcome: &ConsultationOutcome) -> StopCause {
    let reached = outcome.transcript.ceiling.as_ref();
    let budget = reached.and_then(|reached| reached.budget.as_deref());
    if budget == Some(MonthCeiling::NAME) {
        StopCause::MonthlyBudget
    } else {
        StopCause::CostCeiling
    }
}
