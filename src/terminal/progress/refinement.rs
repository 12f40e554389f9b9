//! The progress of a refinement on standard error.

use crate::domain::ids::ConsultationId;
use crate::domain::money::Cost;
use crate::refinement::event::{BatchFinished, Extraction, Integrated};
use crate::stopping::convergence::QuestionKey;
use crate::terminal::output::format::count;
use crate::terminal::output::printer::Printer;

/// Shows one loop.
#[derive(Debug)]
pub struct RefinementProgress {
    printer: Printer,
}

/// An iteration before its first consultation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IterationPlan {
    /// From 1.
    pub iteration: u64,
    pub max_iterations: u64,
    /// Questions that are asked in it, by this process or an earlier one.
    pub questions: u64,
    /// The consultations that ask them, finished ones included.
    pub consultations: u64,
}

impl RefinementProgress {
    pub fn new(printer: &Printer) -> Self {
        Self {
            printer: printer.clone(),
        }
    }

    /// A model extracts claims and questions from a plain document.
    pub fn extraction_started(&self, _consultation: &ConsultationId) {
        self.printer
            .note("Reading the claims and questions of the document…");
    }

    pub fn extraction_finished(&self, extraction: &Extraction) {
        if extraction.error.is_none() {
            let claims = extraction.high.len() + extraction.medium.len();
            self.printer.note(&format!(
                "{} and {} extracted",
                count(claims, "claim"),
                count(extraction.open.len(), "question")
            ));
        }
    }

    pub fn iteration_started(&self, plan: IterationPlan) {
        let IterationPlan {
            iteration,
            max_iterations,
            ..
        } = plan;
        self.printer
            .note(&format!("Iteration {iteration} of {max_iterations}"));
    }

    /// A consultation begins, or is resumed.
    pub fn batch_started(&self, consultation: &ConsultationId, questions: &[QuestionKey]) {
        self.printer.detail(&format!(
            "{consultation}: {}",
            count(questions.len(), "question")
        ));
    }

    pub fn batch_finished(&self, finished: &BatchFinished) {
        if let Some(error) = &finished.error {
            self.printer
                .note(&format!("{}: no answer: {error}", finished.consultation));
        }
    }

    pub fn integrated(&self, integrated: &Integrated) {
        self.printer
            .note(&count(integrated.changes.len(), "change"));
    }

    /// Shows the cost of the loop so far.
    pub fn spent(&self, _cost: Cost) {}

    /// Nothing more starts.
    pub fn ending(&self) {}
}
