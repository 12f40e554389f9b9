//! What the dashboard is drawn on.

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

/// Whether sections stand in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Border {
    /// Where the canvas is wide enough for one.
    Frame,
    /// As a file or another program reads best: sections below one another, separated by an empty
    /// line.
    None,
}
