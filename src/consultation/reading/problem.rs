//! What was wrong with a model's answer and what was done about it. Every one is in the log.

use serde::{Deserialize, Serialize};

/// One thing that had to be mended, or could not be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// Where: a field's path such as `key_points[1]`, or empty for the whole answer.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub field: String,
    /// What, in words for the log and for the model that is asked to repair it.
    pub what: String,
    pub weight: Weight,
}

/// What a problem means for the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Weight {
    /// Read as plainly meant; nothing lost.
    Mended,
    /// Something optional is missing or was left as text.
    Flagged,
    /// The answer cannot be used as it is: ask for a repair.
    Fatal,
}

impl Problem {
    pub fn new(weight: Weight, field: impl Into<String>, what: impl Into<String>) -> Self {
        Self {
            field: field.into(),
            what: what.into(),
            weight,
        }
    }
}
