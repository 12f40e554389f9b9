//! L0: loose text from people and models: what is safe to show, values with their lines, and JSON
//! that is almost JSON.

pub mod byte_pattern;
pub mod clean;
pub mod backslash;
pub mod pattern;
pub mod word_list;
pub mod node;
pub(crate) mod json;
