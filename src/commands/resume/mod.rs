//! `conclave resume`: goes on with a consultation that was interrupted, from its journal alone.
//! What was answered is not asked again, and question, panel, prompts and prices are those it began
//! with, whatever has become of the files that they came from.

mod asked;
mod choosing;

use crate::commands::config;
use crate::commands::consult::flags::{ControlFlags, OutputFlags};
use crate::config::env::Environment;
use crate::config::paths::Home;
use crate::consultation::event::StateName;
use crate::consultation::machine::replay::replay;
use crate::consultation::transcript::Transcript;
use crate::engine::clock::Clock;
use crate::engine::driver::RunStart;
use crate::error::Error;
use crate::records::index::Index;
use crate::records::journal::NoLockPolicy;
use crate::session::finish;
use crate::session::index;
use crate::session::run::{Run, consent_mode};
use crate::setup::limits;
use crate::terminal::output::format::{amount, count};
use crate::terminal::output::printer::{Printer, Verbosity};
use crate::terminal::prompt::StdinUse;

use choosing::Chosen;

/// Go on with a consultation that was interrupted; only what is missing is asked
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  conclave resume
  conclave resume 01kb5x
  conclave resume last --max-cost 2.00 --yes")]
pub struct Args {
    /// The consultation: its id, a beginning of it, one of its files, or `last`; without it the
    /// newest that can be gone on with
    id: Option<String>,

    /// Go on where nothing tells whether another process is still at it: on a file system without
    /// locks
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    control: ControlFlags,

    #[command(flatten)]
    output: OutputFlags,
}

impl Args {
    pub(crate) fn verbosity(&self) -> Verbosity {
        self.output.verbosity()
    }
}

pub(crate) fn run(args: &Args, environment: &Environment, printer: &Printer) -> Result<(), Error> {
    if let Some(output) = &args.output.output {
        finish::check_output(output)?;
    }
    let home = Home::find(environment).map_err(Error::usage)?;
    let settings = config::load(&home, environment)?;
    let run = Run::prepare(&home, environment, &args.output, printer)?;
    let unlocked = if args.force {
        NoLockPolicy::Trust
    } else {
        NoLockPolicy::Refuse
    };
    // Only names are looked up in it: one that cannot be used is none.
    let known = args
        .id
        .as_ref()
        .and_then(|_| Index::open(&index::path(&home)).ok());
    let Chosen {
        id,
        events,
        keeping,
    } = choosing::choose(
        &finish::logs(&home),
        known.as_ref(),
        args.id.as_deref(),
        unlocked,
        printer,
    )?;
    let cannot =
        |why: &dyn std::fmt::Display| Error::usage(format!("cannot go on with {id}: {why}"));
    let transcript = Transcript::fold(&events)
        .ok_or_else(|| cannot(&"its journal does not begin with its beginning"))?;
    let replayed = replay(&events).map_err(|error| cannot(&error))?;

    let consent_mode = consent_mode(&args.control, printer, StdinUse::Free);
    let ended = transcript.abort.as_ref().map(|abort| abort.reason);
    let control = limits::renewed(
        replayed.consultation.plan().control.clone(),
        ended,
        &args.control,
        consent_mode,
    )?;
    let within = asked::Within {
        home: &home,
        environment,
        settings: &settings,
        printer,
        consent_mode,
    };
    let providers = within.providers(replayed.consultation.plan(), &transcript)?;
    printer.note(&announcement(&transcript));
    let (consultation, begin) = RunStart::resume(replayed, control, env!("CARGO_PKG_VERSION"));
    run.carry_out(
        (consultation, begin),
        Clock::system(),
        &providers,
        events,
        keeping,
    )
}

/// Where it goes on, what is kept, and what has been spent.
fn announcement(transcript: &Transcript) -> String {
    let id = &transcript.id;
    if transcript.state == StateName::Complete {
        return format!("{id} is complete; only its results were not written");
    }
    let round = match transcript.incomplete_rounds().first() {
        Some(round) => format!("Round {round} of {}", transcript.planned_rounds()),
        None => "all rounds are held".to_owned(),
    };
    let answered = transcript
        .calls
        .iter()
        .filter(|call| call.error.is_none())
        .count();
    let kept = if answered == 0 {
        "no call kept".to_owned()
    } else {
        format!("{} kept", count(answered, "call"))
    };
    format!(
        "Resuming {id} ({round}, {kept}, {} spent so far)",
        amount(transcript.total().cost)
    )
}
