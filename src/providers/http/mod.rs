//! HTTP for all providers: one set of clients, one way to make a call. Nothing else sends a request
//! to a model.
//!
//! No retry (that is policy, decided elsewhere), no redirect (a redirect would carry a vendor's key
//! to another host), no compression (it holds back streams) and no total timeout (a model may think
//! for as long as it gives signs of life). Dropping the future of a call closes its connection.

mod get;

use std::ops::ControlFlow;
use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Response};
use tokio::time::{Instant, timeout, timeout_at};

use crate::consultation::protocol::call::{Failure, FailureClass, Outcome};
use crate::domain::cost::tokens::Usage;
use crate::domain::model::address::authority;
use crate::engine::ports::{Delta, OnDelta};

use super::clients::{self, Clients};
pub use super::clients::{ClientError, Timeouts, is_readable_on_the_way};
use super::dialects::decoder::Decoder;
use super::errors::{self, ErrorResponse};
use super::wire::delta_redactor::DeltaRedactor;
use super::wire::sse::{self, Framing};
use super::wire::{Account, End, HeaderText, HttpRequest, redacted};

pub use get::{GetRequest, GetResponse};

/// The most bytes that are read of an unsuccessful response.
const MAX_ERROR_BYTES: usize = 64 * 1024;
/// The beginning of a proxy's error for a refused tunnel.
const TUNNEL: &str = "tunnel error: ";
/// The most bytes of a whole stream.
const MAX_STREAM_BYTES: usize = 64 * 1024 * 1024;

/// Makes calls over HTTP.
#[derive(Debug, Default)]
pub struct Http {
    clients: Clients,
}

impl Http {
    pub fn new(timeouts: Timeouts) -> Self {
        Self {
            clients: Clients::new(timeouts),
        }
    }

    /// Hosts of the user's own network are reached without a proxy. Redirects are not followed.
    pub fn client_for(&self, url: &str) -> Result<&Client, ClientError> {
        self.clients.get(&clients::parse(url)?)
    }

    /// Makes one call and passes the events of the response to the decoder. Returns the outcome, and
    /// the fields of the request that the server's error names apart from its message. Nothing that
    /// comes back has the key in it.
    pub async fn call(
        &self,
        request: HttpRequest,
        decoder: Decoder,
        account: &Account,
        on: OnDelta<'_>,
    ) -> (Outcome, Vec<String>) {
        let (outcome, named) = self.exchange(request, decoder, account, on).await;
        let named = named.iter().map(|field| account.redact(field));
        (redacted(outcome, account), named.collect())
    }

    async fn exchange(
        &self,
        request: HttpRequest,
        mut decoder: Decoder,
        account: &Account,
        on: OnDelta<'_>,
    ) -> (Outcome, Vec<String>) {
        let framing = request.framing;
        let body = match self.send(request, account).await {
            Ok(body) => body,
            Err(failure) => return (Err(failure), Vec::new()),
        };
        if !body.response.status().is_success() {
            let now = header(body.response.headers(), "date")
                .as_deref()
                .and_then(errors::http_date);
            let refused = error_response(body).await;
            let failure = errors::classify(&refused, account, now);
            return (Err(failure), errors::named_fields(&refused.body));
        }
        let mut redactor = DeltaRedactor::new(account, on);
        redactor.push(Delta::Connected);
        let end = read(body, framing, &mut decoder, account, &mut |delta| {
            redactor.push(delta);
        })
        .await;
        redactor.finish();
        (decoder.finish(end), Vec::new())
    }

    async fn send<'a>(
        &self,
        request: HttpRequest,
        account: &'a Account,
    ) -> Result<Body<'a>, Failure> {
        let bad_request = |reason: String| Failure::new(FailureClass::BadRequest, reason);
        let url = clients::parse(&request.url).map_err(|error| bad_request(error.to_string()))?;
        let client = self
            .clients
            .get(&url)
            .map_err(|error| bad_request(error.to_string()))?;
        let mut headers = headers(&request.headers, account)?;
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let body =
            serde_json::to_vec(&request.body).map_err(|error| bad_request(error.to_string()))?;
        let authority = authority(url.as_str());
        let timeouts = self.clients.timeouts;
        let first_byte = Instant::now() + timeouts.first_byte;
        let sent = client.post(url).headers(headers).body(body).send();
        let response = timeout_at(first_byte, sent)
            .await
            .map_err(|_| silent(&authority, timeouts.first_byte))?
            .map_err(|error| Failure {
                // Without a connection no request was sent, so nothing is billed.
                usage: error.is_connect().then(Box::<Usage>::default),
                ..broken(&error, &authority, account, timeouts)
            })?;
        Ok(Body {
            response,
            account,
            timeouts,
            first_byte: Some(first_byte),
        })
    }
}

/// A response whose head has arrived.
#[derive(Debug)]
struct Body<'a> {
    response: Response,
    account: &'a Account,
    timeouts: Timeouts,
    /// The end of the wait for the first byte; `None` once it has arrived.
    first_byte: Option<Instant>,
}

impl Body<'_> {
    /// `None` at the end.
    async fn chunk(&mut self) -> Result<Option<impl AsRef<[u8]> + use<>>, Failure> {
        let next = self.response.chunk();
        let (next, limit) = match self.first_byte {
            Some(deadline) => (timeout_at(deadline, next).await, self.timeouts.first_byte),
            None => (timeout(self.timeouts.idle, next).await, self.timeouts.idle),
        };
        let authority = authority(self.response.url().as_str());
        let chunk = next
            .map_err(|_| silent(&authority, limit))?
            .map_err(|error| broken(&error, &authority, self.account, self.timeouts))?;
        if chunk.as_ref().is_some_and(|chunk| !chunk.is_empty()) {
            self.first_byte = None;
        }
        Ok(chunk)
    }
}

fn silent(authority: &str, limit: Duration) -> Failure {
    let seconds = limit.as_secs_f64();
    Failure::new(
        FailureClass::Timeout,
        format!("`{authority}` sent nothing for {seconds} s"),
    )
}

async fn read(
    mut body: Body<'_>,
    framing: Framing,
    decoder: &mut Decoder,
    account: &Account,
    on: OnDelta<'_>,
) -> End {
    let response = &body.response;
    let content_type = header(response.headers(), "content-type").unwrap_or_default();
    if framing == Framing::Lines && is_media_type(&content_type, "text/html") {
        // Its lines would be read as broken events.
        return not_a_stream(&[], &content_type, account);
    }
    let malformed = |reason: String| End::Broken(Failure::new(FailureClass::Malformed, reason));
    if let Some(words) = compressed(response.headers()) {
        return malformed(words);
    }
    let mut parser = sse::Parser::new(framing);
    let mut events = Vec::new();
    // Saved until the first event, to describe a body without events.
    let mut preamble = Vec::new();
    let mut total = 0usize;
    let mut any_event = false;
    let mut is_answering = false;
    loop {
        let chunk = match body.chunk().await {
            Ok(Some(chunk)) => chunk,
            Ok(None) => break,
            Err(failure) => return End::Broken(failure),
        };
        let chunk = chunk.as_ref();
        total = total.saturating_add(chunk.len());
        if total > MAX_STREAM_BYTES {
            return malformed(format!(
                "the answer is larger than {MAX_STREAM_BYTES} bytes"
            ));
        }
        let fed = parser.feed(chunk, &mut events);
        any_event |= !events.is_empty();
        if !any_event {
            let room = MAX_ERROR_BYTES.saturating_sub(preamble.len());
            preamble.extend_from_slice(chunk.get(..room.min(chunk.len())).unwrap_or_default());
        }
        for event in events.drain(..) {
            let on = &mut |delta: Delta| {
                is_answering |= delta.shows_answer();
                on(delta);
            };
            if decoder.event(&event, on) == ControlFlow::Break(()) {
                return End::Closed;
            }
        }
        if !is_answering {
            on(Delta::KeepAlive);
        }
        if let Err(error) = fed {
            return malformed(error.to_string());
        }
    }
    let announced = match framing {
        Framing::Events => "text/event-stream",
        Framing::Lines => "application/x-ndjson",
    };
    match parser.finish().filter(is_whole) {
        Some(event) => {
            // The stream ends here, whether or not the decoder expects more.
            let _ = decoder.event(&event, on);
        }
        None if !any_event && !is_media_type(&content_type, announced) => {
            return not_a_stream(&preamble, &content_type, account);
        }
        None => {}
    }
    End::Closed
}

/// The cause may be words of the peer: an HTTP/2 server can send some before it closes.
fn broken(
    error: &reqwest::Error,
    authority: &str,
    account: &Account,
    timeouts: Timeouts,
) -> Failure {
    let cause = errors::shortened(&account.redact(&errors::innermost(error)));
    let message = if error.is_timeout() && error.is_connect() {
        let seconds = timeouts.connect.as_secs_f64();
        format!("`{authority}` did not accept a connection within {seconds} s")
    } else if error.is_timeout() {
        format!("`{authority}` no longer responds: {cause}")
    } else if is_refused(error) {
        format!("connection refused by `{authority}`")
    } else if cause.contains("ertificate") {
        format!("the TLS certificate of `{authority}` was not accepted: {cause}")
    } else if let Some(reason) = cause.strip_prefix(TUNNEL) {
        format!("the proxy did not connect to `{authority}`: {reason}; check `HTTPS_PROXY`")
    } else if error.is_connect() {
        format!("cannot connect to `{authority}`: {cause}")
    } else {
        format!("the connection to `{authority}` broke: {cause}")
    };
    Failure::new(class_of(error), message)
}

/// All failures may, except a proxy that rejects the user and a certificate from an unknown issuer.
fn class_of(error: &reqwest::Error) -> FailureClass {
    match errors::innermost(error).as_str() {
        cause if cause.starts_with(TUNNEL) && cause.ends_with("authorization required") => {
            FailureClass::Auth
        }
        cause if cause.contains("ertificate") => FailureClass::BadRequest,
        _ if error.is_timeout() => FailureClass::Timeout,
        _ => FailureClass::Transport,
    }
}

fn is_refused(error: &reqwest::Error) -> bool {
    std::iter::successors(std::error::Error::source(error), |cause| cause.source())
        .filter_map(|cause| cause.downcast_ref::<std::io::Error>())
        .any(|cause| cause.kind() == std::io::ErrorKind::ConnectionRefused)
}

/// Keys are marked as sensitive, so that no log shows them.
fn headers(wanted: &[(&'static str, HeaderText)], account: &Account) -> Result<HeaderMap, Failure> {
    let mut headers = HeaderMap::with_capacity(wanted.len() + 1);
    for (name, text) in wanted {
        let value = match text {
            HeaderText::Plain(text) => HeaderValue::from_static(text),
            HeaderText::Secret(text) => {
                let unsendable = |_| {
                    Failure::new(
                        FailureClass::Auth,
                        format!("the key in {} cannot be sent", account.origin),
                    )
                };
                let mut value = HeaderValue::from_str(secrecy::ExposeSecret::expose_secret(text))
                    .map_err(unsendable)?;
                value.set_sensitive(true);
                value
            }
        };
        headers.insert(HeaderName::from_static(name), value);
    }
    Ok(headers)
}

fn header(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name)?.to_str().ok().map(ToOwned::to_owned)
}

async fn error_response(mut body: Body<'_>) -> ErrorResponse {
    let headers = body.response.headers();
    let mut error = ErrorResponse {
        status: body.response.status().as_u16(),
        retry_after_ms: header(headers, "retry-after-ms"),
        retry_after: header(headers, "retry-after"),
        should_retry: header(headers, "x-should-retry"),
        body: compressed(headers).unwrap_or_default(),
    };
    if !error.body.is_empty() {
        return error;
    }
    let mut bytes = Vec::new();
    // A body that breaks off is used as far as it arrived.
    while let Ok(Some(chunk)) = body.chunk().await {
        let chunk = chunk.as_ref();
        let room = MAX_ERROR_BYTES.saturating_sub(bytes.len());
        bytes.extend_from_slice(chunk.get(..room.min(chunk.len())).unwrap_or_default());
        if room <= chunk.len() {
            break;
        }
    }
    error.body = String::from_utf8_lossy(&bytes).into_owned();
    error
}

fn is_media_type(content_type: &str, media_type: &str) -> bool {
    let content_type = content_type.trim_start().to_ascii_lowercase();
    content_type.starts_with(media_type)
}

/// No request allows compression, so such a body cannot be read.
fn compressed(headers: &HeaderMap) -> Option<String> {
    let encoding = header(headers, "content-encoding")
        .filter(|encoding| !encoding.eq_ignore_ascii_case("identity"))?;
    let known = ["gzip", "deflate", "br", "zstd"]
        .into_iter()
        .find(|known| encoding.eq_ignore_ascii_case(known));
    Some(format!(
        "the server compressed its answer ({}) although that was not requested",
        known.unwrap_or("unknown encoding")
    ))
}

/// The last event of a stream that ended without a blank line may have been cut anywhere.
fn is_whole(event: &sse::Event) -> bool {
    event.data.trim() == "[DONE]"
        || serde_json::from_str::<serde::de::IgnoredAny>(&event.data).is_ok()
}

/// An error in a plain body, or another kind of body.
fn not_a_stream(body: &[u8], content_type: &str, account: &Account) -> End {
    let json = serde_json::from_slice::<serde_json::Value>(body).ok();
    let first = json.as_ref().map(|json| json.get(0).unwrap_or(json));
    End::Broken(match first {
        Some(error) if errors::is_error(error) => errors::in_stream(error, account),
        Some(_) | None => {
            let what = if content_type.is_empty() {
                "something"
            } else {
                content_type
            };
            let what = errors::shortened(&account.redact(what));
            Failure::new(
                FailureClass::Malformed,
                format!("the server answered with {what} instead of a stream of events"),
            )
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_cannot_be_used_is_named_without_its_query() {
        let error = Http::default()
            .client_for("ftp://host/x?key=secret")
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "`ftp://host/x` is not an address of the form https://host/path"
        );
    }
}
