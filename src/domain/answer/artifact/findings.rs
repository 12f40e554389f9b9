//! What an answer says about a document, in the form that its question asked for.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The part of an answer that is about the questions, claims and statements of a document.
/// Questions and claims are named by their labels: `Q1`, `C2`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Findings {
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub answers: BTreeMap<String, QuestionFinding>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub contradicted: Vec<ContradictedClaim>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub new_questions: Vec<NewQuestion>,
    /// What the document states as settled.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub settled: Vec<String>,
    /// What it assumes, proposes or is not sure of.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub assumed: Vec<String>,
    /// Its questions, gaps and contradictions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub open_questions: Vec<String>,
}

/// What is known of a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct QuestionFinding {
    pub outcome: FindingOutcome,
    /// The answer, or the reason why there is none.
    pub text: String,
    /// Who disagrees with an answer, and why; empty if no one does.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub dissent: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FindingOutcome {
    Answered,
    /// It cannot be answered yet.
    Open,
    /// Only a person can decide it.
    Deferred,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ContradictedClaim {
    pub claim: String,
    pub reason: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct NewQuestion {
    pub text: String,
    /// Whether work cannot begin without the answer.
    pub blocker: bool,
}
