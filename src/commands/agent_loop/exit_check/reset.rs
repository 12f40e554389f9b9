//! `conclave exit-check reset`: forgets the state of the loop.

use crate::commands::agent_loop::{StateFolderFlag, recorded};
use crate::engine::clock::Clock;
use crate::error::{Error, Exit};
use crate::terminal::output::printer::Printer;
use crate::terminal::tables::exit_state::ExitStateReport;

/// Forget all runs and totals, and close the circuit; the log stays
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    folder: StateFolderFlag,

    #[arg(
        long,
        help = "Write JSON; its schema is schemas/exit_state.schema.json"
    )]
    json: bool,
}

pub(super) fn run(args: &Args, printer: &Printer) -> Result<Exit, Error> {
    let store = args.folder.open()?;
    let now = Clock::system().now();
    let reset = store.reset(now).transpose();
    let reset = reset.map(|update| recorded(update, printer)).transpose()?;
    if args.json {
        let folder = store.folder().path().display().to_string();
        let totals = reset.map(|update| update.state.totals).unwrap_or_default();
        let report = ExitStateReport::new(folder, None, totals, now);
        printer.json(&report).map_err(Error::failed)?;
        return Ok(Exit::Answer);
    }
    let message = match reset {
        Some(_) => "Reset: the next check begins a new run.\n",
        None => "There was nothing to reset.\n",
    };
    printer.result(message).map_err(Error::failed)?;
    Ok(Exit::Answer)
}
