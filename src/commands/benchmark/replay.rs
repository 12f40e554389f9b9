//! `conclave benchmark --replay`: rules that stop asking a panel, on recorded answers.

use std::path::{Path, PathBuf};

use crate::benchmark::replay::measure;
use crate::benchmark::replay::report::ReplayReport;
use crate::commands::App;
use crate::commands::flags::AnswerFormat;
use crate::error::Error;
use crate::files::{self, SizeLimit};
use crate::suites::recorded_answers::{self, ColumnNames, RecordedAnswersError};
use crate::terminal::tables::replay::screen;

/// The largest file: a million questions to seven models are a fifth of it.
const SIZE_LIMIT: SizeLimit = SizeLimit::of_bytes(256 << 20);

/// The width of the text in a file or a pipe.
const WIDTH_WITHOUT_TERMINAL: usize = 80;

/// Recorded answers instead of a run.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Replay")]
pub(super) struct ReplayFlags {
    /// Show what stop rules would have saved on recorded answers: a table with a question in each
    /// row, its right answer, and the answer of each model
    #[arg(
        long,
        value_name = "CSV",
        conflicts_with_all = [
            "tag", "limit", "partition", "repeat", "attempts", "jobs", "single", "compare",
            "grader", "max_cost", "dry_run", "output", "junit", "fail_under",
        ]
    )]
    pub(super) replay: Option<PathBuf>,

    /// The columns of the models, in the order in which they are asked [default: all columns with
    /// answers]
    #[arg(
        long,
        value_name = "COLUMN,COLUMN",
        value_delimiter = ',',
        conflicts_with_all = ["suite", "resume"]
    )]
    models: Vec<String>,

    /// The column of the right answers [default: gold, answer, expected or target]
    #[arg(long, value_name = "COLUMN", conflicts_with_all = ["suite", "resume"])]
    gold: Option<String>,

    /// The column with the ids of the questions [default: `id` or `question_id`, if there is one]
    #[arg(long, value_name = "COLUMN", conflicts_with_all = ["suite", "resume"])]
    id: Option<String>,
}

impl ReplayFlags {
    fn names(&self) -> ColumnNames {
        let names = |name: &String| name.trim().to_owned();
        ColumnNames {
            models: self.models.iter().map(names).collect(),
            gold: self.gold.as_ref().map(names),
            id: self.id.as_ref().map(names),
        }
    }
}

/// Prints the figures of all rules on the recorded answers of this file.
pub(super) fn run(
    flags: &ReplayFlags,
    file: &Path,
    format: AnswerFormat,
    app: App<'_>,
) -> Result<(), Error> {
    let is_json = match format {
        AnswerFormat::Json => true,
        AnswerFormat::Markdown => false,
        AnswerFormat::Html | AnswerFormat::Both => {
            let error = "a replay is written as a table or as JSON";
            return Err(Error::usage(error).hint("leave out `--format`, or use `--json`"));
        }
    };
    let report = report(flags, file)?;
    app.print(is_json, &report, |width, paint| {
        screen(&report, width.unwrap_or(WIDTH_WITHOUT_TERMINAL), paint)
    })
}

fn report(flags: &ReplayFlags, file: &Path) -> Result<ReplayReport, Error> {
    let name = file.display().to_string();
    let bytes = files::read(file, SIZE_LIMIT)
        .map_err(|error| Error::usage(format!("cannot read `{name}`: {error}")))?;
    let table =
        recorded_answers::read(&bytes, &flags.names()).map_err(|error| unusable(error, &name))?;
    measure(&table, &name)
        .ok_or_else(|| Error::usage(format!("`{name}` has no questions to replay")))
}

/// Returns why a file cannot be replayed, with what to do.
fn unusable(error: RecordedAnswersError, file: &str) -> Error {
    let hint = hint(&error);
    let error = Error::usage(ReplayError {
        file: file.to_owned(),
        source: error,
    });
    error.hint_if(hint)
}

/// A file of recorded answers cannot be replayed.
#[derive(Debug, thiserror::Error)]
#[error("cannot replay `{file}`")]
struct ReplayError {
    file: String,
    source: RecordedAnswersError,
}

fn hint(error: &RecordedAnswersError) -> Option<&'static str> {
    match error {
        RecordedAnswersError::NoGoldColumn => {
            Some("name the column of the right answers with `--gold COLUMN`")
        }
        RecordedAnswersError::UnclearColumns { .. }
        | RecordedAnswersError::TooFewModels { .. }
        | RecordedAnswersError::TooManyModels { .. } => {
            Some("name the columns of at least two models with `--models COLUMN,COLUMN`")
        }
        RecordedAnswersError::NoCommonQuestion { .. } => {
            Some("choose models that were asked the same questions with `--models COLUMN,COLUMN`")
        }
        RecordedAnswersError::NotUtf8 { .. } => Some("save the table as CSV in UTF-8"),
        RecordedAnswersError::RepeatedId { .. } => {
            Some("keep one row for each question, or name another column with `--id COLUMN`")
        }
        RecordedAnswersError::Empty
        | RecordedAnswersError::NoRows
        | RecordedAnswersError::RaggedRow { .. }
        | RecordedAnswersError::NoColumn { .. }
        | RecordedAnswersError::RepeatedColumn { .. }
        | RecordedAnswersError::NoGold { .. }
        | RecordedAnswersError::NoId { .. }
        | RecordedAnswersError::NotAModel { .. }
        | RecordedAnswersError::RepeatedModel { .. }
        | RecordedAnswersError::NotCsv(_) => None,
    }
}
