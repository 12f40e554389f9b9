//! A consultation of a loop, from its start to its result.

use serde::Serialize;

use crate::domain::ids::ConsultationId;
use crate::domain::record::stored_record::spend::ConsultationSpend;
use crate::refinement::batches::QuestionBatch;
use crate::refinement::event::{Extraction, TextHash};
use crate::refinement::finding::BatchFindings;
use crate::stopping::convergence::QuestionKey;

use super::{Applied, refused};

/// How far a consultation is.
// A consultation is cut off if it was in flight when its process ended, or failed before the loop
// was resumed. One without an answer is not taken over before the loop is resumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ConsultationStatus {
    InFlight,
    /// It can be resumed.
    CutOff,
    Answered,
    NoAnswer,
    /// Another consultation got its questions.
    Repeated,
}

/// A consultation, what it is about, and how far it is.
#[derive(Clone, Debug, PartialEq)]
pub struct ConsultationRecord<A, T> {
    pub consultation: ConsultationId,
    pub about: A,
    pub status: ConsultationStatus,
    /// Set exactly if it is answered.
    pub answer: Option<T>,
    /// Why it ended without an answer, until it is taken over.
    pub error: Option<String>,
    pub spend: ConsultationSpend,
}

/// The extraction of claims and questions from a plain document, which is about this text.
pub type ExtractionRecord = ConsultationRecord<TextHash, Extraction>;

/// The consultation of a batch.
pub type BatchRecord = ConsultationRecord<QuestionBatch, BatchFindings>;

/// A new one gets the questions of those that it replaces.
pub(super) fn start<A, T>(
    records: &mut Vec<ConsultationRecord<A, T>>,
    id: &ConsultationId,
    about: A,
    replaces: impl Fn(&ConsultationRecord<A, T>) -> bool,
) -> Applied {
    if let Some(record) = records.iter_mut().find(|record| record.consultation == *id) {
        if record.status != ConsultationStatus::CutOff {
            return refused(format!("`{id}` begins twice"));
        }
        (record.status, record.error) = (ConsultationStatus::InFlight, None);
        return Ok(());
    }
    for record in records.iter_mut() {
        if replaces(record) && record.status != ConsultationStatus::Answered {
            record.status = ConsultationStatus::Repeated;
        }
    }
    records.push(ConsultationRecord {
        consultation: id.clone(),
        about,
        status: ConsultationStatus::InFlight,
        answer: None,
        error: None,
        spend: ConsultationSpend::default(),
    });
    Ok(())
}

/// `None` if it was cut off.
pub(super) fn end<A, T>(
    records: &mut [ConsultationRecord<A, T>],
    id: &ConsultationId,
    spend: ConsultationSpend,
    end: Option<Result<T, String>>,
) -> Applied {
    let mut records = records.iter_mut();
    let is_open = |status| {
        matches!(
            status,
            ConsultationStatus::InFlight | ConsultationStatus::CutOff
        )
    };
    let record = records.find(|record| record.consultation == *id && is_open(record.status));
    let Some(record) = record else {
        return refused(format!("`{id}` ends, but was not in flight"));
    };
    record.spend = spend;
    record.status = match &end {
        Some(Ok(_)) => ConsultationStatus::Answered,
        Some(Err(_)) => ConsultationStatus::NoAnswer,
        None => ConsultationStatus::CutOff,
    };
    if let Some(end) = end {
        record.error = end.as_ref().err().cloned();
        record.answer = end.ok();
    }
    Ok(())
}

pub(super) fn has_in_flight<A, T>(records: &[ConsultationRecord<A, T>]) -> bool {
    let mut records = records.iter();
    records.any(|record| record.status == ConsultationStatus::InFlight)
}

impl BatchRecord {
    pub fn asks(&self, question: &QuestionKey) -> bool {
        let mut questions = self.about.questions.iter();
        questions.any(|(key, _)| key == question)
    }
}
