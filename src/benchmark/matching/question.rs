//! The question as the models are asked it.

use crate::benchmark::case::{Case, Matcher};

/// Returns the question of a case with its options and the form of the final answer. The case's
/// context is not part of it: it is quoted apart from the question.
pub fn asked_question(case: &Case) -> String {
    let mut question = case.question.trim().to_owned();
    if let Matcher::Choice { options } = &case.matcher {
        question.push('\n');
        for (letter, option) in ('A'..='Z').zip(options) {
            question.push_str(&format!("\n{letter}) {}", option.trim()));
        }
    }
    question.push_str("\n\nEnd the answer with \"ANSWER:\".");
    question
}
