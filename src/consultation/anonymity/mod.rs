//! Anonymity: labels for experts, and texts in which labels are exchanged.

pub mod labels;
pub mod relabel;
