//! The machine behind the phases: the context of one step and its parts, resume, and replay of a
//! log.

pub(crate) mod step;
pub(crate) mod emitter;
pub(crate) mod run_state;
pub(crate) mod providers;
pub(crate) mod questions;
pub(crate) mod round;
pub(crate) mod resume;
pub mod replay;
