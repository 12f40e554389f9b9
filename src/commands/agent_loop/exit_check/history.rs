//! `conclave exit-check history`: shows the decisions of the loop.

use jiff::tz::TimeZone;

use crate::agent_loop::store::{Store, StoreError};
use crate::commands::agent_loop::{LoopFlags, unusable};
use crate::engine::clock::Clock;
use crate::error::{Error, Exit, whole};
use crate::stopping::exit_check::event::LoopEvent;
use crate::terminal::output::printer::Printer;
use crate::terminal::tables::exit_state::{ExitHistory, history_screen};

/// Most events that are listed by default.
const DEFAULT_LIMIT: u64 = 20;

/// Show the decisions of the loop, newest first
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    run: LoopFlags,

    /// List at most this many
    #[arg(
        short = 'n',
        long,
        value_name = "N",
        default_value_t = DEFAULT_LIMIT,
        value_parser = clap::value_parser!(u64).range(1..)
    )]
    limit: u64,

    #[arg(
        long,
        help = "Write JSON; its schema is schemas/exit_history.schema.json"
    )]
    json: bool,
}

pub(super) fn run(args: &Args, printer: &Printer) -> Result<Exit, Error> {
    let store = args.run.folder.open()?;
    let history = ExitHistory::new(&events(args, &store, printer).map_err(unusable)?);
    if args.json {
        printer.json(&history).map_err(Error::failed)?;
        return Ok(Exit::Answer);
    }
    if history.events.is_empty() {
        printer.lines("No decisions yet.");
        return Ok(Exit::Answer);
    }
    let face = printer.out_traits();
    let width = face.is_terminal.then_some(face.width);
    let now = Clock::system().now();
    let text = history_screen(&history, now, &TimeZone::system(), width, face.paint);
    printer.result(&text).map_err(Error::failed)?;
    Ok(Exit::Answer)
}

/// Returns the newest events. Damaged lines are left out with a warning.
fn events(args: &Args, store: &Store, printer: &Printer) -> Result<Vec<LoopEvent>, StoreError> {
    let limit = usize::try_from(args.limit).unwrap_or(usize::MAX);
    let mut events = Vec::new();
    for event in store.history()?.into_iter().rev() {
        match event {
            Ok(event) if is_of(&event, args.run.run.as_deref()) => events.push(event),
            Ok(_) => {}
            Err(error @ StoreError::DamagedLog { .. }) => {
                printer.warning(&format!("⚠ {}", whole(&error)));
            }
            Err(error) => return Err(error),
        }
        if events.len() == limit {
            break;
        }
    }
    Ok(events)
}

/// Returns whether an event belongs to the run of this name; without a name, every event does.
fn is_of(event: &LoopEvent, run: Option<&str>) -> bool {
    run.is_none_or(|name| event.run().is_some_and(|run| run.id.0 == name))
}
