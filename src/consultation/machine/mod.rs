//! The machine behind the phases: the context of one step and its parts, resume, and replay of a
//! log.

pub(in crate::consultation) mod step;
pub(in crate::consultation) mod emitter;
pub(in crate::consultation) mod run_state;
pub(in crate::consultation) mod providers;
pub(in crate::consultation) mod questions;
pub(in crate::consultation) mod round;
pub(in crate::consultation) mod resume;
pub mod replay;
