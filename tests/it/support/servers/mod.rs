//! Servers on this machine: providers, local model servers, and what stands between.

pub(crate) mod local_server;
pub(crate) mod network;
pub(crate) mod provider_server;
mod server_thread;
pub(crate) mod trace_receiver;
