//! L4: makes a plan from a request and the settings.
//!
//! The modules stand in the order in which [`plan::Planner`] and its templates use them; the
//! sources of a context are read before it.

pub mod plan;
pub mod request;
pub mod settings;
pub mod context;
pub mod personas;
pub mod provider_access;
pub mod programs;
pub mod panel;
pub mod local_servers;
pub mod embedded_model;
pub mod helper;
pub mod fallbacks;

#[cfg(test)]
mod samples;
