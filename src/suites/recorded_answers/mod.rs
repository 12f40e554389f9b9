//! Recorded answers: a CSV file with a question in each row, its right answer, and a column for the
//! answers of each model.
//!
//! Answers are equal if they are the same text, but for case and white space around them. An empty
//! cell is a model that was asked and gave no answer; `-` is a question that was not put to the
//! model. A question counts only if it was put to all models.

mod columns;

use std::collections::HashMap;

use csv::{ErrorKind, Position, ReaderBuilder, StringRecord, Trim};

use self::columns::{Cells, Layout};
use super::case_file::text_of;
use crate::benchmark::replay::report::{AnswerTable, RecordedModel};
use crate::stopping::replay::vote::{AnswerId, RecordedQuestion};
use crate::text::node::table;

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
    let text = text_of(bytes).map_err(|line| {
        let problem = format!("line {line} is not UTF-8 text");
        hinted(problem, "save the table as CSV in UTF-8")
    })?;
    let mut reader = ReaderBuilder::new()
        .trim(Trim::All)
        .from_reader(text.as_bytes());
    let header = table::columns(reader.headers().map_err(|error| not_a_table(&error))?);
    let header = header.map_err(|error| error.problem)?;
    if header.is_empty() {
        return Err("the file is empty".to_owned().into());
    }
    let rows: Result<Vec<StringRecord>, _> = reader.records().collect();
    let rows = rows.map_err(|error| not_a_table(&error))?;
    if rows.is_empty() {
        return Err("the file has a header and no rows".to_owned().into());
    }
    let cells = Cells { header, rows };
    let table = answers(&cells, &Layout::find(&cells, names)?)?;
    if table.questions.is_empty() {
        let fewest = table.models.iter().max_by_key(|model| model.not_asked);
        let fewest = fewest.map_or("", |model| &model.name);
        return Err(hinted(
            format!("no question was put to all models; `{fewest}` was asked the fewest"),
            "choose models that were asked the same questions with `--models COLUMN,COLUMN`",
        ));
    }
    Ok(table)
}

fn answers(cells: &Cells, columns: &Layout) -> Result<AnswerTable, RecordedAnswersError> {
    let mut keys = AnswerIds::default();
    let models = columns.models.iter().map(|at| RecordedModel {
        name: cells.name(*at),
        not_asked: 0,
    });
    let mut models: Vec<RecordedModel> = models.collect();
    let mut questions = Vec::new();
    for row in &cells.rows {
        let cell = |at: usize| row.get(at).unwrap_or_default();
        let gold = keys.of(cell(columns.gold));
        let gold = gold.ok_or_else(|| format!("line {} has no right answer", line(row)))?;
        let mut answers = Vec::with_capacity(models.len());
        for (model, at) in models.iter_mut().zip(&columns.models) {
            match cell(*at) {
                NOT_ASKED => model.not_asked += 1,
                answer => answers.push(keys.of(answer)),
            }
        }
        if answers.len() == models.len() {
            questions.push(RecordedQuestion {
                gold,
                answers,
                options: columns.options.and_then(|at| cell(at).parse().ok()),
            });
        }
    }
    Ok(AnswerTable {
        columns: columns.names(cells),
        models,
        rows: cells.rows.len() as u64,
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
        (!text.is_empty()).then(|| *self.0.entry(text.to_lowercase()).or_insert(next))
    }
}

fn line(row: &StringRecord) -> u64 {
    row.position().map_or(0, Position::line)
}

/// The file cannot be replayed. Lines are counted from 1; the header is on the first.
#[derive(Debug, thiserror::Error)]
#[error("{problem}")]
pub struct RecordedAnswersError {
    problem: String,
    /// What helps against it.
    pub hint: Option<&'static str>,
}

impl From<String> for RecordedAnswersError {
    fn from(problem: String) -> Self {
        let hint = None;
        Self { problem, hint }
    }
}

fn hinted(problem: impl Into<String>, hint: &'static str) -> RecordedAnswersError {
    RecordedAnswersError {
        problem: problem.into(),
        hint: Some(hint),
    }
}

fn not_a_table(error: &csv::Error) -> String {
    match error.kind() {
        ErrorKind::UnequalLengths {
            pos,
            expected_len,
            len,
        } => {
            let line = pos.as_ref().map_or(0, Position::line);
            format!("line {line} has {len} cells, but the header has {expected_len}")
        }
        _ => format!("the file is not CSV: {error}"),
    }
}

#[cfg(test)]
mod tests;
