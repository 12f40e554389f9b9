//! `conclave refine`: lets a panel work on a document until its open questions are settled.

mod flags;
mod files;
mod target;
mod check;
mod prepare;
mod start;
mod dry_run;
mod outcome;

use std::path::PathBuf;

use super::App;
use super::flags::{ContextFlags, ControlFlags, PanelFlags, RoundFlags, for_many};
use crate::error::{Error, Exit};

use self::flags::{
    ActionFlags, CONTROL_HELP, ConvergenceFlags, QuestionFlags, RefineOutputFlags, TargetFlags,
};

/// Let a panel work on a document until its open questions are settled
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Each iteration asks the panel the open questions. Answers move up to Medium or High Confidence with
their source, contradicted claims move down, and new questions are added. Beside SPEC.md, the folder
SPEC.refine has the log, each change with the text before and after it, and the original.

Examples:
  conclave refine SPEC.md --dry-run
  conclave refine SPEC.md --max-cost 5 --diff
  conclave refine SPEC.md --context src --project --preset conservative
  conclave refine notes.md -o spec.md
  conclave refine SPEC.md --check

Exit codes: 0 converged, 1 failed or (--check) not converged, 2 a wrong document or command line, 3
declined, 4 the ceiling is reached, 11 the open questions need a person, 13 stalled, 14 the
iterations are used up, 130 interrupted. After 1, 4 and 130 the same command resumes the loop.")]
#[command(mut_args(|flag| for_many(flag, &CONTROL_HELP)))]
pub struct Args {
    /// The document: Markdown with the sections High Confidence, Medium Confidence and Open
    /// Questions. From one without them, claims and questions are extracted first
    #[arg(value_name = "SPEC")]
    spec: PathBuf,

    #[command(flatten)]
    action: ActionFlags,

    #[command(flatten)]
    target: TargetFlags,

    #[command(flatten, next_help_heading = "Panel")]
    panel: PanelFlags,

    #[command(flatten)]
    context: ContextFlags,

    /// Send the document and its context as they are: mask no keys, passwords and other secrets
    #[arg(long, help_heading = "Context")]
    no_scrub: bool,

    #[command(flatten)]
    questions: QuestionFlags,

    #[command(flatten)]
    convergence: ConvergenceFlags,

    #[command(flatten)]
    rounds: RoundFlags,

    #[command(flatten)]
    control: ControlFlags,

    #[command(flatten)]
    pub(crate) output: RefineOutputFlags,
}

pub(crate) fn run(args: &Args, app: App<'_>) -> Result<Exit, Error> {
    if args.action.check {
        check::run(args, app)
    } else {
        start::run(args, app)
    }
}

/// Returns a path as a word of a shell.
fn shell_word(path: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "._-/+,:@%".contains(c);
    if !path.is_empty() && path.chars().all(is_plain) {
        path.to_owned()
    } else {
        format!("'{}'", path.replace('\'', "'\\''"))
    }
}
