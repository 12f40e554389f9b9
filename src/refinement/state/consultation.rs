//! A consultation of a loop, from its start to its result.

use crate::domain::ids::ConsultationId;
use crate::domain::stored_record::spend::ConsultationSpend;
use crate::refinement::batches::QuestionBatch;
use crate::refinement::event::{Extraction, TextHash};
use crate::refinement::finding::BatchFindings;
use crate::stopping::convergence::QuestionKey;

use super::{Applied, refused};

/// How far a consultation is. `T` is what it is asked for.
#[derive(Clone, Debug, PartialEq)]
pub enum ConsultationProgress<T> {
    InFlight,
    /// It was cut off, in flight when its process ended, or failed before the loop was resumed;
    /// then with the reason. It can be taken over.
    LeftOver(Option<String>),
    Answered(T),
    /// It has no answer, for this reason, and is not taken over before the loop is resumed.
    NoAnswer(String),
    /// Another consultation gets its questions; with the reason if it ended without an answer.
    Repeated(Option<String>),
}

/// A consultation, what it is about, and how far it is.
#[derive(Clone, Debug, PartialEq)]
pub struct ConsultationRecord<A, T> {
    pub consultation: ConsultationId,
    pub about: A,
    pub progress: ConsultationProgress<T>,
    pub spend: ConsultationSpend,
}

/// The extraction of claims and questions from a plain document, which is about this text.
pub type ExtractionRecord = ConsultationRecord<TextHash, Extraction>;

/// The consultation of a batch.
pub type BatchRecord = ConsultationRecord<QuestionBatch, BatchFindings>;

/// Starts a consultation, or takes over one that is left over. A new one gets the questions of
/// those that it replaces.
pub(super) fn start<A, T>(
    records: &mut Vec<ConsultationRecord<A, T>>,
    id: &ConsultationId,
    about: A,
    replaces: impl Fn(&ConsultationRecord<A, T>) -> bool,
) -> Applied {
    if let Some(record) = records.iter_mut().find(|record| record.consultation == *id) {
        if !record.progress.is_left_over() {
            return refused(format!("`{id}` begins twice"));
        }
        record.progress = ConsultationProgress::InFlight;
        return Ok(());
    }
    for record in records.iter_mut() {
        if replaces(record) {
            record.progress.repeat();
        }
    }
    records.push(ConsultationRecord {
        consultation: id.clone(),
        about,
        progress: ConsultationProgress::InFlight,
        spend: ConsultationSpend::default(),
    });
    Ok(())
}

/// Records what a consultation in flight or left over has cost, and its end; `None` if it was cut
/// off.
pub(super) fn end<A, T>(
    records: &mut [ConsultationRecord<A, T>],
    id: &ConsultationId,
    spend: ConsultationSpend,
    end: Option<ConsultationProgress<T>>,
) -> Applied {
    let mut records = records.iter_mut();
    let record = records.find(|record| record.consultation == *id && record.progress.is_open());
    let Some(record) = record else {
        return refused(format!("`{id}` ends or is cut off and is not in flight"));
    };
    record.spend = spend;
    match end {
        Some(end) => record.progress = end,
        None => record.progress.leave(),
    }
    Ok(())
}

pub(super) fn has_in_flight<A, T>(records: &[ConsultationRecord<A, T>]) -> bool {
    let mut records = records.iter();
    records.any(|record| record.progress.is_in_flight())
}

impl BatchRecord {
    pub fn asks(&self, question: &QuestionKey) -> bool {
        let mut questions = self.about.questions.iter();
        questions.any(|(key, _)| key == question)
    }
}

impl<T> ConsultationProgress<T> {
    /// Returns the result; `None` before it or without one.
    pub fn answer(&self) -> Option<&T> {
        match self {
            Self::Answered(answer) => Some(answer),
            Self::InFlight | Self::LeftOver(_) | Self::NoAnswer(_) | Self::Repeated(_) => None,
        }
    }

    /// Returns why there is no answer; `None` if there is one, or the consultation did not end.
    pub fn error(&self) -> Option<&str> {
        match self {
            Self::NoAnswer(error) => Some(error),
            Self::LeftOver(error) | Self::Repeated(error) => error.as_deref(),
            Self::InFlight | Self::Answered(_) => None,
        }
    }

    pub(super) fn is_in_flight(&self) -> bool {
        matches!(self, Self::InFlight)
    }

    pub(super) fn is_left_over(&self) -> bool {
        matches!(self, Self::LeftOver(_))
    }

    /// Returns whether it may still end.
    fn is_open(&self) -> bool {
        self.is_in_flight() || self.is_left_over()
    }

    /// It was cut off, or its process has ended.
    pub(super) fn leave(&mut self) {
        if self.is_in_flight() {
            *self = Self::LeftOver(None);
        }
    }

    /// Another consultation gets its questions, unless it has an answer.
    fn repeat(&mut self) {
        match self {
            Self::InFlight => *self = Self::Repeated(None),
            Self::LeftOver(error) => *self = Self::Repeated(error.take()),
            Self::NoAnswer(error) => *self = Self::Repeated(Some(std::mem::take(error))),
            Self::Answered(_) | Self::Repeated(_) => {}
        }
    }

    /// The loop continues in another process: what has no answer is due again.
    pub(super) fn resume(&mut self) {
        match self {
            Self::InFlight => *self = Self::LeftOver(None),
            Self::NoAnswer(error) => *self = Self::LeftOver(Some(std::mem::take(error))),
            Self::LeftOver(_) | Self::Answered(_) | Self::Repeated(_) => {}
        }
    }
}
