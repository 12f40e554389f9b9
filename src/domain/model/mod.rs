//! Models: where they are served, who makes them, and what their vendors are like.

pub mod address;
pub mod billing;
pub mod dialect;
pub mod family;
pub mod key_detection;
pub mod program;
pub mod vendors;
