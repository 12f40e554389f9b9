//! Analysis of answers by rule, without a model: evidence of agreement, comparison of words, and
//! composed answers.

pub mod evidence;
pub(in crate::consultation) mod wording;
pub mod compose;
