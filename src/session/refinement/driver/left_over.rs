//! The consultations that an earlier process left: they are read, continued, or asked again.

use crate::consultation::analysis::no_answer::{
    AccessFailure, NoAnswer, abort_reason, access_failure, access_failure_after,
};
use crate::consultation::event::AbortReason;
use crate::domain::ids::{ConsultationId, ModelRef};
use crate::domain::panel::Panel;
use crate::domain::stored_record::StoredRecord;
use crate::error::Error;
use crate::refinement::batches::QuestionBatch;
use crate::refinement::event::RefinementEventKind;
use crate::refinement::reading::findings_of;
use crate::refinement::state::BatchRecord;
use crate::session::batch::{TakeOver, take_over};
use crate::setup::plan::template::PlanTemplate;
use crate::stopping::convergence::QuestionKey;

use super::{LoopInProgress, LoopJob};

impl LoopInProgress<'_> {
    /// Takes over a consultation that an earlier process began.
    pub(super) async fn take_over(&mut self, left_over: BatchRecord) -> Result<(), Error> {
        let id = left_over.consultation.clone();
        let batch = left_over.about;
        match self.taken_over(&id, self.driver.templates.panel()).await? {
            TakeOver::Finished(outcome) => match findings_of(&outcome.record, &batch) {
                Err(why) if is_cut_off(&why) => self.repeat(&id, &batch, "it was cut off"),
                Ok(_) | Err(_) => self.batch_ended(&id, &batch, Ok(*outcome)),
            },
            TakeOver::Resume(session) => {
                self.record_start(&id, &batch)?;
                self.batch.resume(LoopJob::Questions(batch), *session);
                Ok(())
            }
            TakeOver::Repeat(why) => self.repeat(&id, &batch, &why),
        }
    }

    /// Returns what is left to do of a consultation of this template. One that failed continues,
    /// with what is paid, if the same models can still complete it.
    pub(super) async fn taken_over(
        &mut self,
        id: &ConsultationId,
        template: &PlanTemplate,
    ) -> Result<TakeOver, Error> {
        let sources = self.driver.planner.resume_sources();
        let control = self.driver.templates.resume_control();
        let taken = take_over(id, &sources, control, self.driver.clock).await?;
        let failure = self.current().failure(id).map(str::to_owned);
        let session = match (taken, &failure) {
            (TakeOver::Resume(session), _) => session,
            // It would end the same way.
            (TakeOver::Finished(_), Some(error)) => return Ok(TakeOver::Repeat(error.clone())),
            (taken @ (TakeOver::Finished(_) | TakeOver::Repeat(_)), _) => return Ok(taken),
        };
        let record = self.record_of(id);
        if let Some(error) = failure {
            // To resume after a strict abort is to accept the failure.
            let was_strict = record.as_ref().and_then(abort_reason) == Some(AbortReason::Strict);
            let asked = models(&session.plan().panel);
            if was_strict || !asked.eq(models(&template.common().panel)) {
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

    /// Asks the questions of a consultation again that can be neither read nor resumed.
    fn repeat(
        &mut self,
        id: &ConsultationId,
        batch: &QuestionBatch,
        why: &str,
    ) -> Result<(), Error> {
        self.driver
            .printer
            .detail(&format!("the questions of {id} are asked again: {why}"));
        self.record_cut_off(id)?;
        match self.due(batch) {
            Some(batch) => self.ask(batch),
            None => Ok(()),
        }
    }

    /// Returns those of a batch's questions that are still in the document, with the claims that it
    /// has now.
    fn due(&self, asked: &QuestionBatch) -> Option<QuestionBatch> {
        let asked = asked.keys();
        let batches = &self.document.now().batches;
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
    pub(super) fn record_cut_off(&mut self, id: &ConsultationId) -> Result<(), Error> {
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

/// Returns whether a consultation ended before it had said all that it can.
pub(super) fn is_cut_off(why: &NoAnswer) -> bool {
    match why {
        NoAnswer::CostCeiling { .. } | NoAnswer::Interrupted | NoAnswer::Unfinished => true,
        NoAnswer::Failed { .. } | NoAnswer::Infrastructure { .. } => false,
    }
}
