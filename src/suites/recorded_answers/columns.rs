//! Which column holds what: as named by the user, or by common names and by what the cells hold.

use std::collections::{HashMap, HashSet};

use csv::StringRecord;

use super::RecordedAnswersError;
use super::{NOT_ASKED, folded, line};
use crate::benchmark::replay::report::AnswerColumns;
use crate::domain::names::did_you_mean;

/// The columns that the user names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ColumnNames {
    /// The models, in the order in which they are asked; empty for all columns with answers, in the
    /// order of the file.
    pub models: Vec<String>,
    pub gold: Option<String>,
    pub id: Option<String>,
}

/// Names of the column of the right answers, the best first.
const GOLD_NAMES: [&str; 4] = ["gold", "answer", "expected", "target"];
const ID_NAMES: [&str; 2] = ["id", "question_id"];
/// Names of the column with the number of answers that a question offers.
const OPTIONS_NAMES: [&str; 3] = ["n_options", "num_options", "options"];
/// Columns that describe a question. They hold no model's answers, whatever is in them.
const DESCRIPTIONS: &str = "category context difficulty explanation index language level prompt \
                            question source split subject tags topic";

/// Of a column's answers that are not empty, the percentage that must be right answers to some
/// question of the file, so that the column is taken for a model's.
const ANSWERS_OF_A_MODEL: usize = 50;
/// Below this percentage it is taken for something else; between the two it is unclear.
const ANSWERS_BY_CHANCE: usize = 5;

/// The most models that can be replayed. The vote takes time that grows with their number.
const MAX_MODELS: usize = 100;

/// A column, by its place from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) at: usize,
}

/// The columns of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) gold: Column,
    pub(super) id: Option<Column>,
    pub(super) options: Option<Column>,
    /// At least two.
    pub(super) models: Vec<Column>,
}

impl Layout {
    pub(super) fn find(
        header: &[String],
        rows: &[StringRecord],
        names: &ColumnNames,
    ) -> Result<Self, RecordedAnswersError> {
        let gold = match &names.gold {
            Some(name) => named(header, name)?,
            None => known(header, &GOLD_NAMES).ok_or(RecordedAnswersError::NoGoldColumn)?,
        };
        let id = match &names.id {
            Some(name) => Some(named(header, name)?),
            None => known(header, &ID_NAMES),
        };
        let is_count = |column: &Column| {
            rows.iter().all(|row| {
                let number = row.get(column.at).and_then(|cell| cell.parse().ok());
                number.is_some_and(|number: usize| number >= 2)
            })
        };
        let options = known(header, &OPTIONS_NAMES).filter(is_count);
        let mut columns = Self {
            gold,
            id,
            options,
            models: Vec::new(),
        };
        columns.models = if names.models.is_empty() {
            columns.with_answers(header, rows)?
        } else {
            columns.named_models(header, &names.models)?
        };
        let problem = match columns.models.as_slice() {
            [] => "no column has answers of a model".to_owned(),
            [Column { name, .. }] => {
                format!("only `{name}` has answers; a panel needs two models")
            }
            models if models.len() > MAX_MODELS => format!(
                "the answers of {} models; at most {MAX_MODELS} can be replayed",
                models.len()
            ),
            _ => return Ok(columns),
        };
        Err(RecordedAnswersError::Models(problem))
    }

    fn named_models(
        &self,
        header: &[String],
        names: &[String],
    ) -> Result<Vec<Column>, RecordedAnswersError> {
        let mut models: Vec<Column> = Vec::new();
        for name in names {
            let column = named(header, name)?;
            if self.is_taken(column.at) {
                let problem = format!("the column `{}` holds no model's answers", column.name);
                return Err(RecordedAnswersError::Table(problem));
            }
            if models.contains(&column) {
                let problem = format!("the model `{}` is named twice", column.name);
                return Err(RecordedAnswersError::Table(problem));
            }
            models.push(column);
        }
        Ok(models)
    }

    /// A model's cells are right for some question.
    fn with_answers(
        &self,
        header: &[String],
        rows: &[StringRecord],
    ) -> Result<Vec<Column>, RecordedAnswersError> {
        let right: HashSet<String> = rows
            .iter()
            .filter_map(|row| row.get(self.gold.at))
            .map(folded)
            .collect();
        let mut models = Vec::new();
        let mut unclear = Vec::new();
        for (at, name) in header.iter().enumerate() {
            if self.is_taken(at) || is_description(name) {
                continue;
            }
            let cells = rows.iter().filter_map(|row| row.get(at));
            let given: Vec<&str> = cells
                .filter(|cell| !cell.is_empty() && *cell != NOT_ASKED)
                .collect();
            let answers = given
                .iter()
                .filter(|cell| right.contains(&folded(cell)))
                .count();
            if given.is_empty() || answers * 100 < given.len() * ANSWERS_BY_CHANCE {
                continue;
            }
            if answers * 100 < given.len() * ANSWERS_OF_A_MODEL {
                unclear.push(name.clone());
            } else {
                models.push(Column {
                    name: name.clone(),
                    at,
                });
            }
        }
        if unclear.is_empty() {
            return Ok(models);
        }
        let holds = if unclear.len() == 1 { "holds" } else { "hold" };
        Err(RecordedAnswersError::Models(format!(
            "it is unclear whether `{}` {holds} answers",
            unclear.join("`, `")
        )))
    }

    fn is_taken(&self, at: usize) -> bool {
        let others = [Some(&self.gold), self.id.as_ref(), self.options.as_ref()];
        others.into_iter().flatten().any(|column| column.at == at)
    }

    pub(super) fn check_ids(&self, rows: &[StringRecord]) -> Result<(), RecordedAnswersError> {
        let Some(id) = &self.id else {
            return Ok(());
        };
        let mut lines = HashMap::new();
        for row in rows {
            let name = row.get(id.at).unwrap_or_default();
            if name.is_empty() {
                let problem = format!("line {} has no id", line(row));
                return Err(RecordedAnswersError::Table(problem));
            }
            if let Some(first) = lines.insert(name, line(row)) {
                return Err(RecordedAnswersError::RepeatedId {
                    id: name.to_owned(),
                    first,
                    second: line(row),
                });
            }
        }
        Ok(())
    }

    pub(super) fn names(&self) -> AnswerColumns {
        let name = |column: &Option<Column>| column.as_ref().map(|column| column.name.clone());
        AnswerColumns {
            gold: self.gold.name.clone(),
            id: name(&self.id),
            options: name(&self.options),
        }
    }
}

fn named(header: &[String], name: &str) -> Result<Column, RecordedAnswersError> {
    find(header, name).ok_or_else(|| {
        let meant = did_you_mean(name, header.iter().map(String::as_str));
        RecordedAnswersError::Table(format!("there is no column `{name}`{meant}"))
    })
}

fn known(header: &[String], names: &[&str]) -> Option<Column> {
    names.iter().find_map(|name| find(header, name))
}

/// In any case, but `a` and `A` may be two.
fn find(header: &[String], name: &str) -> Option<Column> {
    let place = |is_same: &dyn Fn(&str) -> bool| header.iter().position(|other| is_same(other));
    let exact = place(&|other| other == name);
    let at = exact.or_else(|| place(&|other| other.eq_ignore_ascii_case(name)))?;
    let name = header.get(at)?.clone();
    Some(Column { name, at })
}

fn is_description(name: &str) -> bool {
    let others = OPTIONS_NAMES.into_iter().chain(ID_NAMES).chain(GOLD_NAMES);
    let mut names = DESCRIPTIONS.split(' ').chain(others);
    names.any(|other| other.eq_ignore_ascii_case(name))
}
