//! conclave.
pub mod commands;
pub mod config;
pub mod consultation;
pub mod domain;
pub mod engine;
pub mod providers;
pub mod records;
pub mod terminal;
