//! The consultations that an earlier process left: they are read, continued, or asked again.

use crate::consultation::event::AbortReason;
use crate::consultation::transcript::no_answer::{
    AccessFailure, NoAnswer, abort_reason, access_failure, access_failure_after,
};
use crate::domain::ids::{ConsultationId, ModelRef};
use crate::domain::panel::Panel;
use crate::domain::stored_record::StoredRecord;
use crate::error::Error;
use crate::refinement::batches::QuestionBatch;
use crate::refinement::event::RefinementEventKind;
use crate::refinement::reading::findings_of;
use crate::session::batch::{TakeOver, take_over};
use crate::session::load;
use crate::setup::plan::template::PlanTemplate;
use crate::stopping::convergence::QuestionKey;

use super::extraction::extraction_of;
use super::{LoopInProgress, LoopJob};

impl LoopInProgress<'_> {
    /// Takes over a consultation that an earlier process began, or asks again what it can neither
    /// be read for nor resumed.
    pub(super) async fn take_over(
        &mut self,
        id: ConsultationId,
        job: LoopJob,
    ) -> Result<(), Error> {
        let templates = self.driver.templates;
        let why = match self.taken_over(&id, templates.of(&job)?).await? {
            TakeOver::Resume(session) => {
                self.record_start(&id, &job)?;
                self.batch.resume(job, *session);
                return Ok(());
            }
            TakeOver::Finished(outcome) if job.is_cut_off(&outcome.record) => {
                "it was cut off".to_owned()
            }
            TakeOver::Finished(outcome) => return self.finished(&id, job, Ok(*outcome)),
            TakeOver::Repeat(why) => why,
        };
        self.record_cut_off(&id)?;
        let job = match job {
            LoopJob::Extraction => Some(LoopJob::Extraction),
            LoopJob::Questions(batch) => {
                let notice = format!("the questions of {id} are asked again: {why}");
                self.driver.planner.face.detail(&notice);
                self.due(&batch).map(LoopJob::Questions)
            }
        };
        job.map_or(Ok(()), |job| self.start(job))
    }

    /// Returns what is left to do of a consultation of this template. One that failed continues,
    /// with what is paid, if the same models can still complete it.
    async fn taken_over(
        &mut self,
        id: &ConsultationId,
        template: &PlanTemplate,
    ) -> Result<TakeOver, Error> {
        let sources = self.driver.planner.resume_sources();
        let control = &self.driver.templates.resume_control;
        let taken = take_over(id, &sources, control, self.driver.clock).await?;
        let failure = self.current().failure(id).map(str::to_owned);
        let session = match (taken, &failure) {
            (TakeOver::Resume(session), _) => session,
            // It would end the same way.
            (TakeOver::Finished(_), Some(error)) => return Ok(TakeOver::Repeat(error.clone())),
            (taken @ (TakeOver::Finished(_) | TakeOver::Repeat(_)), _) => return Ok(taken),
        };
        let record = load::record_of(sources.home, id);
        if let Some(error) = failure {
            // To resume after a strict abort is to accept the failure.
            let was_strict = record.as_ref().and_then(abort_reason) == Some(AbortReason::Strict);
            let asked = models(&session.plan().panel);
            if was_strict || !asked.eq(models(&template.common.panel)) {
                return Ok(TakeOver::Repeat(error));
            }
        }
        let last_call = record.as_ref().and_then(last_call).unwrap_or_default();
        self.resumed.insert(id.clone(), last_call);
        Ok(TakeOver::Resume(session))
    }

    /// Returns the provider that refuses access now.
    pub(super) fn refusal(
        &self,
        id: &ConsultationId,
        record: &StoredRecord,
    ) -> Option<AccessFailure> {
        match self.resumed.get(id) {
            Some(last_call) => access_failure_after(record, *last_call),
            None => access_failure(record),
        }
    }

    /// Returns those of a batch's questions that are still in the document, with the claims that it
    /// has now.
    fn due(&self, asked: &QuestionBatch) -> Option<QuestionBatch> {
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

    /// Records what a consultation that cannot end has cost, as far as its files have it.
    fn record_cut_off(&mut self, id: &ConsultationId) -> Result<(), Error> {
        let spend = self.spend_of(id);
        self.record(RefinementEventKind::ConsultationCutOff {
            consultation: id.clone(),
            spend,
        })
    }
}

fn models(panel: &Panel) -> impl Iterator<Item = &ModelRef> {
    let seats = panel.seats.iter().map(|seat| &seat.model);
    seats.chain(&panel.judges)
}

/// Returns the number of the last call.
fn last_call(record: &StoredRecord) -> Option<u32> {
    let attempts = record.agent_rounds().flat_map(|(_, work)| &work.attempts);
    attempts.filter_map(|attempt| attempt.call).max()
}

impl LoopJob {
    /// Returns whether a consultation ended before it had said all that it can.
    fn is_cut_off(&self, record: &StoredRecord) -> bool {
        let why = match self {
            Self::Extraction => extraction_of(record).err(),
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
