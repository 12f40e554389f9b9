//! Experts judge each other's answers without knowing whose they are: labels, and texts in which
//! the labels are exchanged.

pub mod labels;
pub mod relabel;
