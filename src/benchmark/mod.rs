//! L1: what a panel is worth, measured on cases with known answers. Pure: whether an answer is
//! right, what a run did, and the figures that follow from it.
//!
//! When a run must stop is decided by [`crate::stopping::batch`]; suites are read by
//! [`crate::suites`].

pub mod case;
pub mod run;
pub mod partition;
pub mod result;
pub mod statistics;
pub mod matching;
pub mod grading;
pub mod event;
pub mod state;
pub mod report;
pub mod junit;
pub mod replay;
