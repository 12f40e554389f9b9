//! The extraction of claims and questions from a plain document.

use crate::consultation::transcript::no_answer::{NoAnswer, no_answer};
use crate::domain::ids::ConsultationId;
use crate::domain::stored_record::StoredRecord;
use crate::error::Error;
use crate::refinement::event::{Extraction, RefinementEventKind};
use crate::refinement::reading::{ExtractedItems, ExtractionError, extracted_items};
use crate::session::batch::ConsultationOutcome;

use super::consultations::ConsultationEnd;
use super::{LoopInProgress, WorkingDocument};

impl LoopInProgress<'_> {
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

pub(super) fn extraction_of(record: &StoredRecord) -> Result<ExtractedItems, NoAnswer> {
    extracted_items(record).map_err(|error| match error {
        ExtractionError::NoAnswer => no_answer(record),
        ExtractionError::NoItems => NoAnswer::Failed {
            message: error.to_string(),
        },
    })
}
