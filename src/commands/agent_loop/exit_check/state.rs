//! `conclave exit-check state`: shows the state of the loop.

use jiff::tz::TimeZone;

use crate::commands::agent_loop::{LoopFlags, unusable};
use crate::engine::clock::Clock;
use crate::error::{Error, Exit};
use crate::terminal::output::printer::Printer;
use crate::terminal::tables::exit_state::{ExitStateReport, screen};

/// Show the state of the loop: the last decision, the circuit, and what repeats
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    run: LoopFlags,

    #[arg(
        long,
        help = "Write JSON; its schema is schemas/exit_state.schema.json"
    )]
    json: bool,
}

pub(super) fn run(args: &Args, printer: &Printer) -> Result<Exit, Error> {
    let store = args.run.folder.open()?;
    let now = Clock::system().now();
    let state = store.load_at(now).map_err(unusable)?;
    let folder = store.folder().path().display().to_string();
    let run = args.run.of(&state);
    let report = ExitStateReport::new(folder, run, state.totals.clone(), now);
    if args.json {
        printer.json(&report).map_err(Error::failed)?;
        return Ok(Exit::Answer);
    }
    let face = printer.out_traits();
    let width = face.is_terminal.then_some(face.width);
    let text = screen(&report, now, &TimeZone::system(), width, face.paint);
    printer.result(&text).map_err(Error::failed)?;
    Ok(Exit::Answer)
}
