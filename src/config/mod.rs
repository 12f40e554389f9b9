//! L3: what the user has set up: environment, home, settings, keys. Everything is read once, into
//! plain values that are handed on.

mod bad_settings;
pub mod control;
pub mod edit;
pub mod endpoints;
pub mod env;
mod fields;
pub mod key_commands;
pub mod keys;
pub mod local_servers;
mod overrides;
pub mod panels;
pub mod parameters;
pub mod paths;
pub mod personas;
pub mod providers;
pub mod settings;
