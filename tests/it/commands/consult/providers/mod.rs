//! Custom endpoints, local servers and models, the network and its requests, and keys.

mod requests;
mod prompt_caching;
mod endpoints;
mod local_servers;
mod own_model;
mod plans;
mod programs;
mod network;
mod secrets;
