//! What a face shows of a loop under way.

use std::fmt::Debug;

use crate::domain::cost::money::Cost;
use crate::domain::ids::ConsultationId;
use crate::refinement::event::{BatchFinished, Extraction, Integrated};
use crate::session::batch::Watch;
use crate::stopping::convergence::QuestionKey;

/// Shows the progress of one loop.
pub trait LoopProgress: Debug {
    /// A model extracts claims and questions from a plain document.
    fn extraction_started(&self, consultation: &ConsultationId);

    fn extraction_finished(&self, extraction: &Extraction);

    fn iteration_started(&self, plan: IterationPlan);

    /// A consultation begins, or is resumed.
    fn batch_started(&self, consultation: &ConsultationId, questions: &[QuestionKey]);

    /// Follows the events of a consultation that has begun.
    fn watch(&self, consultation: &ConsultationId) -> Watch;

    fn batch_finished(&self, finished: &BatchFinished);

    /// The document of an iteration is written.
    fn integrated(&self, integrated: &Integrated);

    /// The cost of the loop so far.
    fn spent(&self, cost: Cost);

    /// Nothing more starts.
    fn ending(&self);
}

/// An iteration before its first consultation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IterationPlan {
    /// From 1.
    pub iteration: u64,
    pub max_iterations: u64,
    /// Questions that are asked in it, by this process or an earlier one.
    pub questions: u64,
    /// The consultations that ask them, finished ones included.
    pub consultations: u64,
}
