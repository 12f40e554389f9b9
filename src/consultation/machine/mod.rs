//! The machine behind the phases: the context of one step, the run's state, questions to the
//! person, resume, and replay of a log.

pub(in crate::consultation) mod step;
pub(in crate::consultation) mod run_state;
pub(in crate::consultation) mod questions;
pub(in crate::consultation) mod resume;
pub mod replay;
