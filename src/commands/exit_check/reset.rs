//! `conclave exit-check reset`: forgets the state of the loop.

use crate::commands::agent_loop::LoopFlags;
use crate::error::{Error, Exit};
use crate::terminal::output::printer::Printer;

/// Begin a new run and close the circuit
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    run: LoopFlags,
}

pub(super) fn run(args: &Args, _: &Printer) -> Result<Exit, Error> {
    let _ = &args.run.run;
    Err(Error::failed("there is no state yet"))
}
