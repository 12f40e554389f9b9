//! `conclave fleet` and `conclave worker`: what a fleet does, and taking part in it.

pub(crate) mod worker;
mod status;

use clap::Subcommand;

use crate::commands::flags::JsonFlags;
use crate::commands::flags::fleet_address::connect;
use crate::commands::{App, block_on};
use crate::error::Error;
use crate::fleet::queue::cancel;
use crate::records::lookup::LookupError;
use crate::session::fleet::run::Fleet;
use crate::session::fleet::status::FleetStatus;

/// Show what a fleet does, or cancel a run in it
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    action: FleetAction,
}

#[derive(Debug, Subcommand)]
enum FleetAction {
    Status(StatusArgs),
    Cancel(CancelArgs),
}

/// Show the runs of a fleet, their money, the workers, their calls, and who may not be asked now
#[derive(Debug, clap::Args)]
#[command(mut_arg("json", |arg| arg.help("Print JSON; its schema is schemas/fleet_status.schema.json")))]
struct StatusArgs {
    #[command(flatten)]
    server: ServerArg,

    #[command(flatten)]
    json: JsonFlags,
}

/// Cancel a run: workers stop its calls, and its journals stay, so that it can be resumed
#[derive(Debug, clap::Args)]
struct CancelArgs {
    /// The run: its id, or the beginning of it
    #[arg(value_name = "RUN")]
    run: String,

    #[command(flatten)]
    server: ServerArg,
}

/// The server of a fleet.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct ServerArg {
    /// The fleet's NATS server, such as `nats://HOST:4222` [default: `CONCLAVE_FLEET`]
    #[arg(value_name = "URL")]
    url: Option<String>,
}

pub(crate) fn run(args: &Args, app: App<'_>) -> Result<(), Error> {
    match &args.action {
        FleetAction::Status(args) => {
            let fleet = args.server.connect(app)?;
            let now = app.clock.now();
            let status = block_on(FleetStatus::read(&fleet.link, now))?;
            let status = status.map_err(Error::failed)?;
            app.print(args.json.is_json(), &status, |_, _| status::lines(&status))
        }
        FleetAction::Cancel(args) => {
            let fleet = args.server.connect(app)?;
            let run = fleet.find(&args.run)?.map_err(|error| {
                let name = &args.run;
                Error::usage(match error {
                    LookupError::NotFound => format!("the fleet has no run `{name}`"),
                    LookupError::Ambiguous(_) => format!("`{name}` could be several runs"),
                })
                .hint("see its runs with `conclave fleet status`")
            })?;
            block_on(cancel(&fleet.link, &run))?.map_err(Error::failed)?;
            app.printer.note(&format!(
                "{run} is cancelled; the command that began it resumes it"
            ));
            Ok(())
        }
    }
}

impl ServerArg {
    pub(crate) fn connect(&self, app: App<'_>) -> Result<Fleet, Error> {
        connect(self.url.as_deref(), app)?.ok_or_else(|| {
            Error::usage("no fleet is named")
                .hint("name its NATS server: `nats://HOST:4222`, or in CONCLAVE_FLEET")
        })
    }
}
