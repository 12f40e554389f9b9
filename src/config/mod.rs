//! L3: the user's configuration: environment, home, settings, keys. Everything is read once, into
//! plain values.

pub mod settings;
pub mod setting;
pub mod load;
pub mod repository;
mod value;
pub mod paths;
pub mod env;
pub mod edit;
pub mod endpoints;
pub mod parameters;
pub mod programs;
pub mod personas;
pub mod keys;
