//! L3: what the user has set up: environment, home, settings, keys. Everything is read once, into plain values that are handed on.

pub mod env;
pub mod keys;
mod overrides;
pub mod paths;
pub mod secrets;
pub mod settings;
