//! The model that decides whether an answer is right, for cases that no rule can compare.
//!
//! The answer is quoted between marks that it cannot contain. Only the grader's own statement
//! counts, made once and without quotes: repeating the answer's words decides nothing. A reply
//! without a decision gives no grade; nothing is guessed.

use thiserror::Error;

use crate::benchmark::case::{Case, Matcher};
use crate::benchmark::matching::own_statements;
use crate::consultation::prompt::fence::Fence;
use crate::domain::record::stored_record::{Completion, StoredRecord};
use crate::text::clean::words;

/// Error for a grader's reply that is no decision.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum GraderError {
    #[error("the grader gave no answer")]
    NoReply,
    #[error("the grader's reply is neither `ANSWER: RIGHT` nor `ANSWER: WRONG`")]
    NoDecision,
    #[error("the grader's reply is both `ANSWER: RIGHT` and `ANSWER: WRONG`")]
    TwoDecisions,
}

/// What a grader is asked, with the names of its parts.
const QUESTION: &str = include_str!("question.txt");

/// Meant for a consultation of one expert and one round.
pub fn grading_question(case: &Case, answer: &str) -> String {
    let rubric = match &case.matcher {
        Matcher::Judge { rubric } => rubric.as_deref(),
        _ => None,
    };
    let expected = case.expected.iter().map(String::as_str);
    let texts = expected.clone().chain([&*case.question, answer]);
    let fence = Fence::around(texts.chain(rubric));
    let enclosed: Vec<String> = expected.map(|text| fence.enclose(text)).collect();
    let enclosed = enclosed.join("\n");
    let expected = match case.expected.len() {
        0 => String::new(),
        1 => format!("The expected answer is:\n{enclosed}\n\n"),
        _ => format!("Each of these answers is expected, one is enough:\n{enclosed}\n\n"),
    };
    let right = match rubric {
        Some(rubric) => format!("if it meets this:\n{}", fence.enclose(rubric)),
        None => "if it means the same as what is expected.".to_owned(),
    };
    let parts = QUESTION.trim_end().split('}').map(|part| {
        let (words, name) = part.split_once('{').unwrap_or((part, ""));
        let text = match name {
            "question" => fence.enclose(&case.question),
            "right" => format!("{expected}The answer is right {right}"),
            "answer" => fence.enclose(answer),
            "open" => fence.open(),
            "close" => fence.close(),
            _ => String::new(),
        };
        format!("{words}{text}")
    });
    parts.collect()
}

pub fn grader_decision(record: &StoredRecord) -> Result<bool, GraderError> {
    let reply = record
        .independents()
        .next()
        .filter(|_| record.completion() == Completion::Completed)
        .ok_or(GraderError::NoReply)?;
    match decision(&reply.position) {
        Err(GraderError::NoDecision) => decision(&reply.rationale),
        decided => decided,
    }
}

fn decision(text: &str) -> Result<bool, GraderError> {
    let mut decisions = own_statements(text)
        .into_iter()
        .filter_map(|statement| grade(&statement));
    let first = decisions.next().ok_or(GraderError::NoDecision)?;
    if decisions.all(|other| other == first) {
        Ok(first)
    } else {
        Err(GraderError::TwoDecisions)
    }
}

/// Reads `RIGHT` or `WRONG` at the beginning of a statement.
fn grade(statement: &str) -> Option<bool> {
    let mut words = words(statement).map(str::to_uppercase);
    let is_right = match words.next()?.as_str() {
        "RIGHT" => true,
        "WRONG" => false,
        _ => return None,
    };
    // "RIGHT or WRONG" repeats the request.
    let other = if is_right { "WRONG" } else { "RIGHT" };
    words.take(2).all(|word| word != other).then_some(is_right)
}
