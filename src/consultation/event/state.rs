//! `state:…`: the states of a consultation by name.

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
