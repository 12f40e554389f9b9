//! The end of a consultation without a verdict, and its reasons.

use serde::{Deserialize, Serialize};

use super::StateName;

/// The end of a consultation without a verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Abort {
    pub reason: AbortReason,
    /// The cause, for people.
    pub message: String,
    /// The state in which it ended.
    pub during: StateName,
    /// Milliseconds since the consultation began, without pauses.
    pub duration_ms: u64,
}

/// Reasons for ending a consultation without a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AbortReason {
    /// The user declined the estimate.
    Declined,
    /// Ctrl-C, or a signal to end the process.
    Interrupted,
    /// The user chose to stop.
    UserCancelled,
    /// A round exceeded the user's maximum wait.
    Timeout,
    /// The next call could have exceeded the user's ceiling.
    CostCeiling,
    /// Spending exceeded one and a half times the high estimate.
    CostExceededEstimate,
    /// An agent failed, and the user's setting ends the consultation in that case.
    AgentFailed,
    /// The result would have been degraded, which `--strict` refuses.
    Strict,
    /// No expert answered in Round 1.
    AllAgentsFailed,
    /// Neither the judge nor any of its fallbacks answered.
    JudgeFailed,
    /// A prompt could not be rendered from its template.
    Prompt,
    /// A defect of the program: it asked for a transition that is not in the protocol.
    Internal,
}

impl AbortReason {
    /// Returns whether an available answer is still given, because the abort only limits waiting or
    /// spending.
    pub fn leaves_an_answer(self) -> bool {
        match self {
            Self::Interrupted
            | Self::UserCancelled
            | Self::Timeout
            | Self::CostCeiling
            | Self::CostExceededEstimate => true,
            Self::Declined
            | Self::AgentFailed
            | Self::Strict
            | Self::AllAgentsFailed
            | Self::JudgeFailed
            | Self::Prompt
            | Self::Internal => false,
        }
    }

    /// Returns whether a consultation that ended for this reason can be resumed.
    pub fn is_resumable(self) -> bool {
        match self {
            // No call was made, or the same templates or the same defect would fail again.
            Self::Declined | Self::Prompt | Self::Internal => false,
            Self::Interrupted
            | Self::UserCancelled
            | Self::Timeout
            | Self::CostCeiling
            | Self::CostExceededEstimate
            | Self::AgentFailed
            | Self::Strict
            | Self::AllAgentsFailed
            | Self::JudgeFailed => true,
        }
    }
}
