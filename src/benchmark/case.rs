//! One case: a question with its known answer, and how an answer is compared with it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Identifies a case within its suite. One line of 1 to 200 characters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct CaseId(pub(crate) String);

impl CaseId {
    const LONGEST: usize = 200;

    /// Returns `None` for a text that is empty, too long or not one line.
    pub fn parse(text: &str) -> Option<Self> {
        let is_id = !text.trim().is_empty()
            && text.chars().count() <= Self::LONGEST
            && !text.contains(char::is_control);
        is_id.then(|| Self(text.trim().to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for CaseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A case of a suite.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Case {
    pub id: CaseId,
    pub question: String,
    /// Text that belongs to the question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// Paths of files that belong to the question.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Right answers: any of them will do. Never empty, but for a judge with a rubric, and for
    /// patterns that must not match.
    pub expected: Vec<String>,
    #[serde(rename = "match")]
    pub matcher: Matcher,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Where the question or its answer comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// How an answer is compared with the expected one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Matcher {
    /// The same text, but for case, white space and punctuation around it.
    Exact,
    /// One of these options, 2 to 26; the expected answer is a letter, A for the first, or an
    /// option's text.
    Choice { options: Vec<String> },
    /// The answer contains the expected text, as whole words.
    Contains,
    /// The answer contains a match of the expected text, which is a regular expression.
    Regex,
    /// The answer contains a match of every expected pattern, and of none of these. Without
    /// expected ones, that is enough.
    All {
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        none: Vec<String>,
    },
    /// A number within a tolerance of the expected one.
    Numeric {
        /// In the unit of the number.
        #[serde(default)]
        absolute: f64,
        /// A share of the expected number: 0.01 is one percent.
        #[serde(default)]
        relative: f64,
    },
    /// A transcription whose error rate is at most `at_most`.
    Similarity {
        measure: ErrorRate,
        /// From 0 to 1.
        at_most: f64,
    },
    /// A model decides whether the answer means the same as the expected one.
    Judge {
        /// What counts as right, in words; `None` for the same meaning.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rubric: Option<String>,
    },
}

impl Matcher {
    /// Returns whether a rubric, or patterns that must not match, are enough without an expected
    /// answer.
    pub fn needs_no_answer(&self) -> bool {
        match self {
            Self::Judge { rubric } => rubric.is_some(),
            Self::All { none } => !none.is_empty(),
            _ => false,
        }
    }

    /// Its kinds, the most exact first.
    pub const KINDS: &str = "numeric choice exact contains regex all transcription judge";

    /// One of its kinds.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Choice { .. } => "choice",
            Self::Contains => "contains",
            Self::Regex => "regex",
            Self::All { .. } => "all",
            Self::Numeric { .. } => "numeric",
            Self::Similarity { .. } => "transcription",
            Self::Judge { .. } => "judge",
        }
    }
}

/// An error rate of transcriptions: insertions, deletions and substitutions by the length of the
/// expected text. It can exceed 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ErrorRate {
    /// Characters.
    Cer,
    /// Words.
    Wer,
}
