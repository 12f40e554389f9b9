//! `conclave benchmark`: measures what a panel is worth on cases with known answers.

mod flags;
mod announcement;
mod start;
mod resume;
mod dry_run;
mod drive;
mod outcome;
mod lookup;
mod merge;
mod report;
mod list;
mod replay;

use std::path::PathBuf;

use clap::{ArgGroup, Subcommand};

use super::completions::ids;
use super::flags::{PanelFlags, RoundFlags};
use crate::config::env::Environment;
use crate::error::{Error, Exit};
use crate::terminal::output::printer::{Printer, Verbosity};

use self::flags::{BaselineFlags, CaseFlags, LimitFlags, ReportFlags, StopFlags};
use self::replay::ReplayFlags;

/// The flags that a resumed run has from its beginning.
const FIXED_TERMS: [&str; 24] = [
    "panel",
    "personas",
    "model",
    "judge",
    "single",
    "compare",
    "grader",
    "tag",
    "limit",
    "partition",
    "repeat",
    "attempts",
    "mode",
    "rounds",
    "quick",
    "judge_passes",
    "on_failure",
    "hedge_after",
    "max_wait",
    "strict",
    "early_stop",
    "confidence_threshold",
    "no_scrub",
    "dry_run",
];

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
    Report(report::Args),
    List(list::Args),
    Merge(merge::Args),
}

#[derive(Debug, clap::Args)]
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
        conflicts_with_all = FIXED_TERMS
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
    limits: LimitFlags,

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

pub(crate) fn run(
    args: &Args,
    environment: &Environment,
    printer: &Printer,
) -> Result<Exit, Error> {
    match &args.action {
        Some(BenchmarkAction::Report(args)) => report::run(args, environment, printer),
        Some(BenchmarkAction::List(args)) => list::run(args, environment, printer),
        Some(BenchmarkAction::Merge(args)) => merge::run(args, environment, printer),
        None => args.run.run(environment, printer),
    }
}

impl RunArgs {
    fn run(&self, environment: &Environment, printer: &Printer) -> Result<Exit, Error> {
        let command = Command {
            args: self,
            environment,
            printer,
        };
        match (&self.suite, &self.resume, &self.replay.replay) {
            (Some(suite), _, _) => start::run(&command, suite),
            (None, Some(name), _) => resume::run(&command, name),
            (None, None, Some(file)) => {
                let format = self.output.format();
                replay::run(&self.replay, file, format, printer).map(|()| Exit::Answer)
            }
            (None, None, None) => Err(Error::usage("name a suite")),
        }
    }
}

/// A run on the command line.
#[derive(Clone, Copy, Debug)]
struct Command<'a> {
    args: &'a RunArgs,
    environment: &'a Environment,
    printer: &'a Printer,
}
