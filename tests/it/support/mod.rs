//! What tests share: the binary in its own home, the provider server, terminals.

#[cfg(unix)]
pub(crate) mod asked;
#[cfg(unix)]
pub(crate) mod binary;
pub(crate) mod network;
pub(crate) mod provider_server;
#[cfg(unix)]
pub(crate) mod pty;
pub(crate) mod sample;
pub mod script;
