//! What codecs and HTTP share: an endpoint with its key, a request ready to be sent, and what a
//! decoder must do.

use std::ops::ControlFlow;

use secrecy::{ExposeSecret, SecretString};

use crate::consultation::protocol::call::{Ask, Failure, Outcome};
use crate::engine::ports::Delta;

use super::sse;

/// What stands where a key has been.
pub(super) const BLOT: &str = "[key]";

/// Where a provider is reached and with which key.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// Without a trailing slash; for Chat Completions it includes the version.
    pub base_url: String,
    pub account: Account,
}

impl Endpoint {
    /// Whether this is on the host of that name.
    pub fn is_at(&self, host: &str) -> bool {
        reqwest::Url::parse(&self.base_url).is_ok_and(|url| {
            url.host_str()
                .is_some_and(|own| own.eq_ignore_ascii_case(host))
        })
    }
}

/// A key, and where the user finds it.
#[derive(Clone, Debug)]
pub struct Account {
    /// `None` where no key is wanted, or none is set.
    pub key: Option<SecretString>,
    /// What the user would look at when the key is refused: `` `OPENAI_API_KEY` ``.
    pub origin: String,
    pub scheme: Scheme,
}

/// How a key is shown to the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// In the header that the vendor's keys go in.
    Usual,
    /// `Authorization: Bearer`, also where the vendor's keys go elsewhere.
    Bearer,
}

impl Account {
    /// The text with the key blotted out, wherever a server may have echoed it.
    pub fn redact(&self, text: &str) -> String {
        match self.key.as_ref().map(ExposeSecret::expose_secret) {
            None | Some("") => text.to_owned(),
            Some(key) => text.replace(key, BLOT),
        }
    }

    /// The header that carries the key, where a vendor has one of its own.
    pub fn header(&self, own: &'static str) -> Option<(&'static str, HeaderText)> {
        let key = self.key.as_ref()?;
        Some(match self.scheme {
            Scheme::Usual => (own, HeaderText::Secret(key.clone())),
            Scheme::Bearer => bearer(key),
        })
    }

    /// The header that carries the key, where everyone uses the same.
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

/// What came of a request.
#[derive(Debug)]
pub struct Answered {
    pub outcome: Outcome,
    /// The fields of the request that an error of the server's names beside its words.
    pub named: Vec<String>,
}

impl HttpRequest {
    /// The header of this name as it will be sent.
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

/// `Authorization: Bearer KEY`.
fn bearer(key: &SecretString) -> (&'static str, HeaderText) {
    (
        "authorization",
        HeaderText::Secret(SecretString::from(format!(
            "Bearer {}",
            key.expose_secret()
        ))),
    )
}

/// The address of a path below a base URL, whether the base ends before the path, inside it or
/// behind it: people give all three.
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

/// The schema of the answer that is asked for.
pub fn schema(ask: &Ask) -> serde_json::Value {
    // The schemas are compiled in and read by a test of theirs, so `Null` is never seen.
    serde_json::from_str(ask.answer.schema()).unwrap_or_default()
}

/// How a stream of events came to its end.
#[derive(Debug)]
pub enum End {
    /// The server closed it, or the decoder had seen enough.
    Closed,
    /// It broke off.
    Broken(Failure),
}

/// Makes a reply out of a vendor's events.
pub trait Decoder: Send {
    /// Takes one event and reports progress. `Break` when nothing that follows can matter.
    fn event(&mut self, event: &sse::Event, on: &mut dyn FnMut(Delta)) -> ControlFlow<()>;

    /// What has come of the call.
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
