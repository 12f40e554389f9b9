//! Keys: commands that print them, and texts that look like one.

pub mod commands;

pub use crate::domain::model::key_detection as detection;
