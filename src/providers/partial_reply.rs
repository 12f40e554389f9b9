//! The reply that a decoder builds from a stream, and the decision on its outcome: an answer, a
//! refusal or a failure.

use std::ops::ControlFlow;

use crate::consultation::protocol::call::{Ask, Failure, FailureClass, Outcome, Reply, StopReason};
use crate::domain::money::MicroUsd;
use crate::domain::tokens::{Usage, UsageSource, estimate_tokens};
use crate::engine::ports::Delta;

use super::errors;
use super::form::prompt_tokens;
use super::wire::{Account, End};

/// Most bytes of an answer: far more than any model writes, and still of a size to keep.
const MAX_TEXT_BYTES: usize = 4 * 1024 * 1024;

/// A reply as far as it has arrived.
#[derive(Debug)]
pub struct PartialReply {
    account: Account,
    /// The prompt's tokens by our own estimate, in case the provider does not count.
    pub prompt_tokens: u64,
    pub text: String,
    /// Thinking is no part of the answer, and counts as output when the provider does not count.
    thinking: String,
    pub stop: Option<StopReason>,
    /// What the provider has reported so far.
    pub usage: Option<Usage>,
    /// The reported usage covers the whole call.
    pub usage_is_final: bool,
    pub served_model: Option<String>,
    pub reported_cost: Option<MicroUsd>,
    failure: Option<Failure>,
    /// Something has arrived, whatever it was.
    begun: bool,
    /// What the vendor sends last has arrived.
    pub complete: bool,
    /// Why this is no answer although it ended as one: the prompt, or the prompt and the answer,
    /// did not fit. More room would not help.
    pub overflow: Option<String>,
}

impl PartialReply {
    pub fn new(ask: &Ask, account: &Account) -> Self {
        Self {
            account: account.clone(),
            prompt_tokens: prompt_tokens(ask),
            text: String::new(),
            thinking: String::new(),
            stop: None,
            usage: None,
            usage_is_final: false,
            served_model: None,
            reported_cost: None,
            failure: None,
            begun: false,
            complete: false,
            overflow: None,
        }
    }

    pub fn add_text(&mut self, piece: &str, on: &mut dyn FnMut(Delta)) {
        if self.text.len().saturating_add(piece.len()) > MAX_TEXT_BYTES {
            self.failure = Some(Failure::new(
                FailureClass::Malformed,
                format!("the answer is longer than {MAX_TEXT_BYTES} bytes"),
            ));
        } else if !piece.is_empty() {
            self.text.push_str(piece);
            on(Delta::Text(piece.to_owned()));
        }
    }

    /// Takes a piece of thinking, which may be empty where the vendor only says that there is some.
    pub fn add_thinking(&mut self, piece: &str, on: &mut dyn FnMut(Delta)) {
        self.thinking.push_str(piece);
        on(Delta::Thinking);
    }

    /// Reads an event's data. Data that is not JSON ends the call, and nothing is read after what
    /// has failed it.
    pub fn json(&mut self, data: &str) -> ControlFlow<(), serde_json::Value> {
        if self.failure.is_some() {
            return ControlFlow::Break(());
        }
        self.begun = true;
        match serde_json::from_str(data) {
            Ok(value) => ControlFlow::Continue(value),
            Err(error) => {
                self.failure = Some(Failure::new(
                    FailureClass::Malformed,
                    format!("an event of the stream is not JSON ({error})"),
                ));
                ControlFlow::Break(())
            }
        }
    }

    /// Takes an event that is not what the vendor's protocol allows.
    pub fn malformed(&mut self, message: &str) -> ControlFlow<()> {
        self.failure = Some(Failure::new(FailureClass::Malformed, message));
        ControlFlow::Break(())
    }

    /// Takes an error that arrived inside the stream, after a successful status.
    pub fn fail(&mut self, body: &serde_json::Value) -> ControlFlow<()> {
        let mut failure = errors::in_stream(body, &self.account);
        // What was transient before any content is an interruption after it: a plain retry would
        // pay for the same text again.
        if matches!(
            failure.class,
            FailureClass::RateLimit | FailureClass::Overload
        ) && !self.text.is_empty()
        {
            failure.class = FailureClass::Interrupted;
        }
        self.failure = Some(failure);
        ControlFlow::Break(())
    }

    /// Returns the outcome of the call.
    pub fn finish(mut self, end: End) -> Outcome {
        match (self.complete, self.stop.take(), self.failure.take()) {
            // The answer was whole before something unreadable followed it: only what that said of
            // usage is lost.
            (
                true,
                Some(stop),
                None
                | Some(Failure {
                    class: FailureClass::Malformed,
                    ..
                }),
            ) => self.reply(stop),
            (_, _, Some(failure)) => Err(self.with_remains(failure)),
            (_, stop, None) => {
                self.stop = stop;
                Err(self.interrupted(end))
            }
        }
    }

    fn reply(mut self, stop: StopReason) -> Outcome {
        if let Some(message) = self.overflow.take() {
            return Err(self.with_remains(Failure::new(FailureClass::Context, message)));
        }
        let usage = self.usage();
        match &stop {
            StopReason::End if self.text.trim().is_empty() => {
                let message = "the model ended its answer without any text";
                return Err(self.with_remains(Failure::new(FailureClass::Empty, message)));
            }
            // What was written before a refusal is not an answer, and vendors ask for it to be
            // discarded.
            StopReason::Refused(_) => self.text.clear(),
            StopReason::End | StopReason::Length | StopReason::Other(_) => {}
        }
        let redact = |text: String| self.account.redact(&text);
        let stop = match stop {
            StopReason::Refused(words) => StopReason::Refused(redact(words)),
            StopReason::Other(word) => StopReason::Other(redact(word)),
            StopReason::End | StopReason::Length => stop,
        };
        Ok(Reply {
            usage,
            text: redact(self.text),
            stop,
            served_model: self.served_model.map(redact),
            reported_cost: self.reported_cost,
        })
    }

    fn interrupted(self, end: End) -> Failure {
        let failure = match end {
            End::Closed if self.begun => Failure::new(
                FailureClass::Transport,
                "the stream ended before the answer was complete",
            ),
            End::Closed => {
                let message = "the stream ended before any of the answer arrived; the prompt may \
                    be too long for the model";
                Failure::new(FailureClass::Transport, message)
            }
            End::Broken(failure) => failure,
        };
        // Before any content it is as if the connection had never been there; after it, trying
        // again would pay for the same text twice.
        let interrupted = matches!(
            failure.class,
            FailureClass::Transport | FailureClass::Timeout
        ) && !self.text.is_empty();
        let failure = if interrupted {
            Failure {
                class: FailureClass::Interrupted,
                ..failure
            }
        } else {
            failure
        };
        self.with_remains(failure)
    }

    /// Adds what is left of the call: its text, and what it used, when it came so far that
    /// something was used.
    fn with_remains(self, failure: Failure) -> Failure {
        let began = self.usage.is_some() || !self.text.is_empty() || !self.thinking.is_empty();
        let usage = began.then(|| Box::new(self.usage()));
        Failure {
            usage,
            reported_cost: self.reported_cost,
            partial: self.account.redact(&self.text),
            ..failure
        }
    }

    /// What the provider reported; completed by our own estimate where it did not, and marked so.
    fn usage(&self) -> Usage {
        let reported = self.usage.unwrap_or_default();
        // No provider counts an empty prompt, or no tokens for a text: such a report left something
        // out.
        let plausible = reported.prompt() > 0 && (reported.output > 0 || self.text.is_empty());
        if self.usage_is_final && plausible {
            return reported;
        }
        let reported = if reported.prompt() > 0 {
            reported
        } else {
            Usage {
                input: self.prompt_tokens,
                ..reported
            }
        };
        let reasoning = estimate_tokens(&self.thinking);
        let output = reported
            .output
            .max(estimate_tokens(&self.text).saturating_add(reasoning));
        Usage {
            output,
            reasoning: reported.reasoning.max(reasoning),
            source: UsageSource::Estimated,
            ..reported
        }
    }
}
