//! What rules make of answers, without a model: evidence of agreement, comparing words, composing
//! an answer that no judge gave.

pub mod evidence;
pub(in crate::consultation) mod wording;
pub mod compose;
