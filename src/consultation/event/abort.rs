//! Why a consultation ended without a verdict.

use serde::{Deserialize, Serialize};

/// Why a consultation ended without a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AbortReason {
    /// The user declined the estimate.
    Declined,
    /// Ctrl-C, or a signal to end the process.
    Interrupted,
    /// The user chose to stop.
    UserCancelled,
    /// A round took longer than the user wanted to wait.
    Timeout,
    /// A call could have broken the ceiling that the user set.
    CostCeiling,
    /// More was spent than one and a half times the high estimate.
    CostExceededEstimate,
    /// An agent failed, and the user's setting ends the consultation then.
    AgentFailed,
    /// The result would have been less than the panel promised, which `--strict` refuses.
    Strict,
    /// No expert answered in Round 1.
    AllAgentsFailed,
    /// Neither the judge nor any of its fallbacks answered.
    JudgeFailed,
    /// A prompt could not be made from its template.
    Prompt,
}

impl AbortReason {
    /// Whether an answer that is there is given all the same: it was only a matter of not waiting,
    /// or of not spending more.
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
            | Self::Prompt => false,
        }
    }

    /// Whether a consultation that ended for this reason can be resumed.
    pub fn is_resumable(self) -> bool {
        match self {
            // Nothing was asked, or the same templates would fail the same way.
            Self::Declined | Self::Prompt => false,
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
