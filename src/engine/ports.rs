//! The ports to the outside: models to ask, subscribers to events, a person to consult, and the
//! face that shows what is done for them.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use crate::consultation::event::{Answer, Envelope};
use crate::consultation::machine::Question;
use crate::consultation::protocol::call::{Ask, Failure, Outcome};
use crate::domain::ids::{CallId, ProviderId};

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

/// Takes the progress of a call as it happens.
pub type OnDelta<'a> = &'a mut (dyn FnMut(Delta) + Send);

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
pub trait Provider: Send + Sync + Debug {
    /// Makes one call without retries. `on` receives progress as it happens.
    fn ask<'a>(&'a self, ask: &'a Ask, on: OnDelta<'a>) -> BoxFuture<'a, Outcome>;

    /// Checks the provider's health by a free request; `None` if there is none. Failures never
    /// contain a key. Dropping the future closes the connection.
    fn check(&self) -> Option<BoxFuture<'_, Result<(), Failure>>> {
        None
    }
}

/// The models that can be asked, by provider.
pub type Providers = BTreeMap<ProviderId, Arc<dyn Provider>>;

/// Receives all events, in order.
pub trait Subscriber: Send + Debug {
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
pub trait Person: Send + Sync + Debug {
    /// Asks a question. Dropping the future withdraws it.
    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Answer>;
}

/// What preparations and runs say beside their result, and the place where they ask whether to go
/// on.
pub trait Face: Send + Sync + Debug {
    /// Says a line, unless only errors are wanted.
    fn note(&self, line: &str);

    /// Says a line where details are wanted.
    fn detail(&self, line: &str);

    /// Warns of a failure, whatever is wanted.
    fn warning(&self, line: &str);

    /// Says whole lines, whatever is wanted.
    fn lines(&self, text: &str);

    /// Begins to show the progress of work that takes long; dropping the value ends it.
    fn begin(&self, work: LongWork) -> Box<dyn WorkProgress>;

    /// Asks a question whose default is yes. `lines` are above it. Dropping the future withdraws
    /// it.
    fn confirm<'a>(&'a self, lines: Vec<String>, question: &'a str) -> BoxFuture<'a, Confirmation>;
}

/// Work that takes long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LongWork {
    /// In bytes.
    Download,
    /// In consultations.
    IndexRebuild,
}

/// Shows the progress of one piece of work.
pub trait WorkProgress: Send + Debug {
    /// Says what is done now. Repeating it says nothing.
    fn step(&mut self, what: &str);

    /// Says how much is done.
    fn at(&mut self, done: u64, of: u64);
}

/// The answer to a yes-or-no question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confirmation {
    Yes,
    /// Also when the input ended.
    No,
    /// There is no person to ask, or their terminal went away.
    NoPerson,
}

/// The reason why a subscriber failed, in words for the user.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct SubscriberError(pub String);

/// A face for tests: it says nothing, and has no person to ask.
#[cfg(test)]
pub(crate) mod silent {
    use super::{BoxFuture, Confirmation, Face, LongWork, WorkProgress};

    #[derive(Debug)]
    pub(crate) struct SilentFace;

    impl Face for SilentFace {
        fn note(&self, _: &str) {}

        fn detail(&self, _: &str) {}

        fn warning(&self, _: &str) {}

        fn lines(&self, _: &str) {}

        fn begin(&self, _: LongWork) -> Box<dyn WorkProgress> {
            Box::new(Self)
        }

        fn confirm<'a>(&'a self, _: Vec<String>, _: &'a str) -> BoxFuture<'a, Confirmation> {
            Box::pin(async { Confirmation::NoPerson })
        }
    }

    impl WorkProgress for SilentFace {
        fn step(&mut self, _: &str) {}

        fn at(&mut self, _: u64, _: u64) {}
    }
}
