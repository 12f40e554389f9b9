//! `conclave benchmark`: measures what a panel is worth on cases with known answers.

mod flags;
mod run;
mod prepared;
mod stored;
mod replay;

use std::path::PathBuf;

use clap::Subcommand;

use super::App;
use super::completions::ids;
use super::flags::short_help;
use super::flags::{ControlFlags, FleetFlag, PanelFlags, RoundFlags, SendingFlags, SpendingFlags};
use crate::error::{Error, Exit};

use self::flags::{BaselineFlags, CaseFlags, ProcessFlags};

/// Measure what a panel is worth, on cases with known answers
#[derive(Debug, clap::Args)]
#[command(
    mut_args(short_help(&[
        "model", "judge", "single", "compare", "limit", "repeat", "quick", "dry_run", "yes", "max_cost",
        "json", "output",
    ])),
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

After exit code 4, 6 or 130 the run can be resumed; `conclave man` has all codes."
)]
pub struct Args {
    #[command(subcommand)]
    action: Option<BenchmarkAction>,

    /// The suite: cases as JSON lines or CSV, a folder of them, a YAML or JSON manifest, or the
    /// tests of promptfoo or Inspect
    #[arg(required = true)]
    suite: Option<PathBuf>,

    #[command(flatten, next_help_heading = "Panel")]
    panel: PanelFlags,

    #[command(flatten)]
    baseline: BaselineFlags,

    #[command(flatten)]
    cases: CaseFlags,

    #[command(flatten)]
    rounds: RoundFlags,

    #[command(flatten)]
    control: ControlFlags,

    #[command(flatten)]
    sending: SendingFlags,

    #[command(flatten)]
    fleet: FleetFlag,

    #[command(flatten)]
    process: ProcessFlags,
}

#[derive(Debug, Subcommand)]
enum BenchmarkAction {
    #[command(long_flag = "resume")]
    Resume(ResumeArgs),
    Report(stored::ReportArgs),
    List(stored::ListArgs),
    Merge(stored::MergeArgs),
    #[command(long_flag = "replay")]
    Replay(replay::Args),
}

/// Resume a run that was stopped; finished cases are not repeated
#[derive(Debug, clap::Args)]
struct ResumeArgs {
    /// The run: its id, a unique prefix, its folder, or `last`
    #[arg(value_name = "RUN", add = ids::runs())]
    run: String,

    #[command(flatten)]
    spending: SpendingFlags,

    #[command(flatten)]
    fleet: FleetFlag,

    #[command(flatten)]
    process: ProcessFlags,
}

pub(crate) fn run(args: &Args, app: App<'_>) -> Result<Exit, Error> {
    match (&args.action, &args.suite) {
        (Some(BenchmarkAction::Resume(args)), _) => run::resume(args, app),
        (Some(BenchmarkAction::Report(args)), _) => stored::report(args, app),
        (Some(BenchmarkAction::List(args)), _) => stored::list(args, app),
        (Some(BenchmarkAction::Merge(args)), _) => stored::merge_runs(args, app),
        (Some(BenchmarkAction::Replay(args)), _) => replay::run(args, app),
        (None, Some(suite)) => run::start(args, suite, app),
        (None, None) => Err(Error::usage("name a suite")),
    }
}
