//! Markdown for the terminal: escaping texts of models, and rendering.

pub mod escape;
pub mod render;
mod table;
