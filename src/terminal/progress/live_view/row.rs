//! One agent's row of the live display: its activity and the progress of its calls.

use std::time::Duration;

use crate::consultation::event::{AttemptNumber, Purpose};
use crate::domain::ids::{AgentId, CallId, ModelRef};
use crate::engine::ports::{Delta, LocalProgress};
use crate::terminal::progress::judge_stream::CallResult;

/// One agent in one round.
#[derive(Clone, Debug)]
pub(super) struct AgentRow {
    pub(super) agent: AgentId,
    pub(super) name: String,
    pub(super) model: ModelRef,
    pub(super) since: Duration,
    pub(super) phase: AgentPhase,
    /// The result of the last call, until another one is made.
    pub(super) last_result: Option<CallResult>,
}

/// The activity of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum AgentPhase {
    /// With these open calls: none while its provider has no capacity for one, two when one is
    /// hedged.
    Working(Vec<OpenCall>),
    /// A call has failed and is repeated at this time.
    Retrying(PendingRetry),
    /// A question about it is open.
    Asking,
    Failed(String),
    /// The run ended before the agent did.
    Stopped,
}

/// A retry whose time has not come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PendingRetry {
    pub(super) until: Duration,
    pub(super) attempt: Option<AttemptNumber>,
    pub(super) cause: String,
}

/// A call that has not returned yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OpenCall {
    pub(super) call: CallId,
    pub(super) model: ModelRef,
    pub(super) purpose: Purpose,
    pub(super) attempt: Option<AttemptNumber>,
    pub(super) stage: CallStage,
}

/// The progress of a call, in the order of its stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum CallStage {
    /// It is under way, and only its first token will be seen.
    Unknown,
    /// The request is on its way, and nothing has come back but an acceptance.
    Sent,
    /// Its first token has come.
    Answering,
    /// The model thinks, or its provider keeps the connection alive.
    Thinking,
    /// The embedded model reads the prompt.
    Reading(LocalProgress),
    /// Characters written so far, by what they count in tokens.
    Writing { ascii: u64, other: u64 },
    /// The embedded model writes.
    WritingLocally(LocalProgress),
}

impl AgentPhase {
    pub(super) fn has_ended(&self) -> bool {
        match self {
            Self::Failed(_) | Self::Stopped => true,
            Self::Working(_) | Self::Retrying(_) | Self::Asking => false,
        }
    }

    pub(super) fn open_calls(&self) -> &[OpenCall] {
        if let Self::Working(calls) = self {
            calls
        } else {
            &[]
        }
    }
}

impl CallStage {
    /// No sign leads back to an earlier stage.
    pub(super) fn advanced_by(self, delta: &Delta) -> Self {
        let reached = match delta {
            Delta::Connected => Self::Sent,
            Delta::KeepAlive | Delta::Thinking => Self::Thinking,
            Delta::Reading(progress) => return self.max(Self::Reading(*progress)),
            Delta::Writing(progress) => return Self::WritingLocally(*progress),
            Delta::Text(piece) => self.written(piece),
        };
        self.max(reached)
    }

    fn written(self, piece: &str) -> Self {
        let all = piece.chars().count() as u64;
        let new = piece.chars().filter(char::is_ascii).count() as u64;
        let (ascii, other) = match self {
            Self::Writing { ascii, other } => (ascii, other),
            Self::Unknown
            | Self::Sent
            | Self::Answering
            | Self::Thinking
            | Self::Reading(_)
            | Self::WritingLocally(_) => (0, 0),
        };
        Self::Writing {
            ascii: ascii + new,
            other: other + all - new,
        }
    }
}
