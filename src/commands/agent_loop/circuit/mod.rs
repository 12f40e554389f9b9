//! `conclave circuit`: the circuit breaker of an agent's loop.

mod record;

use clap::Subcommand;
use jiff::tz::TimeZone;

use crate::agent_loop::store::Store;
use crate::commands::agent_loop::{LoopFlags, recorded, unusable};
use crate::config::env::Environment;
use crate::domain::time::Timestamp;
use crate::engine::clock::Clock;
use crate::error::{Error, Exit};
use crate::stopping::exit_check::event::{LoopEvent, LoopEventKind};
use crate::stopping::exit_check::run::RunRef;
use crate::stopping::exit_check::run_state::RunState;
use crate::stopping::exit_check::state::LoopState;
use crate::terminal::output::printer::Printer;
use crate::terminal::tables::circuit::{CircuitReport, screen};

/// Show, feed and close the circuit breaker of an agent's loop
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The circuit opens after 3 turns in a row without progress, or 5 with the same error. Half an hour
later it lets one turn probe: progress closes it, none opens it again. exit-check records its turns
itself and halts on an open circuit.

Exit codes:
  0    closed or half-open: a turn may begin
  12   status: open
  2    the command line or the configuration is wrong
  1    the state cannot be read or written

Examples:
  conclave circuit status --json
  conclave circuit record --no-progress --error \"connection refused\"
  conclave circuit reset")]
pub struct Args {
    #[command(subcommand)]
    action: CircuitAction,
}

#[derive(Debug, Subcommand)]
enum CircuitAction {
    Status(StatusArgs),
    Record(record::Args),
    Reset(ResetArgs),
}

/// Show the circuit; exit code 12 when it is open
#[derive(Debug, clap::Args)]
struct StatusArgs {
    #[command(flatten)]
    run: LoopFlags,

    /// Write JSON; its schema is schemas/circuit.schema.json
    #[arg(long)]
    json: bool,
}

/// Close the circuit, and forget what it counted
#[derive(Debug, clap::Args)]
struct ResetArgs {
    #[command(flatten)]
    run: LoopFlags,

    /// Write JSON; its schema is schemas/circuit.schema.json
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(
    args: &Args,
    environment: &Environment,
    printer: &Printer,
) -> Result<Exit, Error> {
    match &args.action {
        CircuitAction::Status(args) => status(args, printer),
        CircuitAction::Record(args) => record::run(args, environment, printer),
        CircuitAction::Reset(args) => reset(args, printer),
    }
}

fn status(args: &StatusArgs, printer: &Printer) -> Result<Exit, Error> {
    let store = args.run.folder.open()?;
    let now = Clock::system().now();
    let state = store.load_at(now).map_err(unusable)?;
    let report = report(args.run.of(&state), now);
    print(&report, args.json, now, printer)?;
    Ok(if report.circuit.is_open() {
        Exit::Halted
    } else {
        Exit::Answer
    })
}

fn reset(args: &ResetArgs, printer: &Printer) -> Result<Exit, Error> {
    let store = args.run.folder.open()?;
    let now = Clock::system().now();
    let state = store.load().map_err(unusable)?;
    let run = args.run.of(&state);
    if run.is_none() {
        printer.note("There is no circuit to reset.");
    }
    let closed = run.map(|run| close(&store, &run.run, now, printer));
    print(
        &report(closed.transpose()?.as_ref(), now),
        args.json,
        now,
        printer,
    )?;
    Ok(Exit::Answer)
}

fn close(
    store: &Store,
    run: &RunRef,
    now: Timestamp,
    printer: &Printer,
) -> Result<RunState, Error> {
    let reset = LoopEventKind::CircuitReset { run: run.clone() };
    let update = store.update(|_| LoopEvent::new(now, reset));
    let state = recorded(update, printer)?.state;
    recorded_run(&state, run)
}

/// Returns the run that was just recorded.
fn recorded_run(state: &LoopState, run: &RunRef) -> Result<RunState, Error> {
    let run = state.run(&run.id).cloned();
    run.ok_or_else(|| Error::failed("the state does not have what was recorded"))
}

fn report(run: Option<&RunState>, now: Timestamp) -> CircuitReport {
    CircuitReport::new(run.map(|run| (run.run.id.clone(), run.breaker.state(now))))
}

fn print(
    report: &CircuitReport,
    json: bool,
    now: Timestamp,
    printer: &Printer,
) -> Result<(), Error> {
    if json {
        return printer.json(report).map_err(Error::failed);
    }
    let face = printer.out_traits();
    let width = face.is_terminal.then_some(face.width);
    let text = screen(report, now, &TimeZone::system(), width, face.paint);
    printer.result(&text).map_err(Error::failed)
}
