//! The driver's ports to the outside: models to ask, subscribers to events, a person to consult.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use crate::consultation::event::{Answer, Envelope};
use crate::consultation::protocol::Question;
use crate::consultation::protocol::call::{Ask, Failure, Outcome};
use crate::domain::ids::CallId;

/// A boxed future, so that providers can be held side by side.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Progress of a call in flight. It never reaches the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delta {
    /// The provider has accepted the request.
    Connected,
    /// The provider keeps the connection alive, without any content.
    KeepAlive,
    /// The model is thinking; the text is not part of the answer.
    Thinking,
    /// A piece of the answer.
    Text(String),
    /// The embedded model reads the prompt.
    Reading(LocalProgress),
    /// The embedded model writes the answer.
    Writing(LocalProgress),
}

impl Delta {
    /// Returns whether it is a sign that the model answers.
    pub fn shows_answer(&self) -> bool {
        match self {
            Self::Thinking | Self::Text(_) => true,
            Self::Connected | Self::KeepAlive | Self::Reading(_) | Self::Writing(_) => false,
        }
    }
}

/// The progress of the embedded model in one step of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LocalProgress {
    /// Tokens done.
    pub tokens: u64,
    /// The number of tokens of a prompt, the most tokens of an answer.
    pub of: u64,
    /// The time that the rest takes at the rate so far; `None` before there is a rate.
    pub left: Option<Duration>,
}

/// A service whose models can be called.
///
/// Dropping the future cancels the call: the connection is closed, or the decoding stops.
pub trait Provider: Send + Sync + std::fmt::Debug {
    /// Makes one call without retries. `on` receives progress as it happens.
    fn ask<'a>(
        &'a self,
        ask: &'a Ask,
        on: &'a mut (dyn FnMut(Delta) + Send),
    ) -> BoxFuture<'a, Outcome>;

    /// Checks the provider's health by a free request; `None` if there is none. Failures never
    /// contain a key. Dropping the future closes the connection.
    fn check(&self) -> Option<BoxFuture<'_, Result<(), Failure>>> {
        None
    }
}

/// Receives all events, in order.
pub trait Subscriber: std::fmt::Debug {
    /// Takes one event. An error is reported once and ends the subscription; it never harms the
    /// consultation.
    fn event(&mut self, event: &Envelope) -> Result<(), SubscriberError>;

    /// Takes progress of a call. Most subscribers ignore it.
    fn delta(&mut self, _call: CallId, _delta: &Delta) {}

    /// Takes the message of a subscriber that failed and was dropped. A subscriber that can reach
    /// the user shows it.
    fn trouble(&mut self, _what: &str) {}
}

/// A person who can answer questions.
pub trait Person: Send + Sync + std::fmt::Debug {
    /// Asks a question. Dropping the future withdraws it.
    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Answer>;
}

/// The reason why a subscriber failed, in words for the user.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct SubscriberError(pub String);
