//! `conclave resume`: continues a consultation from any interruption without repeating an answer.

mod continuation;
mod kills;
mod limits;
mod rejections;

use std::path::Path;

use conclave::consultation::event::{CallEvent, Envelope, Event};
use rustix::process::Signal;

use crate::commands::refused_unasked;
use crate::support::binary::{Conclave, RunOutput};
use crate::support::provider_server::{Answer, On, ProviderServer, Vendor};

/// Starts a server that does not answer the judge's first request.
pub(super) fn stalling_server() -> ProviderServer {
    let server = ProviderServer::start();
    server.on(
        On::vendor(Vendor::OpenAi).nth(2),
        Answer::text("never to be finished").stall(),
    );
    server
}

/// Runs a consultation and sends it this signal during the judge's first call, after three answers.
fn interrupt_consultation(
    conclave: &Conclave,
    server: &ProviderServer,
    signal: Signal,
) -> RunOutput {
    let before = server.requests().len();
    let running = conclave.start(&["consult", "Shall we?"]);
    server.wait_until("the judge is asked", |requests| {
        requests.len() == before + 4
    });
    running.signal(signal);
    running.wait()
}

pub(super) fn id_of(journal: &Path) -> String {
    journal.file_stem().unwrap().to_str().unwrap().to_owned()
}

fn finished(events: &[Envelope]) -> usize {
    events
        .iter()
        .filter(|envelope| matches!(envelope.event, Event::Call(CallEvent::Finished(_))))
        .count()
}

/// Runs a resume that must be rejected before any request, and returns standard error.
fn rejected(conclave: &Conclave, server: &ProviderServer, arguments: &[&str]) -> String {
    refused_unasked(conclave, server, &[&["resume"], arguments].concat())
}
