//! Which column holds what: as named by the user, or by common names and by what the cells hold.

use std::collections::{HashMap, HashSet};

use csv::StringRecord;

use super::{NOT_ASKED, RecordedAnswersError, hinted, line};
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

/// A table below its header.
pub(super) struct Cells {
    pub(super) header: Vec<String>,
    pub(super) rows: Vec<StringRecord>,
}

impl Cells {
    pub(super) fn name(&self, at: usize) -> String {
        self.header.get(at).cloned().unwrap_or_default()
    }

    fn of(&self, at: usize) -> impl Iterator<Item = &str> {
        let cells = self.rows.iter();
        cells.map(move |row| row.get(at).unwrap_or_default())
    }

    /// Returns the place of a column, in any case, but `a` and `A` may be two.
    fn find(&self, name: &str) -> Option<usize> {
        let mut names = self.header.iter();
        let exact = names.clone().position(|other| other == name);
        exact.or_else(|| names.position(|other| other.eq_ignore_ascii_case(name)))
    }

    fn known(&self, names: &[&str]) -> Option<usize> {
        names.iter().find_map(|name| self.find(name))
    }

    fn named(&self, name: &str) -> Result<usize, String> {
        self.find(name).ok_or_else(|| {
            let meant = did_you_mean(name, self.header.iter().map(String::as_str));
            format!("there is no column `{name}`{meant}")
        })
    }
}

/// The places of columns.
pub(super) struct Layout {
    pub(super) gold: usize,
    pub(super) id: Option<usize>,
    pub(super) options: Option<usize>,
    /// At least two.
    pub(super) models: Vec<usize>,
}

impl Layout {
    pub(super) fn find(cells: &Cells, names: &ColumnNames) -> Result<Self, RecordedAnswersError> {
        let own = |name: &Option<String>, usual: &[&str]| match name {
            Some(name) => cells.named(name).map(Some),
            None => Ok(cells.known(usual)),
        };
        let gold = own(&names.gold, &GOLD_NAMES)?.ok_or_else(|| {
            hinted(
                format!(
                    "there is no column `{}` or `target`",
                    GOLD_NAMES[..3].join("`, `")
                ),
                "name the column of the right answers with `--gold COLUMN`",
            )
        })?;
        let is_count = |cell: &str| cell.parse().is_ok_and(|number: usize| number >= 2);
        let options = cells.known(&OPTIONS_NAMES);
        let mut columns = Self {
            gold,
            id: own(&names.id, &ID_NAMES)?,
            options: options.filter(|at| cells.of(*at).all(is_count)),
            models: Vec::new(),
        };
        columns.models = if names.models.is_empty() {
            columns.with_answers(cells)?
        } else {
            columns.named_models(cells, &names.models)?
        };
        let problem = match columns.models.as_slice() {
            [] => "no column has answers of a model".to_owned(),
            [only] => {
                let name = cells.name(*only);
                format!("only `{name}` has answers; a panel needs two models")
            }
            models if models.len() > MAX_MODELS => format!(
                "the answers of {} models; at most {MAX_MODELS} can be replayed",
                models.len()
            ),
            _ => return columns.check_ids(cells).map(|()| columns),
        };
        Err(hinted(problem, NAME_MODELS))
    }

    fn named_models(&self, cells: &Cells, names: &[String]) -> Result<Vec<usize>, String> {
        let mut models = Vec::new();
        for name in names {
            let at = cells.named(name)?;
            let name = cells.name(at);
            if self.is_taken(at) {
                return Err(format!("the column `{name}` holds no model's answers"));
            }
            if models.contains(&at) {
                return Err(format!("the model `{name}` is named twice"));
            }
            models.push(at);
        }
        Ok(models)
    }

    /// A model's cells are right for some question.
    fn with_answers(&self, cells: &Cells) -> Result<Vec<usize>, RecordedAnswersError> {
        let right: HashSet<String> = cells.of(self.gold).map(str::to_lowercase).collect();
        let (mut models, mut unclear) = (Vec::new(), Vec::new());
        for (at, name) in cells.header.iter().enumerate() {
            let is_given = |cell: &&str| !cell.is_empty() && *cell != NOT_ASKED;
            let given: Vec<&str> = cells.of(at).filter(is_given).collect();
            let answers = given
                .iter()
                .filter(|cell| right.contains(&cell.to_lowercase()));
            let percentage = (answers.count() * 100).checked_div(given.len());
            let is_other = self.is_taken(at) || is_description(name);
            match percentage.filter(|_| !is_other) {
                None | Some(..ANSWERS_BY_CHANCE) => {}
                Some(..ANSWERS_OF_A_MODEL) => unclear.push(name.as_str()),
                Some(_) => models.push(at),
            }
        }
        if unclear.is_empty() {
            return Ok(models);
        }
        let holds = if unclear.len() == 1 { "holds" } else { "hold" };
        let unclear = unclear.join("`, `");
        let problem = format!("it is unclear whether `{unclear}` {holds} answers");
        Err(hinted(problem, NAME_MODELS))
    }

    fn is_taken(&self, at: usize) -> bool {
        [Some(self.gold), self.id, self.options].contains(&Some(at))
    }

    fn check_ids(&self, cells: &Cells) -> Result<(), RecordedAnswersError> {
        let mut lines = HashMap::new();
        for (id, row) in self.id.iter().flat_map(|at| cells.of(*at)).zip(&cells.rows) {
            let second = line(row);
            if id.is_empty() {
                return Err(format!("line {second} has no id").into());
            }
            if let Some(first) = lines.insert(id, second) {
                return Err(hinted(
                    format!("lines {first} and {second} have the same id, `{id}`"),
                    "keep one row for each question, or name another column with `--id COLUMN`",
                ));
            }
        }
        Ok(())
    }

    pub(super) fn names(&self, cells: &Cells) -> AnswerColumns {
        AnswerColumns {
            gold: cells.name(self.gold),
            id: self.id.map(|at| cells.name(at)),
            options: self.options.map(|at| cells.name(at)),
        }
    }
}

const NAME_MODELS: &str = "name the columns of at least two models with `--models COLUMN,COLUMN`";

fn is_description(name: &str) -> bool {
    let others = OPTIONS_NAMES.into_iter().chain(ID_NAMES).chain(GOLD_NAMES);
    let mut names = DESCRIPTIONS.split(' ').chain(others);
    names.any(|other| other.eq_ignore_ascii_case(name))
}
