//! What tests share: the binary in its own home, the provider server, terminals.

pub(crate) mod provider_server;
pub(crate) mod sample;
pub mod script;
