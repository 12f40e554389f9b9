//! Types shared by codecs and HTTP: an endpoint with its key, a request, and its outcome.

pub mod sse;
pub(super) mod delta_redactor;

use std::cell::Cell;
use std::ops::ControlFlow;

use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

use crate::consultation::protocol::call::{Ask, Failure, Outcome, Reply, StopReason};
use crate::domain::cost::tokens::Usage;
use crate::domain::model::dialect::Dialect;
use crate::engine::ports::Delta;
use crate::text::clean::is_invisible;

/// The replacement of a redacted key.
pub(super) const BLOT: &str = "[key]";

/// The version of Anthropic's API. It refuses sampling parameters, which are not sent by default.
const ANTHROPIC_VERSION: &str = "2026-10-21";

/// Takes the progress of a call from the text that has arrived.
pub type On<'a> = &'a mut dyn FnMut(Delta);

/// A break when the outcome is certain, or must not be waited for: no more of the stream is wanted.
pub type Flow<T = ()> = ControlFlow<(), T>;

/// The address of a provider, with its key.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// Without a trailing slash; for Chat Completions it includes the version.
    pub base_url: String,
    pub account: Account,
}

impl Endpoint {
    pub fn is_at(&self, host: &str) -> bool {
        reqwest::Url::parse(&self.base_url).is_ok_and(|url| {
            url.host_str()
                .is_some_and(|own| own.eq_ignore_ascii_case(host))
        })
    }
}

/// A key and its origin; by default no key.
#[derive(Clone, Debug, Default)]
pub struct Account {
    /// `None` if no key is needed, or none is set.
    pub key: Option<SecretString>,
    /// The place to check when the key is refused: `` `OPENAI_API_KEY` ``.
    pub origin: String,
    pub scheme: Scheme,
    /// The key is a word, such as `none`, which servers without keys are given: no secret, and part
    /// of answers.
    pub is_word: bool,
}

/// The header that carries a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scheme {
    /// The vendor's own header.
    #[default]
    Usual,
    /// `Authorization: Bearer`, also for a vendor with its own header.
    Bearer,
}

impl Account {
    /// Returns the text with the key redacted, in case the server echoed it, also at an end where
    /// the text was cut. Invisible characters are removed: inside the key they would hide it here,
    /// and be removed later, where the text is shown.
    pub fn redact(&self, text: &str) -> String {
        let (redacted, end) = self.redact_beginning(text);
        redacted + self.redact_end(&end)
    }

    /// Returns apart its end that may be the beginning of the key.
    pub(super) fn redact_beginning(&self, text: &str) -> (String, String) {
        let Some(key) = self.exposed_key() else {
            return (text.to_owned(), String::new());
        };
        let text = text.replace(is_invisible, "");
        let (mut redacted, mut rest) = (String::with_capacity(text.len()), text.as_str());
        while let Some((before, after)) = rest.split_once(key) {
            redacted = redacted + before + BLOT;
            rest = after;
        }
        // Only as many characters as the key has can begin it.
        let nearest = rest.len().saturating_sub(key.len());
        let (before, end) = rest
            .char_indices()
            .filter(|(at, _)| *at >= nearest)
            .filter_map(|(at, _)| rest.split_at_checked(at))
            .find(|(_, end)| key.starts_with(end))
            .unwrap_or((rest, ""));
        (redacted + before, end.to_owned())
    }

    /// The first few characters are the same in every key of a vendor.
    pub(super) fn redact_end<'a>(&self, end: &'a str) -> &'a str {
        const FEW: usize = 8;
        match self.exposed_key() {
            Some(key) if end.len() >= FEW.min(key.len() / 2).max(1) => BLOT,
            Some(_) | None => end,
        }
    }

    fn exposed_key(&self) -> Option<&str> {
        let key = self.key.as_ref().map(ExposeSecret::expose_secret);
        key.filter(|key| !key.is_empty() && !self.is_word)
    }

    /// The version of the API, and the key.
    pub fn headers(&self, dialect: Dialect) -> Vec<(&'static str, HeaderText)> {
        let version = ("anthropic-version", HeaderText::Plain(ANTHROPIC_VERSION));
        let version = (dialect == Dialect::Anthropic).then_some(version);
        let key = self.key.as_ref().map(|key| match (dialect, self.scheme) {
            (Dialect::Anthropic, Scheme::Usual) => ("x-api-key", HeaderText::Secret(key.clone())),
            (Dialect::Gemini, Scheme::Usual) => ("x-goog-api-key", HeaderText::Secret(key.clone())),
            (Dialect::OpenAi(_) | Dialect::Responses | Dialect::Ollama, _)
            | (_, Scheme::Bearer) => {
                let bearer = format!("Bearer {}", key.expose_secret());
                ("authorization", HeaderText::Secret(bearer.into()))
            }
        });
        version.into_iter().chain(key).collect()
    }
}

/// The value of a header.
#[derive(Clone, Debug)]
pub enum HeaderText {
    Plain(&'static str),
    Secret(SecretString),
}

/// A POST of JSON that is answered by a stream of events.
#[derive(Clone, Debug)]
pub struct HttpRequest {
    pub url: String,
    pub headers: Vec<(&'static str, HeaderText)>,
    pub body: Value,
    /// How the events of the answer are framed.
    pub framing: sse::Framing,
}

/// Redacts the key in everything that came from the server.
pub(super) fn redacted(outcome: Outcome, account: &Account) -> Outcome {
    let redact = |text: String| account.redact(&text);
    match outcome {
        Ok(reply) => Ok(Reply {
            text: redact(reply.text),
            stop: match reply.stop {
                StopReason::Refused(words) => StopReason::Refused(redact(words)),
                StopReason::Other(word) => StopReason::Other(redact(word)),
                stop @ (StopReason::End | StopReason::Length | StopReason::TooLong) => stop,
            },
            served_model: reply.served_model.map(redact),
            ..reply
        }),
        Err(failure) => Err(Failure {
            message: redact(failure.message),
            partial: redact(failure.partial),
            ..failure
        }),
    }
}

/// Returns the address of a path below a base URL, which may already contain the path or its
/// beginning: users give all three.
pub fn address(base_url: &str, path: &str) -> String {
    let base = base_url.trim_end_matches('/');
    let ends = path
        .match_indices('/')
        .map(|(at, _)| at)
        .chain([path.len()])
        .rev();
    let shared = ends
        .filter_map(|end| path.get(..end))
        .find(|start| base.ends_with(start))
        .unwrap_or_default();
    format!("{base}{}", path.strip_prefix(shared).unwrap_or(path))
}

pub(super) fn schema(ask: &Ask) -> Value {
    ask.answer.schema(ask.form)
}

/// `json!` would copy the value, and the schemas of requests are large.
pub(super) fn with(mut object: Value, field: &str, value: Value) -> Value {
    if let Some(fields) = object.as_object_mut() {
        fields.insert(field.to_owned(), value);
    }
    object
}

/// Empty for any other value.
pub(super) fn entries<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    value[key].as_array().into_iter().flatten()
}

/// Empty for any other.
pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The counts in a report of usage. One invalid count says nothing sure of the cost, so the whole
/// report is left out then; it does not invalidate the answer.
#[derive(Debug)]
pub(super) struct Counts<'a> {
    report: &'a Value,
    are_valid: Cell<bool>,
}

impl<'a> Counts<'a> {
    pub(super) fn of(report: &'a Value) -> Self {
        Self {
            report,
            are_valid: Cell::new(report.is_object()),
        }
    }

    /// `None` if it is missing or null.
    pub(super) fn at(&self, pointer: &str) -> Option<u64> {
        let value = self.report.pointer(pointer);
        let value = value.filter(|value| !value.is_null())?;
        let count = value.as_u64();
        self.are_valid.set(self.are_valid.get() && count.is_some());
        count
    }

    /// `None` unless all counts were valid.
    pub(super) fn valid(&self, usage: Usage) -> Option<Usage> {
        self.are_valid.get().then_some(usage)
    }
}

/// Returns an object without the fields that are null, which a request leaves out.
pub(super) fn without_nulls(mut object: Value) -> Value {
    if let Some(fields) = object.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
    }
    object
}

/// The end of an event stream.
#[derive(Debug)]
pub enum End {
    /// The server closed it, or the decoder stopped.
    Closed,
    /// It broke off.
    Broken(Failure),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_the_same_wherever_its_base_ends() {
        for base in [
            "http://h:1/v1",
            "http://h:1/v1/",
            "http://h:1/v1/chat",
            "http://h:1/v1/chat/completions",
        ] {
            assert_eq!(
                address(base, "/chat/completions"),
                "http://h:1/v1/chat/completions",
                "{base}"
            );
        }
        for base in [
            "https://h",
            "https://h/",
            "https://h/v1",
            "https://h/v1/messages",
        ] {
            assert_eq!(
                address(base, "/v1/messages"),
                "https://h/v1/messages",
                "{base}"
            );
        }
        assert_eq!(
            address("http://h/proxy/v1", "/api/chat"),
            "http://h/proxy/v1/api/chat"
        );
    }
}
