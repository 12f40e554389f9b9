//! `conclave benchmark --replay`: rules that stop asking a panel, on recorded answers.

use std::path::PathBuf;

use crate::benchmark::replay::measure;
use crate::benchmark::replay::report::ReplayReport;
use crate::commands::App;
use crate::commands::flags::JsonFlags;
use crate::error::{Error, Exit};
use crate::files::{self, SizeLimit};
use crate::suites::recorded_answers::{self, ColumnNames};
use crate::terminal::tables::replay::screen;

/// The largest file: a million questions to seven models are a fifth of it.
const SIZE_LIMIT: SizeLimit = SizeLimit::of_bytes(256 << 20);

/// The width of the text in a file or a pipe.
const WIDTH_WITHOUT_TERMINAL: usize = 80;

/// Show what rules that stop asking would have saved on recorded answers
#[derive(Clone, Debug, clap::Args)]
#[command(mut_arg("json", |arg| arg.help("Write JSON; its schema is schemas/replay.schema.json")))]
pub(super) struct Args {
    /// A table with a question in each row, its right answer, and the answer of each model
    #[arg(value_name = "CSV")]
    file: PathBuf,

    /// The columns of the models, in the order in which they are asked [default: all columns with
    /// answers]
    #[arg(long, value_name = "COLUMN,COLUMN", value_delimiter = ',')]
    models: Vec<String>,

    /// The column of the right answers [default: gold, answer, expected or target]
    #[arg(long, value_name = "COLUMN")]
    gold: Option<String>,

    /// The column with the ids of the questions [default: `id` or `question_id`, if there is one]
    #[arg(long, value_name = "COLUMN")]
    id: Option<String>,

    #[command(flatten)]
    json: JsonFlags,
}

impl Args {
    fn names(&self) -> ColumnNames {
        let names = |name: &String| name.trim().to_owned();
        ColumnNames {
            models: self.models.iter().map(names).collect(),
            gold: self.gold.as_ref().map(names),
            id: self.id.as_ref().map(names),
        }
    }
}

pub(super) fn run(args: &Args, app: App<'_>) -> Result<Exit, Error> {
    let report = report(args)?;
    app.print(args.json.is_json(), &report, |width, paint| {
        screen(&report, width.unwrap_or(WIDTH_WITHOUT_TERMINAL), paint)
    })?;
    Ok(Exit::Answer)
}

fn report(args: &Args) -> Result<ReplayReport, Error> {
    let name = args.file.display().to_string();
    let bytes = files::read(&args.file, SIZE_LIMIT)
        .map_err(|error| Error::usage(format!("cannot read `{name}`: {error}")))?;
    let table = recorded_answers::read(&bytes, &args.names()).map_err(|error| {
        let hint = error.hint;
        Error::caused(format!("cannot replay `{name}`"), error).hint_if(hint)
    })?;
    measure(&table, &name)
        .ok_or_else(|| Error::usage(format!("`{name}` has no questions to replay")))
}
