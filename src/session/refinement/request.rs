//! The request for the consultations of a loop, as plain data.

use std::num::NonZeroUsize;

use crate::context::sources::SourceText;
use crate::domain::answer::confidence::Confidence;
use crate::refinement::batches::QuestionBatch;
use crate::setup::context::sources::ProjectTerms;
use crate::setup::request::TemplateRequest;

/// The request for a loop's consultations. The settings decide everything that is absent.
#[derive(Clone, Debug)]
pub struct RefinementRequest {
    /// What they have in common, without a ceiling: that of a loop is its batch's.
    pub template: TemplateRequest,
    /// What the panel reads beside the document.
    pub sources: Vec<SourceText>,
    pub project: ProjectTerms,
    /// The name of the document in prompts.
    pub document: String,
    /// The document has no sections: a model extracts its claims and questions first.
    pub is_plain: bool,
}

/// How questions are asked and answers placed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RefinementTerms {
    pub batch_size: NonZeroUsize,
    /// The confidence from which an answer is of high confidence.
    pub high_from: Confidence,
}

/// What a consultation is for.
#[derive(Clone, Debug)]
pub enum LoopJob {
    Extraction,
    Questions(QuestionBatch),
}
