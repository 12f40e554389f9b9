//! One agent's row of the live display: its activity and the progress of its calls.

use std::time::Duration;

use crate::domain::ids::{AgentId, CallId, ModelRef};
use crate::domain::money::Cost;
use crate::engine::ports::Delta;

/// One agent in one round.
#[derive(Clone, Debug)]
pub(super) struct AgentRow {
    pub(super) agent: AgentId,
    pub(super) name: String,
    pub(super) model: ModelRef,
    pub(super) since: Duration,
    pub(super) phase: AgentPhase,
}

/// The activity of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum AgentPhase {
    /// With these open calls: none while its provider has no capacity for one, two when one is
    /// hedged.
    Working(Vec<OpenCall>),
    Retrying {
        until: Duration,
    },
    /// A question about it is open.
    Asking,
    Done {
        took: Duration,
        tokens: u64,
        cost: Cost,
    },
    Failed(String),
    /// The run ended before the agent did.
    Stopped,
}

/// A call that has not returned yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OpenCall {
    pub(super) call: CallId,
    pub(super) model: ModelRef,
    pub(super) stage: CallStage,
}

/// The progress of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum CallStage {
    Connecting,
    Thinking,
    /// Characters written so far, by what they count in tokens.
    Writing {
        ascii: u64,
        other: u64,
    },
}

impl AgentPhase {
    pub(super) fn has_ended(&self) -> bool {
        match self {
            Self::Done { .. } | Self::Failed(_) | Self::Stopped => true,
            Self::Working(_) | Self::Retrying { .. } | Self::Asking => false,
        }
    }
}

impl CallStage {
    pub(super) fn advanced_by(self, delta: &Delta) -> Self {
        match (self, delta) {
            (Self::Connecting | Self::Thinking, Delta::Connected | Delta::Thinking) => {
                Self::Thinking
            }
            (writing @ Self::Writing { .. }, Delta::Connected | Delta::Thinking) => writing,
            (before, Delta::Text(piece)) => {
                let all = piece.chars().count() as u64;
                let new = piece.chars().filter(char::is_ascii).count() as u64;
                let (ascii, other) = match before {
                    Self::Writing { ascii, other } => (ascii, other),
                    Self::Connecting | Self::Thinking => (0, 0),
                };
                Self::Writing {
                    ascii: ascii + new,
                    other: other + all - new,
                }
            }
        }
    }
}
