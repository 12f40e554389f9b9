//! The person's answer to a question.

use serde::{Deserialize, Serialize};

use crate::domain::money::MicroUsd;

/// The person's answer to a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    Yes,
    No,
    /// Yes, now and for every later estimate below this amount, which has been saved.
    Always(MicroUsd),
    /// No, and end the consultation.
    Fail,
    /// Wait no longer for the agents in question, and continue with the others.
    GoOnWithout,
    /// The person has left without answering.
    Gone,
}
