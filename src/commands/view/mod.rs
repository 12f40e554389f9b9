//! `conclave view`: past and running consultations in the browser. It serves pages of this home to
//! one person on this machine, and only reads: no key, no question, nothing that is paid for.
//!
//! `gate` lets this person's browser in, `connections` bounds what a client may take, `site` has
//! what all pages are made from, `running` what the journals of running consultations tell, `runs`
//! what the logs of benchmarks do, `live` follows what changes. Every other module is a page, a function from a request to the parts of a
//! document; `router` has their table.

mod gate;
mod connections;
mod running;
mod runs;
mod site;
mod live;
mod list;
mod consultation;
mod pages;
mod router;

use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use self::gate::Gate;
use self::router::router;
use self::site::Site;
use super::flags::span_in;
use super::history::consult_stats::targets;
use super::{App, to_end};
use crate::error::Error;
use crate::setup::settings;
use crate::terminal::browser::open_page;

/// Look at past and running consultations in the browser
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
The server answers this machine alone, and only a browser that was opened with its address, which \
holds a token. It asks nothing and spends nothing. Ctrl-C ends it.

Examples:
  conclave view
  conclave view --port 8080 --no-open --idle 8h")]
pub struct Args {
    /// Listen on this port of 127.0.0.1 [default: a free one]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    port: u16,

    /// Print the address, and open no browser
    #[arg(long)]
    no_open: bool,

    /// End when no page was looked at for this time: seconds (90s), minutes (30m) or hours (8h)
    #[arg(long, value_name = "TIME", value_parser = idle_time, default_value = "30m")]
    idle: Duration,
}

fn idle_time(text: &str) -> Result<Duration, String> {
    span_in(&[("s", 1), ("m", 60), ("h", 3600)], text)
        .filter(|idle| !idle.is_zero())
        .ok_or_else(|| "must be seconds, minutes or hours: 90s, 30m, 8h".to_owned())
}

pub(crate) fn run(args: &Args, app: App<'_>) -> Result<(), Error> {
    let home = app.home()?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, args.port)).and_then(|listener| {
        listener.set_nonblocking(true)?;
        Ok((listener.local_addr()?.port(), listener))
    });
    let (port, listener) = listener.map_err(|error| {
        Error::caused(format!("cannot listen on port {}", args.port), error)
            .hint("leave out `--port` to take a free one")
    })?;
    let gate = Gate::new(port).map_err(Error::failed)?;
    app.printer
        .result(&format!("{}\n", gate.printed_address()))?;
    if !args.no_open {
        let browser = app.environment.text("BROWSER").unwrap_or_default();
        if !open_page(Path::new(&gate.opened_address()), browser) {
            let warning = "no browser could be started: open the address yourself, or set BROWSER";
            app.printer.warning(warning);
        }
    }
    app.printer
        .note("Only this address lets a browser in. Ctrl-C ends the server.");
    let face = app.printer.clone();
    // Settings that cannot be read do not keep a person from looking.
    let settings = settings::load_own(&home, app.environment).unwrap_or_default();
    let site = Site::new(
        home,
        face,
        app.clock,
        (app.zone)(),
        targets(&settings),
        gate,
    );
    let active = site.active.subscribe();
    let served = async {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        connections::serve(listener, router(Arc::new(site)), args.idle, active).await;
        Ok(())
    };
    // Ctrl-C is the usual end.
    let served: Option<std::io::Result<()>> = to_end(|| (), served)?;
    served.unwrap_or(Ok(())).map_err(Error::failed)
}
