//! Recorded answers: a CSV file with a question in each row, its right answer, and a column for the
//! answers of each model.
//!
//! Answers are equal if they are the same text, but for case and white space around them. An empty
//! cell is a model that was asked and gave no answer; `-` is a question that was not put to the
//! model. A question counts only if it was put to all models.

mod columns;

use std::collections::HashMap;

use csv::{ReaderBuilder, StringRecord, Trim};

use self::columns::Columns;
use crate::benchmark::replay::report::{AnswerTable, RecordedModel};
use crate::stopping::replay::vote::{AnswerKey, RecordedQuestion};

pub use columns::ColumnNames;

/// The mark of a question that was not put to a model.
const NOT_ASKED: &str = "-";

/// Reads recorded answers.
///
/// # Errors
///
/// If the text is not such a table, or lacks a named column, or leaves it open which columns hold
/// answers; lines are counted from 1.
pub fn read(bytes: &[u8], names: &ColumnNames) -> Result<AnswerTable, RecordedAnswersError> {
    let text = text(bytes)?;
    let mut reader = ReaderBuilder::new()
        .trim(Trim::All)
        .from_reader(text.as_bytes());
    let header = reader.headers()?.clone();
    if header.is_empty() {
        return Err(RecordedAnswersError::Empty);
    }
    let rows = reader.records().collect::<Result<Vec<_>, _>>()?;
    if rows.is_empty() {
        return Err(RecordedAnswersError::NoRows);
    }
    let columns = Columns::find(&header, &rows, names)?;
    columns.check_ids(&rows)?;
    let table = table(&columns, &rows)?;
    if table.questions.is_empty() {
        let most = table.models.iter().max_by_key(|model| model.not_asked);
        return Err(RecordedAnswersError::NoCommonQuestion {
            fewest: most.map(|model| model.name.clone()).unwrap_or_default(),
        });
    }
    Ok(table)
}

fn text(bytes: &[u8]) -> Result<&str, RecordedAnswersError> {
    let text = str::from_utf8(bytes).map_err(|error| {
        let before = bytes.iter().take(error.valid_up_to());
        RecordedAnswersError::NotUtf8 {
            line: 1 + before.filter(|byte| **byte == b'\n').count(),
        }
    })?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

fn table(columns: &Columns, rows: &[StringRecord]) -> Result<AnswerTable, RecordedAnswersError> {
    let mut keys = AnswerKeys::default();
    let mut models: Vec<RecordedModel> = columns
        .models
        .iter()
        .map(|column| RecordedModel {
            name: column.name.clone(),
            not_asked: 0,
        })
        .collect();
    let mut questions = Vec::new();
    for row in rows {
        let cell = |at: usize| row.get(at).unwrap_or_default();
        let gold = keys
            .of(cell(columns.gold.at))
            .ok_or_else(|| RecordedAnswersError::NoGold { line: line(row) })?;
        let mut answers = Vec::with_capacity(models.len());
        for (model, column) in models.iter_mut().zip(&columns.models) {
            match cell(column.at) {
                NOT_ASKED => model.not_asked += 1,
                answer => answers.push(keys.of(answer)),
            }
        }
        if answers.len() == models.len() {
            let options = columns.options.as_ref();
            questions.push(RecordedQuestion {
                gold,
                answers,
                options: options.and_then(|column| cell(column.at).parse().ok()),
            });
        }
    }
    Ok(AnswerTable {
        columns: columns.names(),
        models,
        rows: rows.len() as u64,
        questions,
        different_answers: keys.by_answer.len(),
    })
}

/// Numbers different answers.
#[derive(Default)]
struct AnswerKeys<'a> {
    /// By the answer as written, so that a common one is folded once.
    by_text: HashMap<&'a str, AnswerKey>,
    by_answer: HashMap<String, AnswerKey>,
}

impl<'a> AnswerKeys<'a> {
    /// Returns the number of an answer; `None` for an empty one.
    fn of(&mut self, text: &'a str) -> Option<AnswerKey> {
        if text.is_empty() {
            return None;
        }
        if let Some(key) = self.by_text.get(text) {
            return Some(*key);
        }
        let next = AnswerKey(u32::try_from(self.by_answer.len()).unwrap_or(u32::MAX));
        let key = *self.by_answer.entry(folded(text)).or_insert(next);
        self.by_text.insert(text, key);
        Some(key)
    }
}

/// Returns what equal answers have in common.
fn folded(answer: &str) -> String {
    answer.to_lowercase()
}

/// Returns the line on which a row begins.
fn line(row: &StringRecord) -> u64 {
    row.position().map_or(0, csv::Position::line)
}

/// The file cannot be replayed. Lines are counted from 1; the header is on the first.
#[derive(Debug, thiserror::Error)]
pub enum RecordedAnswersError {
    #[error("line {line} is not UTF-8 text")]
    NotUtf8 { line: usize },
    #[error("the file is empty")]
    Empty,
    #[error("the file has a header and no rows")]
    NoRows,
    #[error("line {line} has {cells} cells, but the header has {columns}")]
    RaggedRow { line: u64, cells: u64, columns: u64 },
    /// `suggestion` is the rest of the sentence, or empty.
    #[error("there is no column `{column}`{suggestion}")]
    NoColumn { column: String, suggestion: String },
    #[error("two columns are named `{column}`")]
    RepeatedColumn { column: String },
    #[error("there is no column `gold`, `answer`, `expected` or `target`")]
    NoGoldColumn,
    #[error("line {line} has no right answer")]
    NoGold { line: u64 },
    #[error("line {line} has no id")]
    NoId { line: u64 },
    #[error("lines {first} and {second} have the same id, `{id}`")]
    RepeatedId { id: String, first: u64, second: u64 },
    #[error("the column `{column}` holds no model's answers")]
    NotAModel { column: String },
    #[error("the model `{model}` is named twice")]
    RepeatedModel { model: String },
    #[error("{}", too_few(models))]
    TooFewModels { models: Vec<String> },
    #[error("the answers of {count} models; at most {most} can be replayed")]
    TooManyModels { count: usize, most: usize },
    #[error("it is unclear whether `{}` hold{} answers", columns.join("`, `"), plural(columns))]
    UnclearColumns { columns: Vec<String> },
    /// `fewest` was asked the fewest questions.
    #[error("no question was put to all models; `{fewest}` was asked the fewest")]
    NoCommonQuestion { fewest: String },
    #[error("the file is not CSV")]
    NotCsv(#[source] csv::Error),
}

impl From<csv::Error> for RecordedAnswersError {
    fn from(error: csv::Error) -> Self {
        match error.kind() {
            csv::ErrorKind::UnequalLengths {
                pos,
                expected_len,
                len,
            } => Self::RaggedRow {
                line: pos.as_ref().map_or(0, csv::Position::line),
                cells: *len,
                columns: *expected_len,
            },
            _ => Self::NotCsv(error),
        }
    }
}

fn too_few(models: &[String]) -> String {
    match models {
        [model, ..] => format!("only `{model}` has answers; a panel needs two models"),
        [] => "no column has answers of a model".to_owned(),
    }
}

fn plural(columns: &[String]) -> &'static str {
    if columns.len() == 1 { "s" } else { "" }
}

#[cfg(test)]
mod tests;
