//! L1: decisions to stop AI work: pure functions of what is recorded, each with a named reason.
//!
//! One engine for all of them: [`evaluation`] looks at rules and decides. Its first user is
//! [`early_termination`], which asks whether a debate may end once its judge has found what is
//! agreed, and how likely that is right: by [`pooling`] of what was stated, or by [`experience`]
//! where enough answers have been graded. Nothing here knows of vendors, prompts or rounds: what is
//! stopped is the caller's business.

pub mod calibration;
pub mod circuit;
pub mod early_termination;
pub mod evaluation;
pub mod experience;
pub mod pooling;
pub mod similarity;
