//! `conclave circuit`: the circuit breaker of an agent's loop.

use clap::{ArgGroup, Subcommand};

use super::{LoopReportFlags, UnmaskedTexts, mask, recorded, with_flags};
use crate::agent_loop::settings::LoopSettings;
use crate::commands::App;
use crate::domain::time::Timestamp;
use crate::error::{Error, Exit};
use crate::stopping::exit_check::breaker::{BreakerState, TurnProgress};
use crate::stopping::exit_check::event::{CircuitRecord, ExitPolicy, LoopEvent, LoopEventKind};
use crate::stopping::exit_check::evidence::{ErrorSignature, TurnEvidence};
use crate::stopping::exit_check::run_state::LoopRun;
use crate::terminal::tables::circuit::{CircuitReport, screen, state_of};

/// Show, feed and close the circuit breaker of an agent's loop
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The circuit opens after 3 turns in a row without progress, or 5 with the same error. Half an hour
later it lets one turn probe: with progress the circuit closes, without progress it opens again.
exit-check records its turns itself, halts on an open circuit, and at the third turn in a row with
the same error. A configuration changes these numbers.

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
    /// Show the circuit; exit code 12 when it is open
    Status(LoopReportFlags),
    Record(RecordArgs),
    /// Close the circuit, and forget what it counted
    Reset(LoopReportFlags),
}

/// Record a turn that exit-check does not see
#[derive(Debug, clap::Args)]
#[command(group = ArgGroup::new("outcome").args(["progress", "no_progress", "error"]).required(true).multiple(true))]
struct RecordArgs {
    /// The turn made progress
    #[arg(long, conflicts_with = "no_progress")]
    progress: bool,

    /// The turn made no progress; without either flag, it is unknown
    #[arg(long)]
    no_progress: bool,

    /// An error of the turn, the same text for the same error; repeat for more
    #[arg(long, value_name = "TEXT")]
    error: Vec<String>,

    #[command(flatten)]
    report: LoopReportFlags,
}

pub(crate) fn run(args: &Args, app: App<'_>) -> Result<Exit, Error> {
    match &args.action {
        CircuitAction::Status(args) => status(args, app),
        CircuitAction::Record(args) => record(args, app),
        CircuitAction::Reset(args) => reset(args, app),
    }
}

fn status(args: &LoopReportFlags, app: App<'_>) -> Result<Exit, Error> {
    let store = args.run.folder.open()?;
    let now = app.clock.now();
    let state = store.load_at(now)?;
    let report = print(args.run.of(&state), args.json, now, app)?;
    Ok(match report.circuit {
        BreakerState::Open { .. } => Exit::Halted,
        BreakerState::Closed { .. } | BreakerState::HalfOpen { .. } => Exit::Answer,
    })
}

fn record(args: &RecordArgs, app: App<'_>) -> Result<Exit, Error> {
    let store = args.report.run.folder.open()?;
    let file = LoopSettings::find(&store.path).map_err(Error::usage)?;
    let settings = with_flags(&file, ExitPolicy::default(), &[])?;
    let progress = match (args.progress, args.no_progress) {
        (true, _) => TurnProgress::Made,
        (false, true) => TurnProgress::None,
        (false, false) => TurnProgress::Unknown,
    };
    let mut evidence = TurnEvidence {
        errors: args.error.iter().cloned().map(ErrorSignature).collect(),
        ..TurnEvidence::default()
    };
    mask(&mut evidence, UnmaskedTexts::default(), app.environment)?;
    let clock = app.clock;
    let update = store.update(|state| {
        // Under the lock, so that the log is in the order of time.
        let now = clock.now();
        let run = state.next_run(args.report.run.run.as_deref(), now);
        let record = CircuitRecord {
            run,
            progress,
            errors: evidence.errors,
            settings,
        };
        LoopEvent::new(now, LoopEventKind::CircuitRecord(record))
    });
    let state = recorded(update, app.printer)?.state;
    print(state.current(), args.report.json, clock.now(), app)?;
    Ok(Exit::Answer)
}

fn reset(args: &LoopReportFlags, app: App<'_>) -> Result<Exit, Error> {
    let store = args.run.folder.open()?;
    let now = app.clock.now();
    let mut state = store.load()?;
    let run = args.run.of(&state).map(|run| run.run.clone());
    if let Some(run) = run.clone() {
        let reset = LoopEvent::new(now, LoopEventKind::CircuitReset { run });
        state = recorded(store.update(|_| reset), app.printer)?.state;
    } else {
        app.printer.note("There is no circuit to reset.");
    }
    let run = run.and_then(|run| state.run(&run.id));
    print(run, args.json, now, app)?;
    Ok(Exit::Answer)
}

fn print(
    run: Option<&LoopRun>,
    is_json: bool,
    now: Timestamp,
    app: App<'_>,
) -> Result<CircuitReport, Error> {
    let report = CircuitReport {
        schema_version: "1.0",
        run: run.map(|run| run.run.id.clone()),
        circuit: state_of(run, now),
    };
    app.print(is_json, &report, |width, paint| {
        screen(&report, now, &(app.zone)(), width, paint)
    })?;
    Ok(report)
}
