//! L1: decisions to stop AI work: pure functions of recorded evidence, each with a named reason.
//!
//! All decisions use one engine: [`evaluation`] checks rules and decides. Its first user is
//! [`early_termination`], which decides whether a debate may end after the judge has found
//! agreement, and how likely the agreement is right: by what was measured for panels of its size
//! ([`agreement`]), or by [`experience`] if enough answers have been graded. Nothing here knows
//! vendors, prompts or rounds: those are the caller's business.

pub mod calibration;
pub mod circuit;
pub mod convergence;
pub mod batch;
pub mod early_termination;
pub mod exit_check;
pub mod evaluation;
pub mod agreement;
pub mod experience;
pub mod replay;
pub mod similarity;

#[expect(
    clippy::cast_precision_loss,
    reason = "a user has far fewer than 2^53 seats and answers"
)]
fn number(count: usize) -> f64 {
    count as f64
}

/// From 0 to 1 for a part of a whole; `None` of nothing.
#[expect(
    clippy::cast_precision_loss,
    reason = "counts and micro-dollars are far below 2^53"
)]
pub fn share(part: u64, of: u64) -> Option<f64> {
    (of > 0).then(|| part as f64 / of as f64)
}
