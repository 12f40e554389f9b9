//! Anonymity: labels for experts, and texts in which labels are exchanged or replaced by names.

pub mod labels;
mod mentions;
pub mod texts;
pub mod relabel;
pub mod names;
