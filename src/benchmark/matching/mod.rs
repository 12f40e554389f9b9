//! Compares answers with the expected ones.
//!
//! [`asked_question`] says how the final answer has to be stated, [`AnswerKey`] finds it in a text
//! and compares it. An [`AnswerKey`] is made once per case: it holds what comparing needs.

mod question;
mod key;

pub use self::key::{AnswerKey, AnswerKeyError, FinalAnswer};
pub use self::question::asked_question;
