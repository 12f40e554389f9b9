//! L4: makes a plan from a request and the settings.
//!
//! The modules stand in the order in which [`plan::Planner`] and its templates use them; the
//! sources of a context are read before it.

pub(crate) mod plan;
pub(crate) mod request;
pub(crate) mod settings;
pub(crate) mod context;
pub(crate) mod catalog;
pub(crate) mod personas;
pub(crate) mod provider_access;
pub(crate) mod panel;
pub(crate) mod local_servers;
pub(crate) mod embedded_model;
pub(crate) mod helper;
pub(crate) mod fallbacks;

#[cfg(test)]
mod samples;
