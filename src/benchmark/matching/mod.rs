//! Compares answers with the expected ones.
//!
//! [`asked_question`] says how the final answer has to be stated, [`AnswerKey`] finds it in a text
//! and compares it. An [`AnswerKey`] is made once per case: it holds what comparing needs.
//!
//! A text that states no answer, or two, has none: nothing is guessed in a panel's favour.

mod question;
mod key;
mod statement;
mod choice;
mod number;
mod phrase;
mod token;
mod numeral;
mod transcription;
mod text;

pub use self::key::{AnswerKey, FinalAnswer};
pub use self::question::asked_question;
pub(in crate::benchmark) use self::statement::own_statements;

#[cfg(test)]
mod tests;
