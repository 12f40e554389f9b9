//! `conclave circuit`: the circuit breaker of an agent's loop.

use clap::Subcommand;

use crate::commands::agent_loop::LoopFlags;
use crate::config::env::Environment;
use crate::error::{Error, Exit};
use crate::terminal::output::printer::Printer;

/// Show, feed and close the circuit breaker of an agent's loop
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    action: CircuitAction,
}

#[derive(Debug, Subcommand)]
enum CircuitAction {
    /// Show the circuit; exit code 12 when it is open
    Status(LoopFlags),
    /// Record a turn that exit-check does not see
    Record(LoopFlags),
    /// Close the circuit
    Reset(LoopFlags),
}

pub(crate) fn run(args: &Args, _: &Environment, _: &Printer) -> Result<Exit, Error> {
    let _ = &args.action;
    Err(Error::failed("there is no circuit yet"))
}
