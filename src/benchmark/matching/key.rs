//! The answer key of a case: finds the final answer in a text and compares it with the expected
//! ones.

use thiserror::Error;

use crate::benchmark::case::{Case, Matcher};
use crate::benchmark::result::GradedAnswer;

/// Error for a case whose expected answers do not fit its matcher.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum AnswerKeyError {
    #[error("`{0}` is not a number")]
    NotANumber(String),
}

/// What answers to a case are compared with.
#[derive(Clone, Debug)]
pub struct AnswerKey {
    case: Case,
}

/// A final answer as a text states it.
#[derive(Clone, Debug)]
pub struct FinalAnswer {
    text: String,
}

impl FinalAnswer {
    /// Returns the answer without the text around it.
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl AnswerKey {
    /// Prepares the comparison; an error if an expected answer does not fit the matcher.
    pub fn for_case(case: &Case) -> Result<Self, AnswerKeyError> {
        Ok(Self { case: case.clone() })
    }

    /// Whether a model decides which answers are right.
    pub fn needs_grader(&self) -> bool {
        matches!(self.case.matcher, Matcher::Judge { .. })
    }

    /// Returns the final answer that a text states; `None` if it states none.
    pub fn extract(&self, text: &str) -> Option<FinalAnswer> {
        let (_, answer) = text.rsplit_once("ANSWER:")?;
        Some(FinalAnswer {
            text: answer.trim().to_owned(),
        })
    }

    /// Returns the final answer of a text, which may be stated in `more` instead.
    pub fn extract_with(&self, text: &str, more: &str) -> Option<FinalAnswer> {
        self.extract(text).or_else(|| self.extract(more))
    }

    /// Whether an answer is right; `None` if a model decides.
    pub fn is_right(&self, answer: &FinalAnswer) -> Option<bool> {
        (!self.needs_grader()).then(|| self.case.expected.contains(&answer.text))
    }

    /// Whether two answers are the same, right or wrong.
    pub fn is_same(&self, one: &FinalAnswer, other: &FinalAnswer) -> bool {
        one.text == other.text
    }

    /// Compares the final answer of a text. A text that states none is wrong. `None` if a model
    /// decides.
    pub fn grade(&self, text: &str) -> Option<GradedAnswer> {
        self.grade_with(text, "")
    }

    /// Compares the final answer of a text, which may be stated in `more` instead.
    pub fn grade_with(&self, text: &str, more: &str) -> Option<GradedAnswer> {
        if self.needs_grader() {
            return None;
        }
        let answer = self.extract_with(text, more);
        let Some(answer) = answer else {
            return self.without_answer(text);
        };
        Some(GradedAnswer {
            is_right: self.is_right(&answer).unwrap_or(false),
            text: answer.text,
            error_rate: None,
        })
    }

    /// Returns the grade of words that state no answer: they are wrong. `None` if a model decides.
    pub fn without_answer(&self, words: &str) -> Option<GradedAnswer> {
        (!self.needs_grader()).then(|| GradedAnswer {
            text: words.trim().to_owned(),
            is_right: false,
            error_rate: None,
        })
    }
}
