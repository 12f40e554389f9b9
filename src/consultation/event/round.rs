//! `round:…`: the beginning and end of each round.

use serde::{Deserialize, Serialize};

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
