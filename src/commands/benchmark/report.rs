//! `conclave benchmark report`: prints the report of a run again.

use crate::benchmark::report::BenchmarkReport;
use crate::commands::completions::ids;
use crate::config::env::Environment;
use crate::config::paths::Home;
use crate::error::{Error, Exit};
use crate::terminal::output::printer::Printer;

use super::flags::ReportFlags;
use super::{lookup, outcome};

/// Print the report of a run, in any format
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The run: its id, a unique prefix, its folder, or `last`
    #[arg(default_value = "last", value_name = "RUN", add = ids::runs())]
    run: String,

    #[command(flatten)]
    pub(super) output: ReportFlags,
}

pub(super) fn run(
    args: &Args,
    environment: &Environment,
    printer: &Printer,
) -> Result<Exit, Error> {
    outcome::check_outputs(&args.output)?;
    let home = Home::find(environment).map_err(Error::usage)?;
    let store = lookup::store(&home);
    let stored = lookup::load(&store, &lookup::find(&store, &args.run)?)?;
    let report = BenchmarkReport::of(&stored.state, stored.view());
    outcome::show(&report, &args.output, environment, printer)?;
    outcome::check_accuracy(&report, &args.output)
}
