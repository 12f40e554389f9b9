//! Problems of a model's answer and how they were handled. Every one is in the log.

use serde::{Deserialize, Serialize};

/// One problem of an answer, repaired or not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Problem {
    /// A field's path such as `key_points[1]`; empty for the whole answer.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub field: String,
    /// The problem in words, for the log and for the model that repairs the answer.
    pub what: String,
    #[serde(rename = "weight")]
    pub severity: ProblemSeverity,
}

/// The severity of a problem for the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum ProblemSeverity {
    /// The meaning was clear; nothing is lost.
    #[serde(rename = "mended")]
    Repaired,
    /// Something optional is missing or was left as text.
    #[serde(rename = "flagged")]
    Warning,
    /// The answer cannot be used as it is: the model is asked to repair it.
    #[serde(rename = "fatal")]
    Error,
}

impl Problem {
    pub fn new(
        severity: ProblemSeverity,
        field: impl Into<String>,
        what: impl Into<String>,
    ) -> Self {
        Self {
            field: field.into(),
            what: what.into(),
            severity,
        }
    }
}
