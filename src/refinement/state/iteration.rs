//! One iteration of a loop: the consultations of its batches, and the merge of their findings.

use std::collections::BTreeSet;

use crate::domain::time::Timestamp;
use crate::refinement::event::{BatchFinished, BatchStarted, Integrated, TextHash};
use crate::refinement::finding::{BatchFindings, PanelFinding};
use crate::stopping::convergence::QuestionKey;

use super::Applied;
use super::consultation::{BatchRecord, ConsultationProgress, end, has_in_flight, start};

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

    /// Returns the batches that can be taken over from an earlier process.
    pub fn left_over(&self) -> impl Iterator<Item = &BatchRecord> {
        let batches = self.batches.iter();
        batches.filter(|batch| batch.progress.is_left_over())
    }

    pub fn has_batches_in_flight(&self) -> bool {
        has_in_flight(&self.batches)
    }

    pub(super) fn start(&mut self, started: &BatchStarted) -> Applied {
        let asked = &started.batch;
        let shares_a_question = |record: &BatchRecord| {
            let mut questions = asked.questions.iter();
            record.progress.is_left_over() && questions.any(|(key, _)| record.asks(key))
        };
        let id = &started.consultation;
        start(&mut self.batches, id, asked.clone(), shares_a_question)
    }

    pub(super) fn finish(&mut self, finished: &BatchFinished) -> Applied {
        let progress = match &finished.findings {
            Some(findings) => ConsultationProgress::Answered(findings.clone()),
            None => ConsultationProgress::NoAnswer(finished.error.clone().unwrap_or_default()),
        };
        let id = &finished.consultation;
        end(&mut self.batches, id, finished.spend, Some(progress))
    }
}
