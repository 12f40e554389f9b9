//! Types shared by codecs and HTTP: an endpoint with its key, a request, and the decoder trait.

use std::ops::ControlFlow;

use secrecy::{ExposeSecret, SecretString};

use crate::consultation::protocol::call::{Ask, Failure, Outcome};
use crate::engine::ports::Delta;

use super::sse;

/// The replacement of a redacted key.
pub(super) const BLOT: &str = "[key]";

/// The address of a provider, with its key.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// Without a trailing slash; for Chat Completions it includes the version.
    pub base_url: String,
    pub account: Account,
}

impl Endpoint {
    /// Returns whether this is on the host with that name.
    pub fn is_at(&self, host: &str) -> bool {
        reqwest::Url::parse(&self.base_url).is_ok_and(|url| {
            url.host_str()
                .is_some_and(|own| own.eq_ignore_ascii_case(host))
        })
    }
}

/// A key and its origin.
#[derive(Clone, Debug)]
pub struct Account {
    /// `None` if no key is needed, or none is set.
    pub key: Option<SecretString>,
    /// The place to check when the key is refused: `` `OPENAI_API_KEY` ``.
    pub origin: String,
    pub scheme: Scheme,
}

/// The header that carries a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// The vendor's own header.
    Usual,
    /// `Authorization: Bearer`, also for a vendor with its own header.
    Bearer,
}

impl Account {
    /// Returns the text with the key redacted, in case the server echoed it.
    pub fn redact(&self, text: &str) -> String {
        match self.key.as_ref().map(ExposeSecret::expose_secret) {
            None | Some("") => text.to_owned(),
            Some(key) => text.replace(key, BLOT),
        }
    }

    /// Returns the header with the key, for a vendor with its own header.
    pub fn header(&self, own: &'static str) -> Option<(&'static str, HeaderText)> {
        let key = self.key.as_ref()?;
        Some(match self.scheme {
            Scheme::Usual => (own, HeaderText::Secret(key.clone())),
            Scheme::Bearer => bearer(key),
        })
    }

    /// Returns the `authorization` header with the key.
    pub fn bearer(&self) -> Option<(&'static str, HeaderText)> {
        self.key.as_ref().map(bearer)
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
    pub body: serde_json::Value,
    /// How the events of the answer are framed.
    pub framing: sse::Framing,
}

/// The outcome of a request.
#[derive(Debug)]
pub struct Answered {
    pub outcome: Outcome,
    /// The fields of the request that the server's error names apart from its message.
    pub named: Vec<String>,
}

impl HttpRequest {
    /// Returns the value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(header, _)| *header == name)
            .map(|(_, value)| match value {
                HeaderText::Plain(text) => *text,
                HeaderText::Secret(text) => text.expose_secret(),
            })
    }
}

/// Returns the header `Authorization: Bearer KEY`.
fn bearer(key: &SecretString) -> (&'static str, HeaderText) {
    (
        "authorization",
        HeaderText::Secret(SecretString::from(format!(
            "Bearer {}",
            key.expose_secret()
        ))),
    )
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

/// Returns the schema of the requested answer.
pub fn schema(ask: &Ask) -> serde_json::Value {
    // The schemas are compiled in and read by a test, so `Null` is unreachable.
    serde_json::from_str(ask.answer.schema()).unwrap_or_default()
}

/// The end of an event stream.
#[derive(Debug)]
pub enum End {
    /// The server closed it, or the decoder stopped.
    Closed,
    /// It broke off.
    Broken(Failure),
}

/// Builds a reply from a vendor's events.
pub trait Decoder: Send {
    /// Handles one event and reports progress. Returns `Break` if later events cannot matter.
    fn event(&mut self, event: &sse::Event, on: &mut dyn FnMut(Delta)) -> ControlFlow<()>;

    /// Returns the outcome of the call.
    fn finish(self: Box<Self>, end: End) -> Outcome;
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
