//! `conclave refine`: lets a panel work on a document until its open questions are settled.

mod flags;
mod files;
mod target;
mod prepare;
mod start;
mod dry_run;

use std::path::PathBuf;

use clap::Subcommand;

use super::App;
use super::flags::{
    ContextFlags, ControlFlags, FleetFlag, PanelFlags, RoundFlags, SendingFlags, short_help,
};
use crate::error::{Error, Exit};

use self::flags::{ConvergenceFlags, QuestionFlags, RefineOutputFlags, TargetFlags};

/// Let a panel work on a document until its open questions are settled
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(mut_args(short_help(&[
    "in_place", "output", "model", "judge", "context", "preset", "max_iterations", "dry_run", "yes",
    "max_cost", "diff", "json",
])))]
#[command(after_help = "\
Each iteration asks the panel the open questions. Answers move up to Medium or High Confidence with
their source, contradicted claims move down, and new questions are added. Beside SPEC.md, the folder
SPEC.refine has the log, each change with the text before and after it, and the original.

Examples:
  conclave refine SPEC.md --dry-run
  conclave refine SPEC.md --max-cost 5 --diff
  conclave refine SPEC.md --context src --project --preset conservative
  conclave refine notes.md -o spec.md
  conclave refine check SPEC.md

After exit code 1, 4 or 130 the same command resumes the loop; `conclave man` has all codes.")]
pub struct Args {
    #[command(subcommand)]
    action: Option<RefineAction>,

    /// The document: Markdown with the sections High Confidence, Medium Confidence and Open
    /// Questions. From one without them, claims and questions are extracted first
    #[arg(value_name = "SPEC", required = true)]
    spec: Option<PathBuf>,

    #[command(flatten)]
    target: TargetFlags,

    #[command(flatten, next_help_heading = "Panel")]
    panel: PanelFlags,

    #[command(flatten)]
    context: ContextFlags,

    #[command(flatten)]
    questions: QuestionFlags,

    #[command(flatten)]
    convergence: ConvergenceFlags,

    #[command(flatten)]
    rounds: RoundFlags,

    #[command(flatten)]
    control: ControlFlags,

    #[command(flatten)]
    sending: SendingFlags,

    #[command(flatten)]
    fleet: FleetFlag,

    #[command(flatten)]
    output: RefineOutputFlags,
}

#[derive(Debug, Subcommand)]
enum RefineAction {
    Check(files::Args),
}

pub(crate) fn run(args: &Args, app: App<'_>) -> Result<Exit, Error> {
    match (&args.action, &args.spec) {
        (Some(RefineAction::Check(args)), _) => files::run(args, app),
        (None, Some(spec)) => start::run(args, spec, app),
        (None, None) => Err(Error::usage("name a document")),
    }
}

fn shell_word(path: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "._-/+,:@%".contains(c);
    if !path.is_empty() && path.chars().all(is_plain) {
        path.to_owned()
    } else {
        format!("'{}'", path.replace('\'', "'\\''"))
    }
}
