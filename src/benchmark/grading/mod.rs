//! Reads the record of a consultation as one attempt at a case: the answer and whether it is
//! right, and the answers of each stage and each expert.
//!
//! - With a verdict, its recommendation is the answer: the judge's, or the leading point of
//!   agreement for a debate of two or three rounds or one that ended early.
//! - A consultation of one round has no verdict. Its answer is that of the only expert, or the one
//!   that most experts gave.
//! - An aborted consultation has no answer, whatever it found before.
//! - An answer that states nothing comparable ("I cannot decide between A and B") is wrong: the
//!   consultation ended, and asking again would measure another question.

mod answer;
mod grader;

pub use self::answer::{ConsultationAnswer, grade};
pub use self::grader::{GraderError, grader_decision, grading_question};

#[cfg(test)]
mod tests;
