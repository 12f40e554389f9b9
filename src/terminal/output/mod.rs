//! Where text goes: the printer, lines that are written over, styles, and figures as words.

pub mod printer;
mod last_line;
pub mod live;
pub mod style;
pub mod format;
