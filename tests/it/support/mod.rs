//! What tests share: the binary in its own home, the provider server, terminals.

#[cfg(unix)]
pub(crate) mod asked;
#[cfg(unix)]
pub(crate) mod binary;
pub(crate) mod compared;
pub(crate) mod generated;
pub(crate) mod journals;
pub(crate) mod lasting;
#[cfg(unix)]
pub(crate) mod local_server;
pub(crate) mod markup;
pub(crate) mod network;
#[cfg(unix)]
pub(crate) mod past;
pub(crate) mod provider_server;
#[cfg(unix)]
pub(crate) mod pty;
pub(crate) mod sample;
#[cfg(unix)]
pub(crate) mod schema;
pub mod script;
