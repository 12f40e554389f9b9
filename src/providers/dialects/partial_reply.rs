//! The reply that a decoder builds from a stream, and the decision on its outcome: an answer, a
//! refusal or a failure.

use crate::consultation::policy::failure::Remedy;
use crate::consultation::protocol::call::{Ask, Failure, FailureClass, Outcome, Reply, StopReason};
use crate::domain::cost::money::MicroUsd;
use crate::domain::cost::tokens::{CharCount, Usage, UsageSource, estimate_tokens};
use crate::engine::ports::Delta;

use crate::providers::errors;
use crate::providers::form::prompt_tokens;
use crate::providers::wire::{Account, End, Flow, On};

/// The most bytes of an answer that are stored: far more than any model writes, and small enough
/// for the prompts of later rounds.
pub const MAX_TEXT_BYTES: usize = 1_000_000;

/// The reply so far.
#[derive(Debug, Default)]
pub struct PartialReply {
    account: Account,
    /// Our estimate of the prompt's tokens, used if the provider does not report them.
    pub prompt_tokens: u64,
    pub text: String,
    /// Text above the limit. It counts as output if the provider does not report usage, as does
    /// thinking, which is not part of the answer.
    left_out: CharCount,
    thinking: CharCount,
    /// The model's words of refusal, from vendors that send them apart from the text.
    pub refusal: String,
    /// What arrives is said on the way to the answer, and counts as thinking.
    pub is_aside: bool,
    pub stop: Option<StopReason>,
    /// The usage reported so far.
    pub usage: Option<Usage>,
    /// Whether the reported usage covers the whole call.
    pub usage_is_final: bool,
    pub served_model: Option<String>,
    pub reported_cost: Option<MicroUsd>,
    failure: Option<Failure>,
    /// Whether any event has arrived.
    begun: bool,
    /// Whether the vendor's last event has arrived.
    pub complete: bool,
    /// The reason why a reply with a normal end is a failure: the prompt, alone or with the answer,
    /// did not fit. A higher output limit would not help.
    pub overflow: Option<String>,
}

impl PartialReply {
    pub fn new(ask: &Ask, account: &Account) -> Self {
        Self {
            account: account.clone(),
            prompt_tokens: prompt_tokens(ask),
            ..Self::default()
        }
    }

    pub fn add_text(&mut self, piece: &str, on: On<'_>) {
        // Once a piece did not fit, there is no room for a shorter one.
        let room = if self.left_out.is_empty() {
            MAX_TEXT_BYTES.saturating_sub(self.text.len())
        } else {
            0
        };
        let end = (0..=room.min(piece.len()))
            .rev()
            .find(|at| piece.is_char_boundary(*at));
        let (stored, rest) = piece.split_at(end.unwrap_or_default());
        self.left_out.add(rest);
        if !stored.is_empty() {
            self.text.push_str(stored);
            on(Delta::Text(stored.to_owned()));
        }
    }

    /// `piece` is empty if the vendor only reports that there is some.
    pub fn add_thinking(&mut self, piece: &str, on: On<'_>) {
        self.thinking.add(piece);
        on(Delta::Thinking);
    }

    /// Data that is not JSON is a broken connection, and nothing is read after a failure.
    pub fn json(&mut self, data: &str) -> Flow<serde_json::Value> {
        if self.failure.is_some() {
            return Flow::Break(());
        }
        self.begun = true;
        match serde_json::from_str(data) {
            Ok(value) => Flow::Continue(value),
            Err(error) => {
                let message = format!("an event of the stream is not JSON ({error})");
                self.unreadable(FailureClass::Transport, message)
            }
        }
    }

    /// Fails the call for an event that violates the vendor's protocol.
    pub fn malformed<T>(&mut self, message: impl Into<String>) -> Flow<T> {
        self.unreadable(FailureClass::Malformed, message)
    }

    /// Fails the call, unless the answer was complete before: then only its usage is lost.
    fn unreadable<T>(&mut self, class: FailureClass, message: impl Into<String>) -> Flow<T> {
        if !self.complete || self.stop.is_none() {
            self.failure = Some(self.interrupting(Failure::new(class, message)));
        }
        Flow::Break(())
    }

    /// Fails the call for an error inside the stream, after a successful status.
    pub fn fail(&mut self, body: &serde_json::Value) -> Flow {
        let failure = errors::in_stream(body, &self.account);
        self.failure = Some(self.interrupting(failure));
        Flow::Break(())
    }

    /// Returns the failure as an interruption if it is transient and comes after content: a plain
    /// retry would pay for the same text again.
    fn interrupting(&self, mut failure: Failure) -> Failure {
        let transient = failure.class.meaning().remedy == Remedy::Wait;
        if transient && !self.text.is_empty() {
            failure.class = FailureClass::Interrupted;
        }
        failure
    }

    pub fn finish(mut self, end: End) -> Outcome {
        if !self.refusal.is_empty() && self.stop.is_some() {
            self.stop = Some(StopReason::Refused(std::mem::take(&mut self.refusal)));
        }
        match (self.complete, self.stop.take(), self.failure.take()) {
            (true, Some(stop), None) => self.reply(stop),
            (_, _, Some(failure)) => Err(self.with_remains(failure)),
            (_, _, None) => {
                let early = if self.begun {
                    "the stream ended before the answer was complete"
                } else {
                    "the stream ended before any of the answer arrived; the prompt may be too long \
                     for the model"
                };
                let failure = self.interrupting(match end {
                    End::Broken(failure) => failure,
                    End::Closed => Failure::new(FailureClass::Transport, early),
                });
                Err(self.with_remains(failure))
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
            // Text before a refusal is not an answer, and vendors ask to discard it.
            StopReason::Refused(_) => self.text.clear(),
            StopReason::End | StopReason::Length | StopReason::TooLong | StopReason::Other(_) => {}
        }
        let redact = |text: &str| self.account.redact(text);
        let words = |text: &str| errors::shortened(&redact(text));
        let stop = match stop {
            StopReason::Refused(reason) => StopReason::Refused(words(&reason)),
            _ if !self.left_out.is_empty() => StopReason::TooLong,
            StopReason::Other(word) => StopReason::Other(words(&word)),
            StopReason::End | StopReason::Length | StopReason::TooLong => stop,
        };
        Ok(Reply {
            usage,
            text: redact(&self.text),
            stop,
            served_model: self.served_model.as_deref().map(words),
            reported_cost: self.reported_cost,
            plan: None,
        })
    }

    fn with_remains(self, failure: Failure) -> Failure {
        let began = self.usage.is_some() || !self.text.is_empty() || !self.thinking.is_empty();
        let usage = began.then(|| Box::new(self.usage()));
        Failure {
            usage,
            reported_cost: self.reported_cost,
            partial: self.text,
            ..failure
        }
    }

    /// Returns the reported usage, completed by our estimate and marked as such where the report is
    /// missing.
    fn usage(&self) -> Usage {
        let mut usage = self.usage.unwrap_or_default();
        // A report of no prompt tokens, or of none for a text, is incomplete.
        let plausible = usage.prompt() > 0 && (usage.output > 0 || self.text.is_empty());
        if self.usage_is_final && plausible {
            return usage;
        }
        if usage.prompt() == 0 {
            usage.input = self.prompt_tokens;
        }
        let reasoning = self.thinking.band().expected;
        let output = estimate_tokens(&self.text) + self.left_out.band().expected + reasoning;
        Usage {
            output: usage.output.max(output),
            reasoning: usage.reasoning.max(reasoning),
            source: UsageSource::Estimated,
            ..usage
        }
    }
}
