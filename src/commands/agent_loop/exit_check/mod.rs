//! `conclave exit-check`: decides after each turn of an agent's loop whether the loop may stop. The
//! sub-commands show and reset what is kept between the turns.

mod check;
mod state;
mod history;
mod reset;

use clap::Subcommand;

use crate::config::env::Environment;
use crate::error::{Error, Exit};
use crate::terminal::output::printer::{Printer, Verbosity};

/// Decide after each turn of an agent's loop whether the loop may stop
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Reads the agent's last response and the checklist, prints the decision with every rule, and keeps it
in the folder of the state. It is the condition of a loop: exit code 0 means continue. Files that
are named like a command are written with a folder: ./state

Exit codes:
  0    continue
  10   done
  11   a person is needed: the agent is blocked, asks, or is not confident
  12   halted: the circuit is open, errors repeat, or the agent cannot work
  13   stalled: turns without progress
  14   the turns are used up
  2    the command line, a file or the configuration is wrong
  1    no decision: the state cannot be read or written

Examples:
  conclave exit-check response.md PLAN.md
  claude -p --output-format json < PROMPT.md | conclave exit-check - PLAN.md --git --run 1
  conclave exit-check response.md --tests 'cargo test' --max-turns 20
  conclave exit-check history --limit 5"
)]
pub struct Args {
    #[command(subcommand)]
    action: Option<ExitCheckAction>,

    #[command(flatten)]
    check: check::CheckArgs,
}

#[derive(Debug, Subcommand)]
enum ExitCheckAction {
    State(state::Args),
    History(history::Args),
    Reset(reset::Args),
}

impl Args {
    pub(crate) fn verbosity(&self) -> Verbosity {
        match &self.action {
            None => self.check.verbosity(),
            Some(_) => Verbosity::Normal,
        }
    }
}

pub(crate) fn run(
    args: &Args,
    environment: &Environment,
    printer: &Printer,
) -> Result<Exit, Error> {
    match &args.action {
        None => check::run(&args.check, environment, printer),
        Some(ExitCheckAction::State(args)) => state::run(args, printer),
        Some(ExitCheckAction::History(args)) => history::run(args, printer),
        Some(ExitCheckAction::Reset(args)) => reset::run(args, printer),
    }
}
