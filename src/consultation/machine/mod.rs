//! How the machine works: the context of one step, what outlives a phase, questions to the person,
//! resuming, and replaying a log.

pub(in crate::consultation) mod step;
pub(in crate::consultation) mod run_state;
pub(in crate::consultation) mod questions;
pub(in crate::consultation) mod resume;
pub mod replay;
