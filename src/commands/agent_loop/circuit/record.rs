//! `conclave circuit record`: counts a turn that exit-check does not see.

use clap::ArgGroup;

use crate::agent_loop::settings::LoopSettings;
use crate::agent_loop::store::fresh_run;
use crate::commands::agent_loop::masking::UnmaskedTexts;
use crate::commands::agent_loop::{LoopFlags, masking, recorded, settings};
use crate::config::env::Environment;
use crate::engine::clock::Clock;
use crate::error::{Error, Exit};
use crate::stopping::exit_check::breaker::TurnProgress;
use crate::stopping::exit_check::event::{CircuitRecord, LoopEvent, LoopEventKind};
use crate::stopping::exit_check::evidence::{ErrorSignature, TurnEvidence};
use crate::terminal::output::printer::Printer;

/// Record a turn that exit-check does not see
#[derive(Debug, clap::Args)]
#[command(group = ArgGroup::new("outcome").args(["progress", "no_progress", "error"]).required(true).multiple(true))]
pub(super) struct Args {
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
    run: LoopFlags,

    /// Write JSON; its schema is schemas/circuit.schema.json
    #[arg(long)]
    json: bool,
}

impl Args {
    fn turn_progress(&self) -> TurnProgress {
        match (self.progress, self.no_progress) {
            (true, _) => TurnProgress::Made,
            (false, true) => TurnProgress::None,
            (false, false) => TurnProgress::Unknown,
        }
    }
}

pub(super) fn run(
    args: &Args,
    environment: &Environment,
    printer: &Printer,
) -> Result<Exit, Error> {
    let store = args.run.folder.open()?;
    let file = LoopSettings::find(store.folder().path()).map_err(Error::usage)?;
    let settings = settings::of_file(&file)?;
    let mut evidence = TurnEvidence {
        errors: args.error.iter().cloned().map(ErrorSignature).collect(),
        ..TurnEvidence::default()
    };
    masking::mask(&mut evidence, UnmaskedTexts::default(), environment)?;
    let clock = Clock::system();
    let update = store.update(|state| {
        // Under the lock, so that the log is in the order of time.
        let now = clock.now();
        let run = state.next_run(args.run.run.as_deref(), now, || fresh_run(now));
        let record = CircuitRecord {
            run,
            progress: args.turn_progress(),
            errors: evidence.errors,
            settings,
        };
        LoopEvent::new(now, LoopEventKind::CircuitRecord(record))
    });
    let state = recorded(update, printer)?.state;
    let now = clock.now();
    super::print(
        &super::report(state.current(), now),
        args.json,
        now,
        printer,
    )?;
    Ok(Exit::Answer)
}
