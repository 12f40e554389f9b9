//! A table of recorded answers, as it was read.

use serde::Serialize;

use crate::stopping::replay::vote::RecordedQuestion;

/// Recorded answers of several models to the same questions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerTable {
    pub columns: AnswerColumns,
    /// In the order in which they are asked.
    pub models: Vec<RecordedModel>,
    /// The number of questions in the file.
    pub rows: u64,
    /// The questions that were put to all models. Each has an entry for every model.
    pub questions: Vec<RecordedQuestion>,
    /// The number of different answers of the models and of the right ones.
    pub different_answers: usize,
}

/// The columns of the file, apart from those of the models.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AnswerColumns {
    /// The column of the right answers.
    pub gold: String,
    /// The column of the ids; `None` if there is none.
    pub id: Option<String>,
    /// The column with the number of answers that each question offers; `None` if there is none.
    pub options: Option<String>,
}

/// A model whose answers were recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedModel {
    pub name: String,
    /// Questions of the file that were not put to it.
    pub not_asked: u64,
}
