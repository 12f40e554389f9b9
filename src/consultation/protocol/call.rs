//! Requests to a model and their outcomes, as machine, driver and providers share them.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::domain::hash::sha256;
use crate::domain::ids::{CallId, ModelRef};
use crate::domain::money::MicroUsd;
use crate::domain::tokens::Usage;

use super::answer::AnswerKind;

/// A prompt in four blocks, so that each provider can put what is stable first and have it cached.
///
/// A cloud model reads persona and protocol as its system prompt, then the shared block, then the
/// task: stable across the rounds of one seat. The embedded model reads the shared block as its
/// system prompt, then protocol, persona and task: the same prefix for all calls of a run, and a
/// longer one for all seats of a round.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prompt {
    /// Who the model is; empty for the judge.
    pub persona: String,
    /// The rules for this kind of answer.
    pub protocol: String,
    /// The question and its context: the same for all calls of a run.
    pub shared: String,
    /// What is asked now, with the material it needs.
    pub task: String,
}

impl Prompt {
    /// The system prompt in the cloud order.
    pub fn system(&self) -> String {
        join([&self.persona, &self.protocol])
    }

    /// The user's message in the cloud order.
    pub fn user(&self) -> String {
        join([&self.shared, &self.task])
    }

    /// All text, for counting.
    pub fn text(&self) -> String {
        join([&self.persona, &self.protocol, &self.shared, &self.task])
    }

    /// Returns the SHA-256 of all text, in hexadecimal: equal for equal prompts.
    pub fn sha256(&self) -> String {
        sha256(&self.text())
    }
}

/// Joins the blocks that are not empty with a blank line.
pub fn join<'a>(blocks: impl IntoIterator<Item = &'a String>) -> String {
    blocks
        .into_iter()
        .map(|block| block.trim())
        .filter(|block| !block.is_empty())
        .collect::<Vec<_>>()
        .join("\n\n")
}

/// One request to one model: a call, before it is made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ask {
    pub call: CallId,
    pub model: ModelRef,
    pub prompt: Prompt,
    /// Decides the schema that goes out.
    pub answer: AnswerKind,
    /// Most tokens the answer may take, thinking included.
    pub max_output_tokens: u64,
}

/// Why a model stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// It was done.
    End,
    /// It reached the token limit: the text is cut off.
    Length,
    /// It, or a filter around it, declined; with its words, if any.
    Refused(String),
    /// Anything else the provider said. Not a clean end.
    Other(String),
}

/// What a model answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reply {
    /// The answer's text without any thinking. May be empty when the stop reason is not `End`.
    pub text: String,
    pub stop: StopReason,
    pub usage: Usage,
    /// The model that the provider says answered.
    pub served_model: Option<String>,
    /// The cost, where the provider says it.
    pub reported_cost: Option<MicroUsd>,
}

/// What kind of failure it was; decides whether trying again can help.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureClass {
    /// The key is missing, wrong or not allowed this.
    Auth,
    /// No credit, or a spending limit.
    Billing,
    /// No such model.
    ModelMissing,
    /// The request itself was refused.
    BadRequest,
    /// The prompt does not fit the model's context.
    Context,
    /// The provider's policy refused the prompt.
    Policy,
    /// The request named something that this model does not take. The provider leaves it out from
    /// now on: the same again may work at once.
    Unsupported,
    /// Too many requests: every call at this provider must wait.
    RateLimit,
    /// The provider is failing for now; a later call may work.
    Overload,
    /// The connection failed before any content arrived.
    Transport,
    /// Timed out before any content arrived.
    Timeout,
    /// The stream broke off after content had arrived.
    Interrupted,
    /// A successful reply without any text.
    Empty,
    /// The reply is not what the provider's protocol allows.
    Malformed,
    /// The program itself failed while handling the call.
    Internal,
}

/// A call that brought no answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    pub class: FailureClass,
    /// What happened, in the provider's own words where it has any; at most about 500 characters.
    pub message: String,
    /// The provider's own hint when to come back.
    pub retry_after: Option<Duration>,
    /// The usage, where the provider reported it all the same. Boxed to keep every call's outcome
    /// small.
    pub usage: Option<Box<Usage>>,
    /// The cost, where the provider says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reported_cost: Option<MicroUsd>,
    /// Text that had arrived before it failed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub partial: String,
}

impl Failure {
    /// Returns a failure with only a class and a message.
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
