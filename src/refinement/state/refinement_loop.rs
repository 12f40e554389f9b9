//! One loop over a document, from its beginning to its end.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::domain::ids::ConsultationId;
use crate::domain::record::stored_record::spend::ConsultationSpend;
use crate::domain::time::Timestamp;
use crate::refinement::change::ItemChange;
use crate::refinement::event::{
    Extraction, Integrated, LoopBegun, RefinementEvent, RefinementEventKind, StopCause, TextHash,
};
use crate::refinement::finding::BatchFindings;
use crate::stopping::convergence::{Criteria, DocumentMeasure, QuestionKey, evaluate};
use crate::stopping::evaluation::Evaluation;

use super::consultation::{ConsultationStatus, ExtractionRecord, end, has_in_flight, start};
use super::iteration::IterationRecord;
use super::{Applied, RefinementStateError, refused};

/// A loop.
#[derive(Clone, Debug, PartialEq)]
pub struct RefinementLoop {
    pub begun: LoopBegun,
    pub begun_at: Timestamp,
    pub updated_at: Timestamp,
    /// Those of the process that works, or worked last.
    pub criteria: Criteria,
    pub resumes: Vec<Timestamp>,
    pub phase: LoopPhase,
    /// Whether the last iteration has no readable answer, and the loop was not resumed since.
    pub(super) is_unreadable: bool,
    pub extractions: Vec<ExtractionRecord>,
    pub iterations: Vec<IterationRecord>,
}

/// What a loop does, as far as its log knows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "status", content = "stop", rename_all = "snake_case")]
pub enum LoopPhase {
    /// It works, or its process was killed.
    Open,
    /// It can be resumed.
    Stopped { cause: StopCause, message: String },
    /// Its last evaluation decided it. It can be resumed with criteria that would not.
    Ended,
}

const IN_FLIGHT: &str = "an iteration begins or is merged while a consultation is in flight";

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

    pub(super) fn apply(&mut self, event: &RefinementEvent) -> Applied {
        match (&self.phase, &event.kind) {
            (LoopPhase::Ended, RefinementEventKind::Resumed { criteria })
                if !self.ends_by(criteria) => {}
            (LoopPhase::Ended, _) => return refused("a loop continues after its end"),
            (LoopPhase::Stopped { .. }, RefinementEventKind::Resumed { .. })
            | (LoopPhase::Open, _) => {}
            (LoopPhase::Stopped { .. }, _) => {
                return refused("a loop continues after a stop and is not resumed");
            }
        }
        match &event.kind {
            RefinementEventKind::Begun(_) => {
                return refused("its first event is not the beginning of a loop");
            }
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
                let number = self.next_iteration();
                self.iteration_at_work(number)?.finish(finished)?;
            }
            RefinementEventKind::ConsultationCutOff {
                consultation,
                spend,
            } => self.cut_off(consultation, spend)?,
            RefinementEventKind::Integrated(merge) => self.decide_merge(merge)?,
            RefinementEventKind::DocumentWritten { document } => self.write(document)?,
            RefinementEventKind::Stopped { cause, message } => self.stop(*cause, message),
            RefinementEventKind::Ended => {
                if self.iterations.is_empty() || self.open_iteration().is_some() {
                    return refused("a loop ends before an iteration is merged and written");
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
        for status in self.statuses_mut() {
            if matches!(
                status,
                ConsultationStatus::InFlight | ConsultationStatus::NoAnswer
            ) {
                *status = ConsultationStatus::CutOff;
            }
        }
    }

    fn stop(&mut self, cause: StopCause, message: &str) {
        for status in self.statuses_mut() {
            if *status == ConsultationStatus::InFlight {
                *status = ConsultationStatus::CutOff;
            }
        }
        // Its findings wait for the text of the person.
        if cause == StopCause::DocumentChanged
            && let Some(iteration) = self.open_iteration_mut()
        {
            iteration.merge = None;
        }
        self.phase = LoopPhase::Stopped {
            cause,
            message: message.to_owned(),
        };
    }

    fn start_extraction(&mut self, id: &ConsultationId, document: &TextHash) -> Applied {
        let is_other = |record: &ExtractionRecord| record.consultation != *id;
        if self.extractions.iter().all(is_other) && has_in_flight(&self.extractions) {
            return refused(IN_FLIGHT);
        }
        start(&mut self.extractions, id, document.clone(), |_| true)
    }

    fn finish_extraction(&mut self, extraction: &Extraction) -> Applied {
        let error = extraction.error.clone();
        let answer = error.map_or_else(|| Ok(extraction.clone()), Err);
        let id = &extraction.consultation;
        end(&mut self.extractions, id, extraction.spend, Some(answer))
    }

    fn start_iteration(&mut self, number: u64, document: &TextHash, at: Timestamp) -> Applied {
        self.check_number(number)?;
        match self.open_iteration_mut() {
            Some(iteration) if has_in_flight(&iteration.batches) => {
                return refused(IN_FLIGHT);
            }
            Some(iteration) => {
                iteration.document = document.clone();
                iteration.merge = None;
            }
            None => self.iterations.push(IterationRecord {
                number,
                started_at: at,
                document: document.clone(),
                batches: Vec::new(),
                merge: None,
                is_written: false,
            }),
        }
        Ok(())
    }

    fn cut_off(&mut self, id: &ConsultationId, spend: &ConsultationSpend) -> Applied {
        let ended = end(&mut self.extractions, id, *spend, None);
        match self.open_iteration_mut() {
            Some(iteration) if ended.is_err() => end(&mut iteration.batches, id, *spend, None),
            Some(_) | None => ended,
        }
    }

    fn decide_merge(&mut self, merge: &Integrated) -> Applied {
        let iteration = self.iteration_at_work(merge.iteration)?;
        if has_in_flight(&iteration.batches) {
            return refused(IN_FLIGHT);
        }
        if iteration.document != merge.before {
            return refused("findings are merged into another text than the iteration's");
        }
        iteration.merge = Some(Box::new(merge.clone()));
        Ok(())
    }

    fn write(&mut self, document: &TextHash) -> Applied {
        let open = self.open_iteration_mut();
        let is_decided = |merge: &Integrated| merge.after == *document;
        let Some(iteration) = open.filter(|open| open.decided().is_some_and(is_decided)) else {
            return refused("a text is written that no merge made");
        };
        iteration.is_written = true;
        self.is_unreadable = iteration.is_unreadable();
        Ok(())
    }

    fn check_number(&self, number: u64) -> Applied {
        match self.next_iteration() {
            expected if expected == number => Ok(()),
            expected => refused(format!(
                "iteration {number} begins, but iteration {expected} is due"
            )),
        }
    }

    fn iteration_at_work(
        &mut self,
        number: u64,
    ) -> Result<&mut IterationRecord, RefinementStateError> {
        if self.open_iteration().is_some() {
            self.check_number(number)?;
        }
        match self.open_iteration_mut() {
            Some(iteration) => Ok(iteration),
            None => refused("no iteration has begun"),
        }
    }

    fn statuses_mut(&mut self) -> impl Iterator<Item = &mut ConsultationStatus> {
        let open = self.iterations.last_mut().filter(|last| !last.is_written);
        let batches = open.into_iter().flat_map(|open| &mut open.batches);
        let extractions = self.extractions.iter_mut().map(|record| &mut record.status);
        extractions.chain(batches.map(|record| &mut record.status))
    }

    fn open_iteration_mut(&mut self) -> Option<&mut IterationRecord> {
        let last = self.iterations.last_mut();
        last.filter(|iteration| iteration.written().is_none())
    }

    pub fn open_iteration(&self) -> Option<&IterationRecord> {
        let last = self.iterations.last();
        last.filter(|iteration| iteration.written().is_none())
    }

    /// Returns the number of the iteration that is not over, or of the one to come.
    pub fn next_iteration(&self) -> u64 {
        self.merges().count() as u64 + 1
    }

    pub fn pending_findings(&self) -> Vec<BatchFindings> {
        let iteration = self.open_iteration();
        let findings = iteration.into_iter().flat_map(IterationRecord::findings);
        findings.cloned().collect()
    }

    /// Once the panel was asked, it is the newest one from any text: another extraction would have
    /// other words, and the answers no questions.
    pub fn extraction(&self, document: &TextHash) -> Option<&Extraction> {
        let mut newest = self.extractions.iter().rev();
        let mut of_text = newest.clone().filter(|record| record.about == *document);
        let of_text = of_text.find_map(|record| record.answer.as_ref());
        let open = self.open_iteration();
        let is_asked = open.is_some_and(|iteration| !iteration.batches.is_empty());
        of_text.or_else(|| {
            let any = newest.find_map(|record| record.answer.as_ref());
            any.filter(|_| is_asked)
        })
    }

    /// Returns the consultations that were in flight when their process ended, or were cut off.
    pub fn left_over(&self) -> Vec<&ConsultationId> {
        let extractions = self.extractions.iter();
        let extractions = extractions
            .filter(|record| record.status == ConsultationStatus::CutOff)
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
        let extractions = extractions.map(|record| (&record.consultation, record.error.as_deref()));
        let batches = self.open_iteration().map(|iteration| &iteration.batches);
        let batches = batches.into_iter().flatten();
        let batches = batches.map(|record| (&record.consultation, record.error.as_deref()));
        let mut failures = extractions.chain(batches);
        failures.find_map(|(other, error)| error.filter(|_| other == id))
    }

    /// Returns the merges whose texts were written, in order.
    pub fn merges(&self) -> impl DoubleEndedIterator<Item = &Integrated> {
        self.iterations.iter().filter_map(IterationRecord::written)
    }

    /// Returns all changes that were written, in order.
    pub fn changes(&self) -> impl Iterator<Item = &ItemChange> {
        self.merges().flat_map(|merge| &merge.changes)
    }

    pub fn next_change(&self) -> u64 {
        self.changes()
            .map(|change| change.number)
            .max()
            .unwrap_or(0)
            + 1
    }

    pub fn measures(&self) -> Vec<DocumentMeasure> {
        self.merges().map(|merge| merge.measure.clone()).collect()
    }

    /// Returns every question that was asked or has changed.
    pub fn known_questions(&self) -> BTreeSet<QuestionKey> {
        let batches = self
            .iterations
            .iter()
            .flat_map(|iteration| &iteration.batches);
        let asked = batches.flat_map(|record| record.about.keys());
        let changed = self.changes().map(|change| change.item.clone());
        asked.chain(changed).collect()
    }

    /// `None` before the first iteration is written.
    pub fn evaluation(&self) -> Option<&Evaluation> {
        self.merges().next_back().map(|merge| &merge.evaluation)
    }

    /// Returns whether the last evaluation ends the loop, and would by these criteria as well.
    pub fn ends_by(&self, criteria: &Criteria) -> bool {
        let stops = self.evaluation().is_some_and(Evaluation::stops);
        stops && evaluate(criteria, &self.measures()).stops()
    }

    pub fn last_written(&self) -> Option<&TextHash> {
        self.merges().next_back().map(|merge| &merge.after)
    }

    /// The one that it began with, unless a person edited that before the first merge.
    pub fn original(&self) -> &TextHash {
        self.merges()
            .next()
            .map_or(&self.begun.document, |merge| &merge.before)
    }

    /// As far as the log has it.
    pub fn spend(&self) -> ConsultationSpend {
        let extractions = self.extractions.iter().map(|record| &record.spend);
        let iterations = self.iterations.iter();
        let batches = iterations.flat_map(|iteration| &iteration.batches);
        let mut spend = ConsultationSpend::default();
        for part in extractions.chain(batches.map(|record| &record.spend)) {
            spend.add(part);
        }
        spend
    }
}
