//! Tests of `commands`: the compiled binary from end to end, with a local server in place of every
//! vendor.

mod benchmark;
mod command_line;
mod config;
mod consult;
mod consult_stats;
mod exit_check;
mod history;
mod inventory;
mod mcp;
mod refine;
mod resume;
mod scrub;
mod view;

use serde_json::Value;

use crate::support::binary::{Conclave, RunOutput};
use crate::support::provider_server::ProviderServer;

/// Runs a command that succeeds.
fn succeed(conclave: &Conclave, arguments: &[&str]) -> RunOutput {
    conclave.run(arguments).ends_with(0)
}

/// Returns the JSON that a command prints.
fn json_of(conclave: &Conclave, arguments: &[&str]) -> Value {
    succeed(conclave, arguments).json()
}

/// Runs a command that is refused as wrong, and returns standard error.
fn refused(conclave: &Conclave, arguments: &[&str]) -> String {
    conclave.run(arguments).ends_with(2).stderr
}

/// Runs a command that is refused before any request, and returns standard error.
fn refused_unasked(conclave: &Conclave, server: &ProviderServer, arguments: &[&str]) -> String {
    let before = server.requests().len();
    let output = conclave.run(arguments).ends_with(2);
    assert_eq!(output.stdout, "");
    assert_eq!(server.requests().len(), before);
    output.stderr
}

/// Returns the home with another server in place of every vendor.
fn moved_to(server: &ProviderServer, conclave: Conclave) -> Conclave {
    let variables = server.variables().into_iter();
    variables.fold(conclave, |conclave, (name, value)| {
        conclave.variable(name, value)
    })
}
