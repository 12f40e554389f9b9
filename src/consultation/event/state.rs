//! `state:…` and `round:…`: how far a consultation has come.

use serde::{Deserialize, Serialize};

/// Event of the state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", content = "data")]
pub enum StateEvent {
    /// The consultation enters another state.
    #[serde(rename = "state:changed")]
    Changed { from: StateName, to: StateName },
}

/// The names of the nine states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum StateName {
    Idle,
    Estimating,
    AwaitingConsent,
    Independent,
    Synthesis,
    CrossExam,
    Verdict,
    Complete,
    Aborted,
}

impl std::fmt::Display for StateName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Debug::fmt(self, f)
    }
}

/// Event of a round.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", content = "data")]
pub enum RoundEvent {
    /// A round begins.
    #[serde(rename = "round:started")]
    Started {
        /// 1 to 4.
        round_number: u8,
    },
    /// A round has ended with a result.
    #[serde(rename = "round:completed")]
    Completed {
        /// 1 to 4.
        round_number: u8,
        /// Milliseconds since the round began, without pauses.
        duration_ms: u64,
    },
}
