//! How providers are reached: custom endpoints, local servers, TLS, proxies and keys.

mod endpoints;
mod local_servers;
mod network;
mod secrets;
