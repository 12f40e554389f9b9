//! `conclave exit-check`: decides after each turn of an agent's loop whether the loop may stop. The
//! sub-commands show and reset what is kept between the turns.

mod check;

use clap::Subcommand;

use super::{LoopReportFlags, StateFolderFlag, recorded};
use crate::agent_loop::store::{Store, StoreError};
use crate::commands::App;
use crate::error::{Error, Exit, whole};
use crate::files::log::LogError;
use crate::stopping::exit_check::event::LoopEvent;
use crate::terminal::output::printer::Printer;
use crate::terminal::tables::exit_state::{ExitHistory, ExitStateReport, history_screen, screen};

/// Most events that are listed by default.
const DEFAULT_LIMIT: u64 = 20;

/// Decide after each turn of an agent's loop whether the loop may stop
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Reads the agent's last response and the checklist, prints the decision, and keeps it with every rule
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
    /// The check itself, as the original script names it
    #[command(hide = true)]
    Check(Box<check::CheckArgs>),
    /// Show the state of the loop: the last decision, the circuit, and what repeats
    State(LoopReportFlags),
    History(HistoryArgs),
    Reset(ResetArgs),
}

/// Show the decisions of the loop, newest first
#[derive(Debug, clap::Args)]
struct HistoryArgs {
    #[command(flatten)]
    report: LoopReportFlags,

    /// List at most this many
    #[arg(
        short = 'n',
        long,
        value_name = "N",
        default_value_t = DEFAULT_LIMIT,
        value_parser = clap::value_parser!(u64).range(1..)
    )]
    limit: u64,
}

/// Forget all runs and totals, and close the circuit; the log stays
#[derive(Debug, clap::Args)]
struct ResetArgs {
    #[command(flatten)]
    folder: StateFolderFlag,

    /// Write JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, app: App<'_>) -> Result<Exit, Error> {
    match &args.action {
        None => return check::run(&args.check, app),
        Some(ExitCheckAction::Check(args)) => return check::run(args, app),
        Some(ExitCheckAction::State(args)) => state(args, app),
        Some(ExitCheckAction::History(args)) => history(args, app),
        Some(ExitCheckAction::Reset(args)) => reset(args, app),
    }?;
    Ok(Exit::Answer)
}

fn state(args: &LoopReportFlags, app: App<'_>) -> Result<(), Error> {
    let store = args.run.folder.open()?;
    let now = app.clock.now();
    let state = store.load_at(now)?;
    let folder = store.path.display().to_string();
    let report = ExitStateReport::new(folder, args.run.of(&state), state.totals.clone(), now);
    app.print(args.json, &report, |width, paint| {
        screen(&report, now, &(app.zone)(), width, paint)
    })
}

fn history(args: &HistoryArgs, app: App<'_>) -> Result<(), Error> {
    let store = args.report.run.folder.open()?;
    let events = events(args, &store, app.printer)?;
    let history = ExitHistory::new(&events);
    if history.events.is_empty() && !args.report.json {
        app.printer.lines("No decisions yet.");
        return Ok(());
    }
    let now = app.clock.now();
    app.print(args.report.json, &history, |width, paint| {
        history_screen(&history, now, &(app.zone)(), width, paint)
    })
}

/// Damaged lines are left out with a warning.
fn events(
    args: &HistoryArgs,
    store: &Store,
    printer: &Printer,
) -> Result<Vec<LoopEvent>, StoreError> {
    let limit = usize::try_from(args.limit).unwrap_or(usize::MAX);
    let of_run = |event: &LoopEvent| match &args.report.run.run {
        Some(name) => event.run().is_some_and(|run| run.id.0 == *name),
        None => true,
    };
    let mut events = Vec::new();
    for event in store.history()?.into_iter().rev() {
        match event {
            Ok(event) if of_run(&event) => events.push(event),
            Ok(_) => {}
            Err(error @ LogError::DamagedLine { .. }) => {
                printer.warning(&format!("⚠ {}", whole(&error)));
            }
            Err(error) => return Err(error.into()),
        }
        if events.len() == limit {
            break;
        }
    }
    Ok(events)
}

fn reset(args: &ResetArgs, app: App<'_>) -> Result<(), Error> {
    let store = args.folder.open()?;
    let now = app.clock.now();
    let reset = store.reset(now).transpose();
    let reset = reset
        .map(|update| recorded(update, app.printer))
        .transpose()?;
    let message = match reset {
        Some(_) => "Reset: the next check begins a new run.\n",
        None => "There was nothing to reset.\n",
    };
    let folder = store.path.display().to_string();
    let totals = reset.map(|update| update.state.totals).unwrap_or_default();
    let report = ExitStateReport::new(folder, None, totals, now);
    app.print(args.json, &report, |_, _| message.to_owned())
}
