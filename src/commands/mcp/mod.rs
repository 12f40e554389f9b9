//! `conclave mcp`: a panel for agents, as a server of the Model Context Protocol over standard
//! input and output.

mod input;
mod phase;
mod view;
mod answers;
mod host;
mod request;
mod other;
mod server;

use std::io::{IsTerminal as _, stdin};
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::time::Duration;
use std::{env, fs};

use rmcp::ServiceExt;
use tokio::io::AsyncReadExt as _;
use tokio::sync::oneshot;
use tokio::time::timeout;

use self::answers::tools;
use self::host::Host;
use self::input::InputEnd;
use self::server::Server;
use super::face::seed;
use super::flags::dollars;
use super::{App, cannot_start};
use crate::config::env::Environment;
use crate::domain::cost::money::MicroUsd;
use crate::engine::dispatcher::Dispatcher;
use crate::engine::dispatcher::pool::PoolRules;
use crate::engine::host::runtime_for_many;
use crate::engine::interrupts;
use crate::engine::ports::{BoxFuture, Confirmation, Face, LongWork, WorkProgress};
use crate::error::{Error, Exit};
use crate::session::index::{IndexQueue, RebuildTime};
use crate::setup::personas::PersonaRegistry;
use crate::setup::{personas, settings};
use crate::terminal::output::printer::Printer;

/// The longest time for answers that are under way when the client ends.
const LAST_ANSWERS: Duration = Duration::from_secs(1);

/// Serve agents over the Model Context Protocol, on standard input and output
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  conclave mcp --print-config claude
  conclave mcp --max-cost 5
  conclave mcp --folder ~/work/shop --folder ~/work/docs

Tools: consult, consultation, history_search, models, exit_check. How each client is set up, and \
after what time it cuts a call: docs/agents.md.")]
pub struct Args {
    /// Spend at most this on all consultations of this server
    #[arg(long, value_name = "USD", value_parser = dollars)]
    max_cost: Option<MicroUsd>,

    /// A folder whose files agents may send as context; repeat it for more [default: the project
    /// it is started in, and the client's roots]
    #[arg(long, value_name = "DIR")]
    folder: Vec<PathBuf>,

    /// Let agents send no files, only text
    #[arg(long, conflicts_with = "folder")]
    no_files: bool,

    /// Answer a call after this time at the latest, with the id of the consultation that goes on
    /// [default: 50, or 240 where the client shows progress]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    wait: Option<u64>,

    /// Print the lines that set up this client, and exit
    #[arg(long, value_name = "CLIENT", value_parser = ["claude", "codex", "vscode", "cursor", "zed"])]
    print_config: Option<String>,
}

pub(crate) fn run(args: &Args, app: App<'_>) -> Result<(), Error> {
    if let Some(client) = &args.print_config {
        return Ok(app.printer.result(lines_of(client))?);
    }
    let home = app.home()?;
    let takes_roots = !args.no_files && args.folder.is_empty();
    let folders = folders(args, app.environment)?;
    let known = settings::load(&home, app.environment)?;
    let registry = PersonaRegistry::new(&personas::templates(&home)?, &known)?;
    let ids: Vec<_> = registry
        .personas()
        .into_iter()
        .map(|persona| persona.id)
        .collect();
    let mut places: Vec<_> = folders.iter().map(|it| it.display().to_string()).collect();
    places.extend(takes_roots.then(|| "the client's roots".to_owned()));
    let readable = match places.as_slice() {
        [] => "none; this server reads no files".to_owned(),
        places => format!("those in {}", places.join(", ")),
    };
    let tools = tools(&ids.join(", "), &readable)?;
    let mut interrupts =
        interrupts::listen(1, Exit::Interrupted.code(), || {}).map_err(cannot_start)?;
    if stdin().is_terminal() {
        app.printer.note(
            "Waiting for an agent's program on standard input; `conclave mcp --print-config claude` \
             prints how to set one up.",
        );
    }
    let index = IndexQueue::start(&home, app.clock.now());
    let dispatcher = Dispatcher::new(app.clock, PoolRules::seeded(seed()));
    let runtime = runtime_for_many().map_err(cannot_start)?;
    let served = runtime.block_on(async {
        let host = Host::new(
            (app.environment.clone(), home.clone()),
            Box::new(QuietFace(app.printer.clone())),
            app.clock,
            (folders, takes_roots),
            args.max_cost,
            (dispatcher, index.sender()),
        );
        let server = Server::new(host, tools, args.wait.map(Duration::from_secs));
        let host = server.host.clone();
        // Without a client that begins a session there is nothing to serve.
        let (end, ended) = oneshot::channel();
        let (input, output) = rmcp::transport::stdio();
        let input = input.chain(InputEnd(Some(end)));
        let session = async {
            match Box::pin(server.serve((input, output))).await {
                Ok(service) => service.waiting().await.map(drop).map_err(Error::failed),
                Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => Ok(()),
                Err(error) => Err(Error::failed(error)),
            }
        };
        let mut session = pin!(session);
        let end = tokio::select! {
            end = &mut session => end,
            // Clients end a server with a signal too.
            Some(()) = interrupts.recv() => Ok(()),
            _ = ended => {
                let answers = timeout(LAST_ANSWERS, session);
                tokio::join!(host.end(), answers).1.unwrap_or(Ok(()))
            }
        };
        host.end().await;
        end
    });
    // A read of standard input may still be under way.
    runtime.shutdown_background();
    index.finish(RebuildTime::Later, app.printer);
    served
}

fn folders(args: &Args, environment: &Environment) -> Result<Vec<PathBuf>, Error> {
    if args.no_files {
        return Ok(Vec::new());
    }
    let mut folders = args.folder.clone();
    if folders.is_empty() {
        let current = env::current_dir().ok();
        folders.extend(current.filter(|folder| is_project(folder, environment)));
    }
    let resolved = folders.into_iter().map(|folder| {
        let resolved = fs::canonicalize(&folder)
            .ok()
            .filter(|folder| folder.is_dir());
        resolved.ok_or_else(|| Error::usage(format!("`{}` is no folder", folder.display())))
    });
    resolved.collect()
}

/// Clients that work in no project name `/` or the home folder, where keys lie.
fn is_project(folder: &Path, environment: &Environment) -> bool {
    let home = environment.path("HOME").map(fs::canonicalize);
    let is_home = matches!(home, Some(Ok(home)) if home.starts_with(folder));
    !is_home && folder != Path::new("/")
}

/// The table has a client's lines between its name and the next.
fn lines_of(client: &str) -> &'static str {
    let table = include_str!("clients.txt");
    let mut clients = table.split("=== ");
    let found = clients.find_map(|entry| entry.strip_prefix(client)?.strip_prefix('\n'));
    found.unwrap_or_default()
}

/// Says what there is to say on standard error, and has no person to ask.
#[derive(Debug)]
struct QuietFace(Printer);

impl Face for QuietFace {
    fn note(&self, line: &str) {
        self.0.detail(line);
    }

    fn detail(&self, line: &str) {
        self.0.detail(line);
    }

    fn warning(&self, line: &str) {
        self.0.warning(line);
    }

    fn lines(&self, text: &str) {
        self.0.lines(text);
    }

    fn begin(&self, _: LongWork) -> Box<dyn WorkProgress> {
        Box::new(NoProgress)
    }

    fn confirm<'a>(&'a self, _: Vec<String>, _: &'a str) -> BoxFuture<'a, Confirmation> {
        Box::pin(async { Confirmation::NoPerson })
    }
}

#[derive(Debug)]
struct NoProgress;

impl WorkProgress for NoProgress {
    fn step(&mut self, _: &str) {}

    fn at(&mut self, _: u64, _: u64) {}
}
