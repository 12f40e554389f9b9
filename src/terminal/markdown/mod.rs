//! Markdown for the terminal: escaping model text, and rendering.

pub mod escape;
pub mod render;
mod table;
