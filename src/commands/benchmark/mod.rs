//! `conclave benchmark`: measures what a panel is worth on cases with known answers.

mod flags;
mod run;
mod dry_run;
mod outcome;
mod stored;
mod replay;

use std::path::PathBuf;

use clap::{ArgGroup, Id, Subcommand};

use super::App;
use super::completions::ids;
use super::flags::{self as common, ControlFlags, PanelFlags, RoundFlags, for_many};
use crate::error::{Error, Exit};
use crate::terminal::output::printer::Verbosity;

use self::flags::{BaselineFlags, CONTROL_HELP, CaseFlags, ReportFlags, StopFlags};
use self::replay::ReplayFlags;

/// Measure what a panel is worth, on cases with known answers
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "\
Examples:
  conclave benchmark cases.jsonl --dry-run
  conclave benchmark cases.jsonl --compare --max-cost 5 -o report.html
  conclave benchmark cases.csv --single claude-opus-5-5 --repeat 3
  conclave benchmark suite.yaml --yes --json --junit results.xml --fail-under 0.8
  conclave benchmark suite.yaml --partition 2/8
  conclave benchmark --resume bench-01kb5x

Exit codes: 0 complete, 1 failed or below --fail-under, 2 a wrong suite or command line, 3 declined,
4 the ceiling is reached, 6 stopped by a stop condition, 130 interrupted. After 4, 6 and 130 the run
can be resumed."
)]
pub struct Args {
    #[command(subcommand)]
    action: Option<BenchmarkAction>,

    #[command(flatten)]
    run: RunArgs,
}

#[derive(Debug, Subcommand)]
enum BenchmarkAction {
    Report(stored::ReportArgs),
    List(stored::ListArgs),
    Merge(stored::MergeArgs),
}

#[derive(Debug, clap::Args)]
#[command(mut_args(|flag| for_many(flag, &CONTROL_HELP)))]
#[command(group(ArgGroup::new("work").args(["suite", "resume", "replay"]).required(true)))]
struct RunArgs {
    /// The suite: cases as JSON lines or CSV, a folder of them, a YAML or JSON manifest, or the
    /// tests of promptfoo or Inspect
    suite: Option<PathBuf>,

    /// Resume a run that was stopped: its id, a unique prefix, its folder, or `last`; finished cases
    /// are not repeated
    #[arg(
        long,
        value_name = "RUN",
        add = ids::runs(),
        conflicts_with_all = fixed_terms()
    )]
    resume: Option<String>,

    #[command(flatten, next_help_heading = "Panel")]
    panel: PanelFlags,

    #[command(flatten)]
    baseline: BaselineFlags,

    #[command(flatten)]
    cases: CaseFlags,

    #[command(flatten)]
    rounds: RoundFlags,

    #[command(flatten)]
    stop: StopFlags,

    #[command(flatten)]
    control: ControlFlags,

    /// Send the cases as they are: mask no keys, passwords and other secrets
    #[arg(long, help_heading = "Control")]
    no_scrub: bool,

    /// Check the suite, and show what would be asked of which vendor at what cost; send nothing
    #[arg(long, help_heading = "Control")]
    dry_run: bool,

    #[command(flatten)]
    output: ReportFlags,

    #[command(flatten)]
    replay: ReplayFlags,
}

impl Args {
    pub(crate) fn verbosity(&self) -> Verbosity {
        match &self.action {
            None => self.run.output.verbosity(),
            Some(BenchmarkAction::Report(args)) => args.output.verbosity(),
            Some(BenchmarkAction::Merge(args)) => args.output.verbosity(),
            Some(BenchmarkAction::List(_)) => Verbosity::Normal,
        }
    }
}

pub(crate) fn run(args: &Args, app: App<'_>) -> Result<Exit, Error> {
    match &args.action {
        Some(BenchmarkAction::Report(args)) => stored::report(args, app),
        Some(BenchmarkAction::List(args)) => stored::list(args, app),
        Some(BenchmarkAction::Merge(args)) => stored::merge_runs(args, app),
        None => args.run.run(app),
    }
}

impl RunArgs {
    fn run(&self, app: App<'_>) -> Result<Exit, Error> {
        outcome::check_outputs(&self.output)?;
        match (&self.suite, &self.resume, &self.replay.replay) {
            (Some(suite), _, _) => run::start(self, suite, app),
            (None, Some(name), _) => run::resume(self, name, app),
            (None, None, Some(file)) => {
                replay::run(&self.replay, file, self.output.format(), app).map(|()| Exit::Answer)
            }
            (None, None, None) => Err(Error::usage("name a suite")),
        }
    }
}

/// Returns the flags that a resumed run has from its beginning.
fn fixed_terms() -> Vec<Id> {
    let mut terms = [
        common::ids::<PanelFlags>(),
        common::ids::<BaselineFlags>(),
        common::ids::<CaseFlags>(),
        common::ids::<RoundFlags>(),
        common::ids::<ControlFlags>(),
        vec![Id::from("no_scrub"), Id::from("dry_run")],
    ]
    .concat();
    terms.retain(|term| !["jobs", "yes", "max_cost"].contains(&term.as_str()));
    terms
}
