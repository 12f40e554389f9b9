//! Analysis of answers by rule, without a model: evidence of agreement, comparison of words,
//! composed answers, the text that states an answer, and why a consultation has none.

pub mod evidence;
pub(crate) mod wording;
pub mod compose;
pub mod final_text;
pub mod no_answer;
