//! `conclave benchmark list`: the runs, newest first.

use serde::Serialize;

use crate::benchmark::run::RunId;
use crate::benchmark::state::{BenchmarkStateView, BenchmarkStatus};
use crate::config::env::Environment;
use crate::config::paths::Home;
use crate::domain::text::clean;
use crate::error::{Error, Exit, whole};
use crate::records::runs::StoredRun;
use crate::terminal::output::format::{amount, count};
use crate::terminal::output::printer::Printer;

use super::lookup;

/// List runs, newest first
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Write JSON
    #[arg(long)]
    json: bool,
}

/// A run in the JSON.
#[derive(Debug, Serialize)]
struct ListedRun {
    suite: String,
    cost_usd: f64,
    #[serde(flatten)]
    view: BenchmarkStateView,
}

pub(super) fn run(
    args: &Args,
    environment: &Environment,
    printer: &Printer,
) -> Result<Exit, Error> {
    let home = Home::find(environment).map_err(Error::usage)?;
    let store = lookup::store(&home);
    let ids = store.newest_first().map_err(Error::failed)?;
    let mut runs: Vec<StoredRun> = Vec::new();
    for id in &ids {
        match lookup::load(&store, id) {
            Ok(run) => runs.push(run),
            Err(error) => printer.warning(&format!("{id}: {}", whole(error.source()))),
        }
    }
    if args.json {
        let listed: Vec<ListedRun> = runs.iter().map(listed).collect();
        printer.json(&listed).map_err(Error::failed)?;
        return Ok(Exit::Answer);
    }
    if runs.is_empty() {
        printer.note("There are no runs yet. Begin one with `conclave benchmark SUITE`.");
        return Ok(Exit::Answer);
    }
    let lines: Vec<String> = runs.iter().map(line).collect();
    printer
        .result(&(lines.join("\n") + "\n"))
        .map_err(Error::failed)?;
    Ok(Exit::Answer)
}

fn listed(run: &StoredRun) -> ListedRun {
    ListedRun {
        suite: run.state.terms().suite.name.clone(),
        cost_usd: run.state.spend().cost.known.usd(),
        view: run.view(),
    }
}

/// `bench-01k…  complete   starter  60 of 60 cases  $0.42`.
fn line(run: &StoredRun) -> String {
    let state = &run.state;
    let id: &RunId = state.run();
    let done = state.results().len();
    let all = u64::try_from(done).unwrap_or(u64::MAX) + state.workload().remaining;
    let status: BenchmarkStatus = run.status;
    let all = usize::try_from(all).unwrap_or(usize::MAX);
    format!(
        "{id}  {:<11}  {}  {done} of {}  {}",
        status.name(),
        clean(&state.terms().suite.name),
        count(all, "case run"),
        amount(state.spend().cost)
    )
}
