//! One file a phase, in the order in which a consultation passes through them; then what some of
//! them have beside the line: the judge's work, persona selection, comparison, a second verdict.

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
