//! Markdown for the terminal: escaping model text, and rendering.

pub mod escape;
pub mod plain;
pub mod render;
mod table;
