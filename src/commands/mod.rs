//! commands
pub mod model;
