//! What a loop does next: derived from its log and the document as it is now.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;

use crate::domain::ids::ConsultationId;
use crate::domain::steps;
use crate::refinement::batches::{QuestionBatch, batches};
use crate::refinement::document::SpecDocument;
use crate::refinement::event::{Integrated, StopCause, TextHash};
use crate::refinement::front_matter::FrontMatterError;
use crate::stopping::convergence::QuestionKey;

use super::consultation::{BatchRecord, ConsultationStatus, has_in_flight};
use super::iteration::IterationRecord;
use super::refinement_loop::{LoopPhase, RefinementLoop};

/// The document as it is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentNow {
    /// The text that an iteration works on: the source's until an iteration of the loop was
    /// written, then the output's.
    pub read: TextHash,
    /// The file that is written; `None` if there is none. For a change in place it equals `read`.
    pub output: Option<TextHash>,
    /// Whether the text has one of the sections, or an extraction has made them.
    pub has_sections: bool,
    /// The questions that the panel can be asked, in their order.
    pub batches: Vec<QuestionBatch>,
}

impl DocumentNow {
    /// Returns what a loop has to know of the document that it reads now. `output` is the
    /// fingerprint of the file that is written.
    ///
    /// # Errors
    ///
    /// When the text with the sections that were extracted cannot be read.
    pub fn of(
        refinement: &RefinementLoop,
        document: &SpecDocument,
        output: Option<TextHash>,
        batch_size: NonZeroUsize,
    ) -> Result<Self, FrontMatterError> {
        let prepared = refinement.prepared(document)?;
        let working = document.with_text(&prepared.text)?;
        Ok(Self {
            read: TextHash::of(document.text()),
            output,
            has_sections: working.has_sections(),
            batches: batches(&working, batch_size),
        })
    }
}

/// What a loop does next. Each step says which events record it.
#[derive(Clone, Debug, PartialEq)]
pub enum NextStep<'s> {
    /// Extract claims and questions from the document: `ExtractionStarted`, `ExtractionFinished`.
    /// An earlier process may have left a consultation for it.
    Extract { left_over: Option<ConsultationId> },
    /// Begin this iteration on the document as it is now: `IterationStarted`.
    StartIteration { iteration: u64 },
    /// Take over what an earlier process left, and ask the questions: `BatchStarted` for each
    /// batch, later `BatchFinished`. As many as may be in flight; the others are due again.
    Ask {
        iteration: u64,
        left_over: Vec<&'s BatchRecord>,
        batches: Vec<QuestionBatch>,
    },
    /// Wait for a consultation in flight.
    Wait,
    /// Merge the findings: `Integrated`.
    Integrate { iteration: u64 },
    /// Write the merged text to its file: `DocumentWritten`. The text follows from the findings;
    /// if another version of the program makes another one, `Integrated` comes again.
    Write { merge: &'s Integrated },
    /// The merged text is in its file, and the log lacks it: `DocumentWritten`.
    RecordWritten { document: TextHash },
    /// Stop; no consultation has an answer: `Stopped`.
    Stop { cause: StopCause, message: String },
    /// The last evaluation decided: `Ended`.
    End,
    /// The loop has ended or is stopped: nothing, before `Begun` or `Resumed`.
    Rest,
}

impl RefinementLoop {
    pub fn next_step(&self, now: &DocumentNow) -> NextStep<'_> {
        match &self.phase {
            LoopPhase::Stopped { .. } | LoopPhase::Ended => return NextStep::Rest,
            LoopPhase::Open => {}
        }
        let Some(iteration) = self.open_iteration() else {
            return self.before_iteration(now);
        };
        if let Some(merge) = iteration.decided() {
            return after_merge(merge, now);
        }
        if iteration.document == now.read {
            during(iteration, now)
        } else if has_in_flight(&iteration.batches) {
            NextStep::Wait
        } else {
            self.before_iteration(now)
        }
    }

    fn before_iteration(&self, now: &DocumentNow) -> NextStep<'_> {
        let has_written = self.last_written().is_some();
        let decided = self.open_iteration().is_none();
        if decided && self.ends_by(&self.criteria) {
            return NextStep::End;
        }
        if decided && self.is_unreadable {
            // Another iteration would cost as much, and likely be as useless.
            return NextStep::Stop {
                cause: StopCause::NoAnswer,
                message: format!(
                    "no answer of iteration {} could be read: none has the form that was asked for",
                    self.next_iteration() - 1
                ),
            };
        }
        if !now.has_sections && !has_written {
            let mut newest = self.extractions.iter().rev();
            let newest = newest.find(|record| record.about == now.read);
            match newest.map(|record| (record.status, record)) {
                None | Some((ConsultationStatus::Repeated, _)) => {
                    return NextStep::Extract { left_over: None };
                }
                Some((ConsultationStatus::CutOff, record)) => {
                    return NextStep::Extract {
                        left_over: Some(record.consultation.clone()),
                    };
                }
                Some((ConsultationStatus::InFlight, _)) => return NextStep::Wait,
                Some((ConsultationStatus::NoAnswer, record)) => {
                    return NextStep::Stop {
                        cause: StopCause::NoAnswer,
                        message: record.error.clone().unwrap_or_default(),
                    };
                }
                // It found nothing.
                Some((ConsultationStatus::Answered, _)) => {}
            }
        }
        NextStep::StartIteration {
            iteration: self.next_iteration(),
        }
    }
}

fn after_merge<'s>(merge: &'s Integrated, now: &DocumentNow) -> NextStep<'s> {
    if now.output.as_ref() == Some(&merge.after) {
        NextStep::RecordWritten {
            document: merge.after.clone(),
        }
    } else if now.read == merge.before {
        NextStep::Write { merge }
    } else {
        // A person has changed the document: the findings are merged into that text.
        NextStep::StartIteration {
            iteration: merge.iteration,
        }
    }
}

fn during<'s>(iteration: &'s IterationRecord, now: &DocumentNow) -> NextStep<'s> {
    let questions: BTreeSet<QuestionKey> =
        now.batches.iter().flat_map(QuestionBatch::keys).collect();
    let left_over: Vec<&BatchRecord> = iteration
        .left_over()
        .filter(|record| questions.iter().any(|question| record.asks(question)))
        .collect();
    let covered = covered(iteration);
    let batches: Vec<QuestionBatch> = now
        .batches
        .iter()
        .filter_map(|batch| uncovered(batch, &covered))
        .collect();
    if !left_over.is_empty() || !batches.is_empty() {
        return NextStep::Ask {
            iteration: iteration.number,
            left_over,
            batches,
        };
    }
    if has_in_flight(&iteration.batches) {
        return NextStep::Wait;
    }
    match no_answer(iteration) {
        Some(message) => NextStep::Stop {
            cause: StopCause::NoAnswer,
            message,
        },
        None => NextStep::Integrate {
            iteration: iteration.number,
        },
    }
}

fn covered(iteration: &IterationRecord) -> BTreeSet<&QuestionKey> {
    let records = iteration.batches.iter();
    let asked = records.filter(|record| record.status != ConsultationStatus::Repeated);
    let questions = asked.flat_map(|record| &record.about.questions);
    questions.map(|(key, _)| key).collect()
}

/// `None` if it has no others.
fn uncovered(batch: &QuestionBatch, covered: &BTreeSet<&QuestionKey>) -> Option<QuestionBatch> {
    steps::count(batch.questions.len());
    let rest = batch.questions.iter();
    let rest = rest.filter(|(key, _)| !covered.contains(key)).cloned();
    let questions: Vec<_> = rest.collect();
    (!questions.is_empty()).then(|| QuestionBatch {
        questions,
        claims: batch.claims.clone(),
    })
}

/// `None` if one has, or none was asked.
fn no_answer(iteration: &IterationRecord) -> Option<String> {
    if iteration.findings().next().is_some() {
        return None;
    }
    let mut newest = iteration.batches.iter().rev();
    let failed = newest.find(|batch| batch.status == ConsultationStatus::NoAnswer)?;
    failed.error.clone()
}
