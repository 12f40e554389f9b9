//! Output: the printer, the live area that is redrawn in place, colour, wrapping, and figures as
//! words.

pub mod printer;
pub mod stream_traits;
pub mod pager;
mod rows;
pub(super) mod live_area;
pub mod style;
pub(super) mod wrap;
pub mod excerpt;
pub mod format;
pub mod evaluation_tree;
pub mod convergence_tree;
pub mod evaluation_text;
pub mod unified_diff;
