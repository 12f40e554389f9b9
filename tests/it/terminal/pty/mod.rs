//! The binary on a real terminal: the cost gate, the live display and Ctrl-C.

mod cost_gate;
mod display;
mod ending;
mod interrupts;
mod live_rows;
mod local_model;
mod screens;
mod setup;
mod tables;

use crate::support::binary::Conclave;
use crate::support::provider_server::ProviderServer;

/// A terminal with colours, on which every consultation needs consent.
fn consent_terminal(server: &ProviderServer) -> Conclave {
    Conclave::at(server)
        .without("NO_COLOR")
        .variable("TERM", "xterm-256color")
        .variable("CONCLAVE_ALWAYS_ALLOW_UNDER", "0")
}
