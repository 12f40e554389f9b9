//! What a loop is expected to cost: its next iteration, and all iterations that are left. Later
//! iterations are taken to ask as much as the document asks now; most ask less.

use std::num::NonZeroUsize;

use crate::consultation::policy::estimate::Estimate;
use crate::error::Error;
use crate::refinement::batches::{QuestionBatch, batches};
use crate::refinement::document::SpecDocument;
use crate::session::batch::estimate::BatchEstimate;
use crate::setup::plan::template::PreparedPlan;
use crate::stopping::convergence::QuestionKey;

use super::templates::RefinementTemplates;

/// Questions of a plain document, as long as no model has extracted them.
const ASSUMED_QUESTIONS: usize = 6;

/// The words of such a question: of usual length.
const ASSUMED_QUESTION: &str = "Which of the possible ways is right here, what speaks for it, and \
                                what follows from it for the other parts of the document?";

/// What is left of a loop.
#[derive(Debug)]
pub struct LoopAhead<'a> {
    pub document: &'a SpecDocument,
    /// What the next iteration still has to ask.
    pub next: Vec<QuestionBatch>,
    pub batch_size: NonZeroUsize,
    /// The iterations that are left, the next one among them.
    pub iterations: u64,
}

/// The estimate of a loop.
#[derive(Debug, Default)]
pub struct LoopEstimate {
    /// The consultations of the next iteration.
    pub consultations: u64,
    /// The iterations that are left.
    pub iterations: u64,
    /// The next iteration, with the extraction from a plain document.
    pub next: BatchEstimate,
    /// All that is left, with what is masked in one consultation: all get the same document.
    pub total: BatchEstimate,
    /// The number of questions that a plain document is taken to have; `None` if it is known.
    pub assumed_questions: Option<u64>,
    /// What models do not get of a long document.
    pub notice: Option<String>,
}

impl LoopEstimate {
    /// Estimates what is left of a loop.
    ///
    /// # Errors
    ///
    /// When the document does not fit the models, or a prompt cannot be rendered.
    pub fn of(ahead: &LoopAhead<'_>, templates: &RefinementTemplates) -> Result<Self, Error> {
        let document = ahead.document;
        let mut estimate = Self {
            iterations: ahead.iterations,
            notice: templates.document_source(document).notice,
            ..Self::default()
        };
        let mut extraction = None;
        let (next, later) = if document.has_sections() {
            (ahead.next.clone(), batches(document, ahead.batch_size))
        } else {
            estimate.assumed_questions = Some(ASSUMED_QUESTIONS as u64);
            let plan = estimate.plan(templates.plan_extraction(document)?)?;
            estimate.next.add(&plan);
            estimate.total.add(&plan);
            extraction = Some(plan);
            let assumed = assumed_batches(ahead.batch_size);
            (assumed.clone(), assumed)
        };
        estimate.consultations = next.len() as u64;
        // In a new loop, all iterations are taken to ask the same.
        let is_same = next == later;
        let times = if is_same { ahead.iterations.max(1) } else { 1 };
        for batch in &next {
            let plan = estimate.plan(templates.plan_batch(document, batch)?)?;
            estimate.next.add(&plan);
            estimate.total.note_item(extraction.iter().chain([&plan]));
            for _ in 0..times {
                estimate.total.add(&plan);
            }
        }
        if ahead.iterations > 1 && !is_same {
            for batch in &later {
                let plan = estimate.plan(templates.plan_batch(document, batch)?)?;
                for _ in 1..ahead.iterations {
                    estimate.total.add(&plan);
                }
            }
        }
        Ok(estimate)
    }

    fn plan(&mut self, prepared: PreparedPlan) -> Result<Estimate, Error> {
        let plan = prepared.plan.estimate()?;
        if self.total.calls == 0 {
            self.total.masked = prepared.plan.scrubbing.map(|report| *report);
            self.total.findings = prepared.findings;
        }
        Ok(plan)
    }
}

fn assumed_batches(batch_size: NonZeroUsize) -> Vec<QuestionBatch> {
    let question = (
        QuestionKey::of(ASSUMED_QUESTION),
        ASSUMED_QUESTION.to_owned(),
    );
    let questions = vec![question; ASSUMED_QUESTIONS];
    questions
        .chunks(batch_size.get())
        .map(|questions| QuestionBatch {
            questions: questions.to_vec(),
            claims: Vec::new(),
        })
        .collect()
}
