//! The outcome of a task: an answer with its source, or an error.

use serde::{Deserialize, Serialize};

use crate::consultation::event::AgentError;
use crate::consultation::protocol::answer::AnswerKind;
use crate::consultation::protocol::call::FailureClass;
use crate::domain::artifact::Content;
use crate::domain::ids::{AgentId, ModelRef};

/// The outcome of a task that has ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::consultation) struct TaskOutcome {
    pub(in crate::consultation) agent: AgentId,
    pub(in crate::consultation) answer: AnswerKind,
    pub(in crate::consultation) result: Result<AgentAnswer, AgentError>,
}

/// An agent's answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::consultation) struct AgentAnswer {
    pub(in crate::consultation) content: Content,
    /// True if the answer could only be used as prose.
    pub(in crate::consultation) degraded: bool,
    pub(in crate::consultation) source: AnswerSource,
}

impl AgentAnswer {
    /// Returns whether the answer counts as evidence of agreement: it could be read as asked, and
    /// its model is not of demonstration quality.
    pub(in crate::consultation) fn is_evidence(&self) -> bool {
        !self.degraded && !self.source.model.is_demonstration()
    }
}

/// The source and the length of an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::consultation) struct AnswerSource {
    pub(in crate::consultation) agent: AgentId,
    pub(in crate::consultation) model: ModelRef,
    /// Tokens, thinking included.
    pub(in crate::consultation) output: u64,
}

pub(super) fn failed(class: FailureClass, message: impl Into<String>) -> AgentError {
    AgentError {
        class: Some(class),
        message: message.into(),
    }
}
