//! `conclave consult`, from the command line to the files and the requests at the vendors.

mod asking;
mod panel;
mod debate;
mod context_sources;
mod cost;
mod output;
mod follow_up;
mod providers;
pub(crate) mod failures;
mod settings;
mod system;
mod system_limits;
mod usage_errors;
