//! L1: decisions to stop AI work: pure functions of what is recorded, each with a named reason.
//!
//! Nothing here knows of vendors, prompts or rounds: what is stopped is the caller's business.

pub mod calibration;
pub mod circuit;
pub mod early_termination;
pub mod evaluation;
