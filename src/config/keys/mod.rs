//! Keys: commands that print them, and texts that look like one.

pub mod detection;
pub mod commands;
