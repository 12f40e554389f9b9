//! `conclave benchmark merge`: puts the parts of a run together.

use crate::benchmark::report::BenchmarkReport;
use crate::benchmark::run::{Partition, RunId};
use crate::commands::completions::ids;
use crate::config::env::Environment;
use crate::config::paths::Home;
use crate::engine::clock::Clock;
use crate::error::{Error, Exit};
use crate::records::runs::StoredRun;
use crate::session::benchmark::merge::merge;
use crate::terminal::output::printer::Printer;

use super::flags::ReportFlags;
use super::{lookup, outcome};

/// Put runs of parts of one suite together, as one run with all results
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The runs: their ids, unique prefixes, or folders
    #[arg(required = true, num_args = 2.., value_name = "RUN", add = ids::runs())]
    runs: Vec<String>,

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
    let mut parts: Vec<StoredRun> = Vec::new();
    for name in &args.runs {
        parts.push(lookup::load_anywhere(&store, name)?);
    }
    let id = RunId::from_unique(&ulid::Ulid::generate().to_string());
    let merged = merge(id.clone(), &parts)?;
    let now = Clock::system().now();
    let mut run = store
        .create(now, merged.begun)
        .map_err(lookup::unreadable)?;
    for event in merged.events {
        run.record(now, event).map_err(lookup::unreadable)?;
    }
    printer.note(&format!("{} runs are merged as {id}", parts.len()));
    if !merged.missing.is_empty() {
        let missing: Vec<String> = merged.missing.iter().map(Partition::to_string).collect();
        printer.warning(&format!(
            "the report lacks the cases of these parts: {}",
            missing.join(", ")
        ));
    }
    let state = run.state();
    let report = BenchmarkReport::of(state, state.view(state.status()));
    outcome::show(&report, &args.output, environment, printer)?;
    outcome::exit(&report, &args.output)
}
