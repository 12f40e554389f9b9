//! The model that decides whether an answer is right, for cases that no rule can compare.

use thiserror::Error;

use crate::benchmark::case::Case;
use crate::domain::stored_record::StoredRecord;

/// Error for a grader's reply that is no decision.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum GraderError {
    #[error("the grader gave no answer")]
    NoReply,
    #[error("the grader's reply is neither `ANSWER: RIGHT` nor `ANSWER: WRONG`")]
    NoDecision,
}

/// Returns the question for the grader about an answer.
pub fn grading_question(case: &Case, answer: &str) -> String {
    format!("{}\n{answer}", case.question)
}

/// Returns whether the grader found the answer right, from the record of its consultation.
pub fn grader_decision(record: &StoredRecord) -> Result<bool, GraderError> {
    let reply = record.independents().next().ok_or(GraderError::NoReply)?;
    let position = reply.position.trim_end();
    match (position.ends_with("RIGHT"), position.ends_with("WRONG")) {
        (true, _) => Ok(true),
        (_, true) => Ok(false),
        _ => Err(GraderError::NoDecision),
    }
}
