//! `conclave worker`: takes the jobs of a fleet.

use super::ServerArg;
use crate::commands::face::seed;
use crate::commands::{App, cannot_start};
use crate::engine::{host, interrupts};
use crate::error::{Error, Exit};
use crate::session::fleet::worker::{self, WorkerOptions};
use crate::setup::plan::Planner;

/// Take part in a fleet: hold consultations that others submit, with the keys of this machine
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A worker can be ended at any moment: others continue what it had in work from its journals, and
nothing that was paid is asked again. The first Ctrl-C lets the calls in flight end, the second
drops them.

Examples:
  conclave worker nats://fleet.example:4222 --jobs 8
  conclave worker --drain      with the address in CONCLAVE_FLEET, as one of many in a cluster")]
pub(crate) struct Args {
    #[command(flatten)]
    server: ServerArg,

    /// Hold this many consultations at once [default: 4]
    #[arg(
        short,
        long,
        value_name = "N",
        default_value_t = 4,
        hide_default_value = true,
        value_parser = clap::value_parser!(u32).range(1..=1000)
    )]
    jobs: u32,

    /// End when no job is left
    #[arg(long)]
    drain: bool,

    /// Print only warnings and errors
    #[arg(short, long, conflicts_with = "verbose")]
    quiet: bool,

    /// Print a line for each job
    #[arg(short, long)]
    verbose: bool,
}

pub(crate) fn run(args: &Args, app: App<'_>) -> Result<Exit, Error> {
    let fleet = args.server.connect(app)?;
    let planner = Planner::new(app.environment, app.printer, app.clock.now())?;
    let options = WorkerOptions {
        name: ulid::Ulid::generate().to_string().to_ascii_lowercase(),
        jobs: usize::try_from(args.jobs).unwrap_or(usize::MAX),
        drains: args.drain,
        seed: seed(),
    };
    app.printer
        .note(&format!("Worker {} of {}", options.name, fleet.address));
    let runtime = host::runtime_for_many().map_err(cannot_start)?;
    let report = runtime.block_on(async {
        let screen = app.printer.clone();
        let interrupts = interrupts::listen(2, Exit::Interrupted.code(), move || {
            screen.restore_terminal();
        });
        let interrupts = interrupts.map_err(cannot_start)?;
        let work = worker::work(&planner, &fleet.link, &options, app.clock, interrupts);
        Box::pin(work).await
    });
    runtime.shutdown_background();
    let report = report?;
    app.printer.note(&report);
    Ok(Exit::Answer)
}
