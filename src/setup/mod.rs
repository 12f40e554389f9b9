//! L4: from a request and the settings to a plan.

pub(crate) mod plan;
pub(crate) mod panel;
pub(crate) mod personas;
pub(crate) mod local_servers;
pub(crate) mod provider_access;
pub(crate) mod embedded_model;
pub(crate) mod fallbacks;
pub(crate) mod helper;
pub(crate) mod limits;
