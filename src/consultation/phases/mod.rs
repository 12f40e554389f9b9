//! One file for each phase, in the order in which a consultation passes through them, and shared
//! parts: the judge's task, persona selection, comparison, second verdict.
//!
//! Phases do not know each other: they return [`Next`](next::Next), and `state.rs` acts on it.

pub(in crate::consultation) mod next;
pub(in crate::consultation) mod estimating;
pub(in crate::consultation) mod awaiting_consent;
pub(in crate::consultation) mod persona_selection;
pub(in crate::consultation) mod prior_answers;
pub(in crate::consultation) mod independent;
pub(in crate::consultation) mod synthesis;
pub(in crate::consultation) mod early_termination;
pub(in crate::consultation) mod savings;
pub(in crate::consultation) mod cross_exam;
pub(in crate::consultation) mod comparison;
pub(in crate::consultation) mod judge;
pub(in crate::consultation) mod verdict;
pub(in crate::consultation) mod second_verdict;
pub(in crate::consultation) mod finishing;
