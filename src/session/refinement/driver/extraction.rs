//! The extraction of claims and questions from a plain document.

use crate::consultation::analysis::no_answer::{NoAnswer, no_answer};
use crate::domain::ids::ConsultationId;
use crate::domain::stored_record::StoredRecord;
use crate::error::Error;
use crate::refinement::event::{Extraction, RefinementEventKind};
use crate::refinement::reading::{ExtractedItems, ExtractionError, extracted_items};
use crate::session::batch::{ConsultationOutcome, TakeOver, approved};

use super::consultations::ConsultationEnd;
use super::left_over::is_cut_off;
use super::{LoopInProgress, LoopJob, WorkingDocument};

impl LoopInProgress<'_> {
    /// Starts or takes over the extraction from a plain document.
    pub(super) async fn extract(&mut self, left_over: Option<ConsultationId>) -> Result<(), Error> {
        let templates = self.driver.templates;
        if let (Some(id), Some(template)) = (left_over, templates.extraction()) {
            match self.taken_over(&id, template).await? {
                TakeOver::Finished(outcome) => match extraction_of(&outcome.record) {
                    Err(why) if is_cut_off(&why) => self.record_cut_off(&id)?,
                    Ok(_) | Err(_) => return self.extracted(&id, Ok(*outcome)),
                },
                TakeOver::Resume(session) => {
                    self.record_extraction(&id)?;
                    self.batch.resume(LoopJob::Extraction, *session);
                    return Ok(());
                }
                TakeOver::Repeat(_) => self.record_cut_off(&id)?,
            }
        }
        let plan = approved(templates.plan_extraction(self.document.document())?);
        self.record_extraction(&plan.id)?;
        if let Some(template) = templates.extraction() {
            self.batch
                .start(LoopJob::Extraction, plan, template.providers());
        }
        Ok(())
    }

    fn record_extraction(&mut self, id: &ConsultationId) -> Result<(), Error> {
        let document = self.document.hash().clone();
        self.record(RefinementEventKind::ExtractionStarted {
            consultation: id.clone(),
            document,
        })?;
        self.driver.progress.extraction_started(id);
        Ok(())
    }

    pub(super) fn extracted(
        &mut self,
        id: &ConsultationId,
        result: Result<ConsultationOutcome, Error>,
    ) -> Result<(), Error> {
        let end = self.end(id, result, extraction_of)?;
        let Some(ConsultationEnd { spend, answer }) = end else {
            return Ok(());
        };
        let (items, error) = match answer {
            Ok(items) => (items, None),
            Err(error) => (ExtractedItems::default(), Some(error)),
        };
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
}

fn extraction_of(record: &StoredRecord) -> Result<ExtractedItems, NoAnswer> {
    extracted_items(record).map_err(|error| match error {
        ExtractionError::NoAnswer => no_answer(record),
        ExtractionError::NoItems => NoAnswer::Failed {
            message: error.to_string(),
        },
    })
}
