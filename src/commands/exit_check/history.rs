//! `conclave exit-check history`: shows the decisions of the loop.

use crate::commands::agent_loop::LoopFlags;
use crate::error::{Error, Exit};
use crate::terminal::output::printer::Printer;

/// Show the decisions of the loop
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    run: LoopFlags,
}

pub(super) fn run(args: &Args, _: &Printer) -> Result<Exit, Error> {
    let _ = &args.run.run;
    Err(Error::failed("there is no state yet"))
}
