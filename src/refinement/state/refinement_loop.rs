//! One loop over a document, from its beginning to its end.

use std::collections::BTreeSet;

use crate::domain::ids::ConsultationId;
use crate::domain::stored_record::spend::ConsultationSpend;
use crate::domain::time::Timestamp;
use crate::refinement::change::ItemChange;
use crate::refinement::event::{
    Extraction, Integrated, LoopBegun, RefinementEvent, RefinementEventKind, StopCause, TextHash,
};
use crate::refinement::finding::BatchFindings;
use crate::stopping::convergence::{Criteria, DocumentMeasure, QuestionKey, evaluate};
use crate::stopping::evaluation::Evaluation;

use super::RefinementStateError;
use super::consultation::{ConsultationProgress, ExtractionRecord};
use super::iteration::{IterationRecord, MergeProgress};

/// A loop.
#[derive(Clone, Debug, PartialEq)]
pub struct RefinementLoop {
    begun: LoopBegun,
    begun_at: Timestamp,
    updated_at: Timestamp,
    /// Those of the process that works, or worked last.
    criteria: Criteria,
    resumes: Vec<Timestamp>,
    phase: LoopPhase,
    /// Whether the last iteration has no readable answer, and the loop was not resumed since.
    is_unreadable: bool,
    extractions: Vec<ExtractionRecord>,
    iterations: Vec<IterationRecord>,
}

/// What a loop does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoopPhase {
    /// It works, or its process was killed.
    Open,
    /// It can be resumed.
    Stopped { cause: StopCause, message: String },
    /// Its last evaluation decided it. It can be resumed with criteria that would not.
    Ended,
}

impl RefinementLoop {
    pub(super) fn new(begun: &LoopBegun, at: Timestamp) -> Self {
        Self {
            criteria: begun.criteria,
            begun: begun.clone(),
            begun_at: at,
            updated_at: at,
            resumes: Vec::new(),
            phase: LoopPhase::Open,
            is_unreadable: false,
            extractions: Vec::new(),
            iterations: Vec::new(),
        }
    }

    /// Adds an event other than a beginning.
    pub(super) fn apply(&mut self, event: &RefinementEvent) -> Result<(), RefinementStateError> {
        match (&self.phase, &event.kind) {
            (LoopPhase::Ended, RefinementEventKind::Resumed { criteria })
                if !self.ends_by(criteria) => {}
            (LoopPhase::Ended, _) => return Err(RefinementStateError::AfterEnd),
            (LoopPhase::Stopped { .. }, RefinementEventKind::Resumed { .. })
            | (LoopPhase::Open, _) => {}
            (LoopPhase::Stopped { .. }, _) => return Err(RefinementStateError::AfterStop),
        }
        match &event.kind {
            RefinementEventKind::Begun(_) => return Err(RefinementStateError::NotBegun),
            RefinementEventKind::Resumed { criteria } => self.resume(*criteria, event.time),
            RefinementEventKind::ExtractionStarted {
                consultation,
                document,
            } => self.start_extraction(consultation, document)?,
            RefinementEventKind::ExtractionFinished(extraction) => {
                self.finish_extraction(extraction)?;
            }
            RefinementEventKind::IterationStarted {
                iteration,
                document,
            } => self.start_iteration(*iteration, document, event.time)?,
            RefinementEventKind::BatchStarted(started) => {
                self.iteration_at_work(started.iteration)?.start(started)?;
            }
            RefinementEventKind::BatchFinished(finished) => {
                let iteration = self.open_iteration_mut();
                let iteration = iteration.ok_or(RefinementStateError::NoIteration)?;
                iteration.finish(finished)?;
            }
            RefinementEventKind::ConsultationCutOff {
                consultation,
                spend,
            } => self.cut_off(consultation, spend)?,
            RefinementEventKind::Integrated(merge) => self.decide_merge(merge)?,
            RefinementEventKind::DocumentWritten { document } => self.write(document)?,
            RefinementEventKind::Stopped { cause, message } => self.stop(*cause, message),
            RefinementEventKind::Ended => {
                if self
                    .iterations
                    .last()
                    .and_then(IterationRecord::written)
                    .is_none()
                {
                    return Err(RefinementStateError::EndedEarly);
                }
                self.phase = LoopPhase::Ended;
            }
        }
        self.updated_at = event.time;
        Ok(())
    }

    fn resume(&mut self, criteria: Criteria, at: Timestamp) {
        self.phase = LoopPhase::Open;
        self.is_unreadable = false;
        self.criteria = criteria;
        self.resumes.push(at);
        for extraction in &mut self.extractions {
            extraction.progress.resume();
        }
        if let Some(iteration) = self.open_iteration_mut() {
            for batch in &mut iteration.batches {
                batch.progress.resume();
            }
        }
    }

    fn stop(&mut self, cause: StopCause, message: &str) {
        for extraction in &mut self.extractions {
            extraction.progress.leave();
        }
        if let Some(iteration) = self.open_iteration_mut() {
            for batch in &mut iteration.batches {
                batch.progress.leave();
            }
            // Its findings wait for the text of the person.
            if cause == StopCause::DocumentChanged {
                iteration.merge = MergeProgress::Due;
            }
        }
        self.phase = LoopPhase::Stopped {
            cause,
            message: message.to_owned(),
        };
    }

    fn start_extraction(
        &mut self,
        id: &ConsultationId,
        document: &TextHash,
    ) -> Result<(), RefinementStateError> {
        let mut records = self.extractions.iter_mut();
        if let Some(record) = records.find(|record| record.consultation == *id) {
            if !record.progress.is_left_over() {
                return Err(RefinementStateError::StartedTwice(id.clone()));
            }
            record.progress = ConsultationProgress::InFlight;
            return Ok(());
        }
        for record in &mut self.extractions {
            if record.progress.is_in_flight() {
                return Err(RefinementStateError::InFlight);
            }
            record.progress.repeat();
        }
        self.extractions.push(ExtractionRecord {
            consultation: id.clone(),
            document: document.clone(),
            progress: ConsultationProgress::InFlight,
            spend: ConsultationSpend::default(),
        });
        Ok(())
    }

    fn finish_extraction(&mut self, extraction: &Extraction) -> Result<(), RefinementStateError> {
        let id = &extraction.consultation;
        let record = self
            .open_extraction(id)
            .ok_or_else(|| RefinementStateError::UnknownConsultation(id.clone()))?;
        record.spend = extraction.spend;
        record.progress = match &extraction.error {
            None => ConsultationProgress::Answered(extraction.clone()),
            Some(error) => ConsultationProgress::NoAnswer(error.clone()),
        };
        Ok(())
    }

    fn open_extraction(&mut self, id: &ConsultationId) -> Option<&mut ExtractionRecord> {
        self.extractions
            .iter_mut()
            .find(|record| record.consultation == *id && record.progress.is_open())
    }

    fn start_iteration(
        &mut self,
        number: u64,
        document: &TextHash,
        at: Timestamp,
    ) -> Result<(), RefinementStateError> {
        let expected = self.next_iteration();
        if number != expected {
            return Err(RefinementStateError::WrongIteration {
                expected,
                found: number,
            });
        }
        match self.open_iteration_mut() {
            Some(iteration) if iteration.has_batches_in_flight() => {
                return Err(RefinementStateError::InFlight);
            }
            Some(iteration) => {
                iteration.document = document.clone();
                iteration.merge = MergeProgress::Due;
            }
            None => {
                let iteration = IterationRecord::new(number, document, at);
                self.iterations.push(iteration);
            }
        }
        Ok(())
    }

    fn cut_off(
        &mut self,
        id: &ConsultationId,
        spend: &ConsultationSpend,
    ) -> Result<(), RefinementStateError> {
        if let Some(record) = self.open_extraction(id) {
            record.progress.leave();
            record.spend = *spend;
            return Ok(());
        }
        let iteration = self.open_iteration_mut();
        let batch = iteration
            .and_then(|iteration| iteration.open_batch(id))
            .ok_or_else(|| RefinementStateError::UnknownConsultation(id.clone()))?;
        batch.progress.leave();
        batch.spend = *spend;
        Ok(())
    }

    fn decide_merge(&mut self, merge: &Integrated) -> Result<(), RefinementStateError> {
        let iteration = self.iteration_at_work(merge.iteration)?;
        if iteration.has_batches_in_flight() {
            return Err(RefinementStateError::InFlight);
        }
        if iteration.document != merge.before {
            return Err(RefinementStateError::OtherText);
        }
        iteration.merge = MergeProgress::Decided(Box::new(merge.clone()));
        Ok(())
    }

    fn write(&mut self, document: &TextHash) -> Result<(), RefinementStateError> {
        let iteration = self.open_iteration_mut();
        let iteration = iteration.ok_or(RefinementStateError::NothingMerged)?;
        match iteration.decided() {
            Some(merge) if merge.after == *document => {
                let is_unreadable = iteration.is_unreadable();
                iteration.merge = MergeProgress::Written(Box::new(merge.clone()));
                self.is_unreadable = is_unreadable;
                Ok(())
            }
            Some(_) | None => Err(RefinementStateError::NothingMerged),
        }
    }

    /// Returns the iteration that is not over, which must have this number.
    fn iteration_at_work(
        &mut self,
        number: u64,
    ) -> Result<&mut IterationRecord, RefinementStateError> {
        let iteration = self
            .open_iteration_mut()
            .ok_or(RefinementStateError::NoIteration)?;
        if iteration.number == number {
            Ok(iteration)
        } else {
            Err(RefinementStateError::WrongIteration {
                expected: iteration.number,
                found: number,
            })
        }
    }

    fn open_iteration_mut(&mut self) -> Option<&mut IterationRecord> {
        let last = self.iterations.last_mut();
        last.filter(|iteration| iteration.written().is_none())
    }

    /// Returns the iteration that is not over.
    pub fn open_iteration(&self) -> Option<&IterationRecord> {
        let last = self.iterations.last();
        last.filter(|iteration| iteration.written().is_none())
    }

    /// Returns the number of the iteration that is not over, or of the one to come.
    pub fn next_iteration(&self) -> u64 {
        let Some(last) = self.iterations.last() else {
            return 1;
        };
        match &last.merge {
            MergeProgress::Due | MergeProgress::Decided(_) => last.number,
            MergeProgress::Written(_) => last.number + 1,
        }
    }

    /// Returns the findings that no written merge has used up.
    pub fn pending_findings(&self) -> Vec<BatchFindings> {
        let iteration = self.open_iteration();
        let findings = iteration.into_iter().flat_map(IterationRecord::findings);
        findings.cloned().collect()
    }

    /// Returns the extraction from this text. Once the panel was asked, it is the newest one from
    /// any text: another extraction would have other words, and the answers no questions.
    pub fn extraction(&self, document: &TextHash) -> Option<&Extraction> {
        let mut newest = self.extractions.iter().rev();
        let mut of_text = newest.clone().filter(|record| record.document == *document);
        let of_text = of_text.find_map(|record| record.progress.answer());
        let open = self.open_iteration();
        let is_asked = open.is_some_and(|iteration| !iteration.batches.is_empty());
        of_text.or_else(|| {
            let any = newest.find_map(|record| record.progress.answer());
            any.filter(|_| is_asked)
        })
    }

    /// Returns the consultations that were in flight when their process ended, or were cut off.
    pub fn left_over(&self) -> Vec<&ConsultationId> {
        let extractions = self.extractions.iter();
        let extractions = extractions
            .filter(|record| record.progress.is_left_over())
            .map(|record| &record.consultation);
        let iteration = self.open_iteration();
        let batches = iteration.into_iter().flat_map(IterationRecord::left_over);
        extractions
            .chain(batches.map(|batch| &batch.consultation))
            .collect()
    }

    /// Returns why a consultation that has ended, and can be taken over, has no answer.
    pub fn failure(&self, id: &ConsultationId) -> Option<&str> {
        let extractions = self.extractions.iter();
        let mut extractions = extractions.filter(|record| record.consultation == *id);
        let batches = self.open_iteration().map(|iteration| &iteration.batches);
        let mut batches = batches.into_iter().flatten();
        extractions
            .find_map(|record| record.progress.error())
            .or_else(|| {
                let batch = batches.find(|batch| batch.consultation == *id)?;
                batch.progress.error()
            })
    }

    /// Returns the merges whose texts were written, in order.
    pub fn merges(&self) -> impl DoubleEndedIterator<Item = &Integrated> {
        self.iterations.iter().filter_map(IterationRecord::written)
    }

    /// Returns all changes that were written, in order.
    pub fn changes(&self) -> impl Iterator<Item = &ItemChange> {
        self.merges().flat_map(|merge| &merge.changes)
    }

    /// Returns the number that the next change gets.
    pub fn next_change(&self) -> u64 {
        self.changes()
            .map(|change| change.number)
            .max()
            .unwrap_or(0)
            + 1
    }

    /// Returns what the document was after each iteration.
    pub fn measures(&self) -> Vec<DocumentMeasure> {
        self.merges().map(|merge| merge.measure.clone()).collect()
    }

    /// Returns every question that was asked or has changed.
    pub fn known_questions(&self) -> BTreeSet<QuestionKey> {
        let batches = self
            .iterations
            .iter()
            .flat_map(|iteration| &iteration.batches);
        let asked = batches.flat_map(|record| record.batch.keys());
        let changed = self.changes().map(|change| change.item.clone());
        asked.chain(changed).collect()
    }

    /// Returns the last evaluation; `None` before the first iteration is written.
    pub fn evaluation(&self) -> Option<&Evaluation> {
        self.merges().next_back().map(|merge| &merge.evaluation)
    }

    /// Returns whether the last evaluation ends the loop, and would by these criteria as well.
    pub fn ends_by(&self, criteria: &Criteria) -> bool {
        let stops = self.evaluation().is_some_and(Evaluation::stops);
        stops && evaluate(criteria, &self.measures()).stops()
    }

    /// Returns whether questions were asked in the last iteration and no answer could be read, and
    /// the loop was not resumed since.
    pub(super) fn is_unreadable(&self) -> bool {
        self.is_unreadable
    }

    pub fn last_written(&self) -> Option<&TextHash> {
        self.merges().next_back().map(|merge| &merge.after)
    }

    /// Returns the fingerprint of the text that the loop changed first: the one that it began with,
    /// unless a person edited that before the first merge.
    pub fn original(&self) -> &TextHash {
        self.merges()
            .next()
            .map_or(&self.begun.document, |merge| &merge.before)
    }

    /// Returns the cost of everything, as far as the log has it.
    pub fn spend(&self) -> ConsultationSpend {
        let mut spend = ConsultationSpend::default();
        for extraction in &self.extractions {
            spend.add(&extraction.spend);
        }
        for batch in self
            .iterations
            .iter()
            .flat_map(|iteration| &iteration.batches)
        {
            spend.add(&batch.spend);
        }
        spend
    }

    pub fn begun(&self) -> &LoopBegun {
        &self.begun
    }

    pub fn begun_at(&self) -> Timestamp {
        self.begun_at
    }

    pub fn updated_at(&self) -> Timestamp {
        self.updated_at
    }

    /// Returns the criteria since the beginning or the last resume.
    pub fn criteria(&self) -> &Criteria {
        &self.criteria
    }

    pub fn resumes(&self) -> &[Timestamp] {
        &self.resumes
    }

    pub fn phase(&self) -> &LoopPhase {
        &self.phase
    }

    pub fn extractions(&self) -> &[ExtractionRecord] {
        &self.extractions
    }

    pub fn iterations(&self) -> &[IterationRecord] {
        &self.iterations
    }
}
