//! Why a file is no table of recorded answers.

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
