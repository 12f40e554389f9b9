//! One file for each phase, in the order in which a consultation passes through them, and shared
//! parts: the judge's task, persona selection, comparison, second verdict.
//!
//! Phases do not know each other: they return [`Next`](next::Next), and `state.rs` acts on it.

pub(crate) mod next;
pub(crate) mod estimating;
pub(crate) mod awaiting_consent;
pub(crate) mod persona_selection;
pub(crate) mod independent;
pub(crate) mod synthesis;
pub(crate) mod early_termination;
pub(crate) mod cross_exam;
pub(crate) mod comparison;
pub(crate) mod judge;
pub(crate) mod verdict;
pub(crate) mod second_verdict;
pub(crate) mod finishing;
