//! Batches: the questions of a document that one consultation works on, with claims to check.

mod divide;

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

use crate::stopping::convergence::QuestionKey;

pub use divide::batches;

/// The size of batches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchLimits {
    /// The most questions of a batch.
    pub questions: NonZeroUsize,
}

/// The questions of one consultation, in the order of their numbers from 1, and the claims that it
/// can contradict, in the order of theirs. Texts are one line.
///
/// The numbers mean nothing without the batch: reading an answer takes the batch that was
/// asked, not one of a later version of the document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuestionBatch {
    pub questions: Vec<(QuestionKey, String)>,
    pub claims: Vec<(QuestionKey, String)>,
}

impl QuestionBatch {
    /// Returns the keys of the questions, in the order of their numbers.
    pub fn keys(&self) -> Vec<QuestionKey> {
        self.questions.iter().map(|(key, _)| key.clone()).collect()
    }
}
