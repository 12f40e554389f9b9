//! The surface on which the dashboard is drawn.

use super::charset::Charset;
use crate::terminal::output::style::Paint;

/// Width, colour, characters and frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Canvas {
    /// Columns.
    pub width: usize,
    pub paint: Paint,
    pub charset: Charset,
    pub border: Border,
}

/// The border around sections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Border {
    /// A frame, where the canvas is wide enough for one.
    Frame,
    /// Sections below one another, separated by an empty line: for files and other programs.
    None,
}
