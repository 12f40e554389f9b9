//! The person's answers to questions.

use serde::{Deserialize, Serialize};

use crate::domain::money::MicroUsd;

/// What a person can answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    Yes,
    No,
    /// Yes, now and to every later estimate below this amount, which has been saved.
    Always(MicroUsd),
    /// No, and end the consultation.
    Fail,
    /// There is no person left to answer.
    Gone,
}
