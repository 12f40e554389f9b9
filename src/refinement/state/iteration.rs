//! One iteration of a loop: the consultations of its batches, and the merge of their findings.

use std::collections::BTreeSet;

use crate::domain::ids::ConsultationId;
use crate::domain::stored_record::spend::ConsultationSpend;
use crate::domain::time::Timestamp;
use crate::refinement::batches::QuestionBatch;
use crate::refinement::event::{BatchFinished, BatchStarted, Integrated, TextHash};
use crate::refinement::finding::{BatchFindings, PanelFinding};
use crate::stopping::convergence::QuestionKey;

use super::RefinementStateError;
use super::consultation::ConsultationProgress;

/// An iteration.
#[derive(Clone, Debug, PartialEq)]
pub struct IterationRecord {
    /// From 1.
    pub number: u64,
    pub started_at: Timestamp,
    /// The text that it works on.
    pub document: TextHash,
    /// In the order in which they were started.
    pub batches: Vec<BatchRecord>,
    pub merge: MergeProgress,
}

/// How far the merge of an iteration's findings is.
#[derive(Clone, Debug, PartialEq)]
pub enum MergeProgress {
    /// The panel works.
    Due,
    /// It was decided; its text may not be in the file.
    Decided(Box<Integrated>),
    /// Its text is in the file: the iteration is over.
    Written(Box<Integrated>),
}

/// The consultation of a batch.
#[derive(Clone, Debug, PartialEq)]
pub struct BatchRecord {
    pub consultation: ConsultationId,
    pub batch: QuestionBatch,
    pub progress: ConsultationProgress<BatchFindings>,
    pub spend: ConsultationSpend,
}

impl IterationRecord {
    pub(super) fn new(number: u64, document: &TextHash, started_at: Timestamp) -> Self {
        Self {
            number,
            started_at,
            document: document.clone(),
            batches: Vec::new(),
            merge: MergeProgress::Due,
        }
    }

    /// Returns the merge, if its text is in the file.
    pub fn written(&self) -> Option<&Integrated> {
        match &self.merge {
            MergeProgress::Written(merge) => Some(merge),
            MergeProgress::Due | MergeProgress::Decided(_) => None,
        }
    }

    /// Returns the merge that was decided and may not be in the file.
    pub fn decided(&self) -> Option<&Integrated> {
        match &self.merge {
            MergeProgress::Decided(merge) => Some(merge),
            MergeProgress::Due | MergeProgress::Written(_) => None,
        }
    }

    /// Returns the findings so far, in the order in which their consultations were started.
    pub fn findings(&self) -> impl Iterator<Item = &BatchFindings> {
        let batches = self.batches.iter();
        batches.filter_map(|batch| batch.progress.answer())
    }

    /// Returns the questions whose consultations have ended without a readable answer to them.
    pub fn unanswered(&self) -> BTreeSet<&QuestionKey> {
        let ended = self.batches.iter().filter(|record| match record.progress {
            ConsultationProgress::Answered(_)
            | ConsultationProgress::NoAnswer(_)
            | ConsultationProgress::LeftOver(Some(_)) => true,
            ConsultationProgress::InFlight
            | ConsultationProgress::LeftOver(None)
            | ConsultationProgress::Repeated(_) => false,
        });
        let asked = ended.flat_map(|record| &record.batch.questions);
        let findings = self.findings().flat_map(|batch| &batch.findings);
        let answered: BTreeSet<&QuestionKey> =
            findings.filter_map(PanelFinding::question).collect();
        let all = asked.map(|(question, _)| question);
        all.filter(|question| !answered.contains(question))
            .collect()
    }

    /// Returns whether questions were asked, and no answer to any of them could be read.
    pub fn is_unreadable(&self) -> bool {
        let mut findings = self.findings().peekable();
        findings.peek().is_some() && findings.all(|batch| batch.findings.is_empty())
    }

    /// Returns the batches that can be taken over from an earlier process.
    pub fn left_over(&self) -> impl Iterator<Item = &BatchRecord> {
        let batches = self.batches.iter();
        batches.filter(|batch| batch.progress.is_left_over())
    }

    pub fn has_batches_in_flight(&self) -> bool {
        let mut batches = self.batches.iter();
        batches.any(|batch| batch.progress.is_in_flight())
    }

    pub(super) fn start(&mut self, started: &BatchStarted) -> Result<(), RefinementStateError> {
        if let Some(batch) = self.batch(&started.consultation) {
            if !batch.progress.is_left_over() {
                let id = started.consultation.clone();
                return Err(RefinementStateError::StartedTwice(id));
            }
            batch.progress = ConsultationProgress::InFlight;
            return Ok(());
        }
        let asked = &started.batch;
        for batch in &mut self.batches {
            if batch.progress.is_left_over() && batch.shares_a_question(asked) {
                batch.progress.repeat();
            }
        }
        self.batches.push(BatchRecord {
            consultation: started.consultation.clone(),
            batch: started.batch.clone(),
            progress: ConsultationProgress::InFlight,
            spend: ConsultationSpend::default(),
        });
        Ok(())
    }

    pub(super) fn finish(&mut self, finished: &BatchFinished) -> Result<(), RefinementStateError> {
        let batch = self.open_batch(&finished.consultation);
        let batch = batch.ok_or_else(|| {
            RefinementStateError::UnknownConsultation(finished.consultation.clone())
        })?;
        batch.spend = finished.spend;
        batch.progress = match &finished.findings {
            Some(findings) => ConsultationProgress::Answered(findings.clone()),
            None => ConsultationProgress::NoAnswer(finished.error.clone().unwrap_or_default()),
        };
        Ok(())
    }

    /// Returns a batch that is in flight or left over.
    pub(super) fn open_batch(&mut self, id: &ConsultationId) -> Option<&mut BatchRecord> {
        self.batch(id).filter(|batch| batch.progress.is_open())
    }

    fn batch(&mut self, id: &ConsultationId) -> Option<&mut BatchRecord> {
        self.batches
            .iter_mut()
            .find(|batch| batch.consultation == *id)
    }
}

impl BatchRecord {
    pub fn asks(&self, question: &QuestionKey) -> bool {
        let mut questions = self.batch.questions.iter();
        questions.any(|(key, _)| key == question)
    }

    fn shares_a_question(&self, other: &QuestionBatch) -> bool {
        other.questions.iter().any(|(key, _)| self.asks(key))
    }
}
