//! Recorded answers: a CSV file with a question in each row, its right answer, and a column for the
//! answers of each model.
//!
//! Answers are equal if they are the same text, but for case and white space around them. An empty
//! cell is a model that was asked and gave no answer; `-` is a question that was not put to the
//! model. A question counts only if it was put to all models.

mod columns;

use std::collections::HashMap;

use csv::{ReaderBuilder, StringRecord, Trim};

use self::columns::Layout;
use super::raw_case::text_of;
use crate::benchmark::replay::report::{AnswerTable, RecordedModel};
use crate::stopping::replay::vote::{AnswerId, RecordedQuestion};
use crate::text::node::table::columns as table_columns;

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
    let text = text_of(bytes).map_err(|line| RecordedAnswersError::NotUtf8 { line })?;
    let mut reader = ReaderBuilder::new()
        .trim(Trim::All)
        .from_reader(text.as_bytes());
    let header = reader.headers()?.clone();
    let header =
        table_columns(&header).map_err(|error| RecordedAnswersError::Table(error.problem))?;
    if header.is_empty() {
        return Err(RecordedAnswersError::Table("the file is empty".to_owned()));
    }
    let rows = reader.records().collect::<Result<Vec<_>, _>>()?;
    if rows.is_empty() {
        let problem = "the file has a header and no rows".to_owned();
        return Err(RecordedAnswersError::Table(problem));
    }
    let columns = Layout::find(&header, &rows, names)?;
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

fn table(columns: &Layout, rows: &[StringRecord]) -> Result<AnswerTable, RecordedAnswersError> {
    let mut keys = AnswerIds::default();
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
        let gold = keys.of(cell(columns.gold.at)).ok_or_else(|| {
            RecordedAnswersError::Table(format!("line {} has no right answer", line(row)))
        })?;
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
        different_answers: keys.0.len(),
    })
}

/// Numbers different answers.
#[derive(Default)]
struct AnswerIds(HashMap<String, AnswerId>);

impl AnswerIds {
    /// `None` for an empty one.
    fn of(&mut self, text: &str) -> Option<AnswerId> {
        let next = AnswerId(u32::try_from(self.0.len()).unwrap_or(u32::MAX));
        (!text.is_empty()).then(|| *self.0.entry(folded(text)).or_insert(next))
    }
}

fn folded(answer: &str) -> String {
    answer.to_lowercase()
}

fn line(row: &StringRecord) -> u64 {
    row.position().map_or(0, csv::Position::line)
}

/// The file cannot be replayed. Lines are counted from 1; the header is on the first.
#[derive(Debug, thiserror::Error)]
pub enum RecordedAnswersError {
    #[error("line {line} is not UTF-8 text")]
    NotUtf8 { line: usize },
    #[error("there is no column `gold`, `answer`, `expected` or `target`")]
    NoGoldColumn,
    #[error("lines {first} and {second} have the same id, `{id}`")]
    RepeatedId { id: String, first: u64, second: u64 },
    /// The columns with answers are too few, too many or unclear.
    #[error("{0}")]
    Models(String),
    /// `fewest` was asked the fewest questions.
    #[error("no question was put to all models; `{fewest}` was asked the fewest")]
    NoCommonQuestion { fewest: String },
    #[error("{0}")]
    Table(String),
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
            } => {
                let line = pos.as_ref().map_or(0, csv::Position::line);
                Self::Table(format!(
                    "line {line} has {len} cells, but the header has {expected_len}"
                ))
            }
            _ => Self::NotCsv(error),
        }
    }
}

#[cfg(test)]
mod tests;
