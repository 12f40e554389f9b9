//! One iteration of a loop: the consultations of its batches, and the merge of their findings.

use std::collections::BTreeSet;

use crate::domain::time::Timestamp;
use crate::refinement::event::{BatchFinished, BatchStarted, Integrated, TextHash};
use crate::refinement::finding::{BatchFindings, PanelFinding};
use crate::stopping::convergence::QuestionKey;

use super::Applied;
use super::consultation::{BatchRecord, ConsultationStatus, end, start};

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
    /// The merge of its findings, once it is decided.
    pub merge: Option<Box<Integrated>>,
    /// Whether the text of the merge is in the file: then the iteration is over.
    pub is_written: bool,
}

impl IterationRecord {
    /// Returns the merge, if its text is in the file.
    pub fn written(&self) -> Option<&Integrated> {
        self.merge.as_deref().filter(|_| self.is_written)
    }

    /// Returns the merge that was decided and may not be in the file.
    pub fn decided(&self) -> Option<&Integrated> {
        self.merge.as_deref().filter(|_| !self.is_written)
    }

    /// In the order in which their consultations were started.
    pub fn findings(&self) -> impl Iterator<Item = &BatchFindings> {
        let batches = self.batches.iter();
        batches.filter_map(|batch| batch.answer.as_ref())
    }

    /// Returns the questions whose consultations have ended without a readable answer to them.
    pub fn unanswered(&self) -> BTreeSet<&QuestionKey> {
        let ended = self.batches.iter().filter(|record| match record.status {
            ConsultationStatus::Answered | ConsultationStatus::NoAnswer => true,
            ConsultationStatus::CutOff => record.error.is_some(),
            ConsultationStatus::InFlight | ConsultationStatus::Repeated => false,
        });
        let asked = ended.flat_map(|record| &record.about.questions);
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

    pub fn left_over(&self) -> impl Iterator<Item = &BatchRecord> {
        let batches = self.batches.iter();
        batches.filter(|batch| batch.status == ConsultationStatus::CutOff)
    }

    pub(super) fn start(&mut self, started: &BatchStarted) -> Applied {
        let asked = &started.batch;
        let shares_a_question = |record: &BatchRecord| {
            let mut questions = asked.questions.iter();
            record.status == ConsultationStatus::CutOff
                && questions.any(|(key, _)| record.asks(key))
        };
        let id = &started.consultation;
        start(&mut self.batches, id, asked.clone(), shares_a_question)
    }

    pub(super) fn finish(&mut self, finished: &BatchFinished) -> Applied {
        let answer = finished.findings.clone();
        let answer = answer.ok_or_else(|| finished.error.clone().unwrap_or_default());
        let id = &finished.consultation;
        end(&mut self.batches, id, finished.spend, Some(answer))
    }
}
