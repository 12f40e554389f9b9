//! Requests to models and their outcomes, shared by machine, driver and providers.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::domain::context::ContextText;
use crate::domain::cost::money::MicroUsd;
use crate::domain::cost::plan_use::PlanUse;
use crate::domain::cost::tokens::{Band, Usage, token_band, worst_tokens};
use crate::domain::hash::sha256;
use crate::domain::ids::{CallId, ModelRef};

use super::answer::{AnswerForm, AnswerKind};
pub use crate::domain::record::stored_record::FailureClass;

/// A prompt in blocks, so that each provider can put the stable ones first and have them cached.
///
/// Without context, a cloud model gets persona and protocol as its system prompt, then the shared
/// block, then the task: stable across the rounds of one seat. With context, it gets the preamble
/// as its system prompt, then the context, and only then what differs: the longest block is part of
/// every call's prefix, whichever agent is asked. The embedded model gets preamble, context and
/// shared block as its system prompt, then protocol, persona and task: the same prefix for all
/// calls of a run, and a longer one for all seats of a round.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prompt {
    /// The rules for the context; empty without one.
    pub preamble: String,
    /// The context, quoted: the same for all calls of a run to models of one size.
    pub context: ContextText,
    /// The model's role; empty for the judge.
    pub persona: String,
    /// The rules for this kind of answer.
    pub protocol: String,
    /// The question, with an earlier consultation that it follows up: the same for all calls of a
    /// run.
    pub shared: String,
    /// The task at hand, with its material.
    pub task: String,
}

impl Prompt {
    /// Returns the system prompt in the cloud order.
    pub fn system(&self) -> String {
        if self.has_context() {
            join([&self.preamble])
        } else {
            join([&self.persona, &self.protocol])
        }
    }

    /// Returns the user's message in the cloud order. The context, if any, comes first.
    pub fn user(&self) -> String {
        if self.has_context() {
            join([self.context.as_str(), &self.after_context()])
        } else {
            join([&self.shared, &self.task])
        }
    }

    pub fn after_context(&self) -> String {
        if self.has_context() {
            join([&self.shared, &self.protocol, &self.persona, &self.task])
        } else {
            join([&self.shared, &self.task])
        }
    }

    /// Returns the system prompt of the embedded model: the same for all calls of a run.
    pub fn shared_prefix(&self) -> String {
        join([&self.preamble, self.context.as_str(), &self.shared])
    }

    /// For counting.
    pub fn text(&self) -> String {
        if self.has_context() {
            join([&self.system(), &self.user()])
        } else {
            join([&self.persona, &self.protocol, &self.shared, &self.task])
        }
    }

    fn text_beside_context(&self) -> String {
        if self.has_context() {
            join([&self.preamble, &self.after_context()])
        } else {
            self.text()
        }
    }

    /// The context is not read again.
    pub fn tokens(&self) -> Band {
        token_band(&self.text_beside_context()) + self.context.tokens().band()
    }

    /// See [`worst_tokens`]; the context is not read again.
    pub fn worst_tokens(&self) -> u64 {
        let breaks = u64::try_from(BLANK_LINE.len()).unwrap_or_default();
        let context = self.context.tokens().worst;
        worst_tokens(&self.text_beside_context())
            .saturating_add(context)
            .saturating_add(breaks)
    }

    /// In hexadecimal; equal for equal prompts. A context counts by its own hash.
    pub fn sha256(&self) -> String {
        if self.context.is_empty() {
            sha256(&self.text())
        } else {
            sha256(&join([self.context.sha256(), &self.text_beside_context()]))
        }
    }

    fn has_context(&self) -> bool {
        !self.preamble.is_empty() || !self.context.is_empty()
    }
}

const BLANK_LINE: &str = "\n\n";

/// Joins the blocks that are not empty with a blank line.
pub fn join<'a, T: AsRef<str> + ?Sized + 'a>(blocks: impl IntoIterator<Item = &'a T>) -> String {
    blocks
        .into_iter()
        .map(|block| block.as_ref().trim())
        .filter(|block| !block.is_empty())
        .collect::<Vec<_>>()
        .join(BLANK_LINE)
}

/// One request to one model: a call, before it is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    pub call: CallId,
    pub model: ModelRef,
    pub prompt: Prompt,
    /// Kind and form of the answer determine its schema.
    pub answer: AnswerKind,
    pub form: AnswerForm,
    /// The most tokens of the answer, thinking included.
    pub max_output_tokens: u64,
    /// The name of the prompt's context for the vendor's cache: the context is long enough to be
    /// cached. A schema would come before it or be part of the cache's key, so none is sent.
    pub cache_key: Option<String>,
}

/// The reason why a model stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The answer is complete.
    End,
    /// The token limit was reached: the text is cut off.
    Length,
    /// The answer is longer than is stored: the rest of its text was left out.
    TooLong,
    /// The model or a filter declined; with its words, if any.
    Refused(String),
    /// Any other reason given by the provider. Not a clean end.
    Other(String),
}

/// A model's reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The answer's text without any thinking. May be empty if the stop reason is not `End`.
    pub text: String,
    pub stop: StopReason,
    pub usage: Usage,
    /// The model that answered, as reported by the provider.
    pub served_model: Option<String>,
    /// The cost, if the provider reports it.
    pub reported_cost: Option<MicroUsd>,
    /// What the plan that pays for it says of its use. Boxed to keep every call's outcome small.
    pub plan: Option<Box<PlanUse>>,
}

/// A call without an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub class: FailureClass,
    /// The failure, in the provider's own words if it has any; at most about 500 characters.
    pub message: String,
    /// The provider's retry hint.
    pub retry_after: Option<Duration>,
    /// The usage, if the provider reported it. Boxed to keep every call's outcome small.
    pub usage: Option<Box<Usage>>,
    /// The cost, if the provider reports it.
    pub reported_cost: Option<MicroUsd>,
    /// Text that had arrived before the failure.
    pub partial: String,
}

impl Failure {
    pub fn new(class: FailureClass, message: impl Into<String>) -> Self {
        Self {
            class,
            message: message.into(),
            retry_after: None,
            usage: None,
            reported_cost: None,
            partial: String::new(),
        }
    }
}

/// The outcome of a call.
pub type Outcome = Result<Reply, Failure>;
