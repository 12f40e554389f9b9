//! Analysis of answers by rule, without a model: evidence of agreement, comparison of words, and
//! the text that states an answer.

pub mod evidence;
pub(crate) mod wording;
pub mod final_text;
