//! The text of a message, taken apart: its prose, without what it only shows or repeats.

mod normal;

pub use normal::{front_matter, normal};
