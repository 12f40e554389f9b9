//! Download from the publishers' hub over HTTP: it resumes after a broken connection, follows
//! redirects itself, and ends a stalled transfer.
//!
//! No key is sent. The client must not follow redirects itself.

use std::time::Duration;

use reqwest::header::{CONTENT_RANGE, LOCATION, RANGE};
use reqwest::{Client, Response, StatusCode, Url};
use tokio::time::timeout;
use url::Host;

use super::SourceError;
use super::part::PartialDownload;
use crate::domain::model::address::without_credentials;
use crate::providers::errors::{innermost, shortened};

/// Hubs redirect downloads to a content network; more redirects than this are a loop.
const REDIRECTS: usize = 5;
/// Consecutive broken connections without progress after which the source fails.
const FRUITLESS: usize = 3;

/// The address of the hub, and its time limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hub {
    /// `https://host`, without the model's path.
    pub base: String,
    /// The longest wait for a response, including the connection.
    pub answer: Duration,
    /// The longest silence within a download.
    pub idle: Duration,
}

impl Hub {
    /// A hub that cannot be reached must not delay the next source.
    pub fn at(base: impl Into<String>) -> Self {
        Self {
            base: base.into(),
            answer: Duration::from_secs(10),
            idle: Duration::from_secs(30),
        }
    }

    /// `on` is called with their number.
    pub async fn fetch(
        &self,
        http: &Client,
        part: &PartialDownload<'_>,
        on: &mut dyn FnMut(u64),
    ) -> Result<(), SourceError> {
        let mut fruitless = 0;
        loop {
            let before = part.downloaded();
            if before == part.model.bytes {
                return Ok(());
            }
            match self.attempt(http, part, on).await? {
                None => return Ok(()),
                Some(_) if part.downloaded() > before => {
                    fruitless = 1;
                    on(part.downloaded());
                }
                Some(why) => {
                    fruitless += 1;
                    if fruitless >= FRUITLESS {
                        return Err(SourceError::Unavailable(why));
                    }
                }
            }
        }
    }

    /// `None` if the file is whole.
    async fn attempt(
        &self,
        http: &Client,
        part: &PartialDownload<'_>,
        on: &mut dyn FnMut(u64),
    ) -> Result<Option<String>, SourceError> {
        let expected = part.model.bytes;
        let have = Some(part.downloaded()).filter(|have| *have <= expected);
        let have = have.unwrap_or(0);
        let mut response = self.request(http, part, have).await?;
        let (keep, total) = match response.status() {
            StatusCode::OK => (0, response.content_length()),
            StatusCode::PARTIAL_CONTENT => match content_range(&response) {
                Some((start, total)) if start == have => (have, Some(total)),
                _ => {
                    return Err(unavailable(
                        "it sent a different part of the file than requested",
                    ));
                }
            },
            status => return Err(unavailable(format!("it answered {status}"))),
        };
        if let Some(total) = total.filter(|total| *total != expected) {
            return Err(unavailable(format!(
                "its file has {total} bytes, not {expected}"
            )));
        }
        let mut writing = part.open(keep)?;
        loop {
            match timeout(self.idle, response.chunk()).await {
                Ok(Ok(Some(chunk))) => {
                    writing.write(&chunk)?;
                    if writing.is_too_long() {
                        drop(writing);
                        part.delete()?;
                        return Err(unavailable(format!(
                            "it sent more than the {expected} bytes of the file"
                        )));
                    }
                    on(writing.written);
                }
                Ok(Ok(None)) if writing.written == expected => return Ok(None),
                Ok(Ok(None)) => {
                    return Ok(Some(format!(
                        "it ended after {} of {expected} bytes",
                        writing.written
                    )));
                }
                Ok(Err(error)) => {
                    return Ok(Some(shortened(&innermost(&error))));
                }
                Err(_) => {
                    return Ok(Some(format!(
                        "it stalled for {:?} after {} of {expected} bytes",
                        self.idle, writing.written
                    )));
                }
            }
        }
    }

    async fn request(
        &self,
        http: &Client,
        part: &PartialDownload<'_>,
        have: u64,
    ) -> Result<Response, SourceError> {
        let base = self.base.trim_end_matches('/');
        let address = format!("{base}/{}", part.model.hub_path);
        let mut url = Url::parse(&address).map_err(|error| {
            let address = without_credentials(&address);
            unavailable(format!("`{address}` is no address: {error}"))
        })?;
        for _ in 0..=REDIRECTS {
            let mut request = http.get(url.clone());
            if have > 0 {
                request = request.header(RANGE, format!("bytes={have}-"));
            }
            let response = match timeout(self.answer, request.send()).await {
                Ok(Ok(response)) => response,
                Ok(Err(error)) => return Err(unavailable(shortened(&innermost(&error)))),
                Err(_) => return Err(unavailable(format!("no answer within {:?}", self.answer))),
            };
            if !response.status().is_redirection() {
                return Ok(response);
            }
            url = next(&url, &response)?;
        }
        Err(unavailable(format!(
            "it redirected more than {REDIRECTS} times"
        )))
    }
}

fn next(from: &Url, response: &Response) -> Result<Url, SourceError> {
    let to = response
        .headers()
        .get(LOCATION)
        .and_then(|value| value.to_str().ok())
        .and_then(|to| from.join(to).ok());
    let to = to.ok_or_else(|| unavailable("it redirected without an address"))?;
    let safe = match to.scheme() {
        "https" => true,
        "http" => from.scheme() == "http" || is_loopback(&to),
        _ => false,
    };
    if safe {
        return Ok(to);
    }
    let host = to.host_str().unwrap_or("");
    Err(unavailable(format!(
        "it redirected to `{host}`, which is not encrypted"
    )))
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// Reads start and total of `bytes 5-9/10`.
fn content_range(response: &Response) -> Option<(u64, u64)> {
    let (range, total) = response
        .headers()
        .get(CONTENT_RANGE)?
        .to_str()
        .ok()?
        .strip_prefix("bytes ")?
        .split_once('/')?;
    Some((range.split_once('-')?.0.parse().ok()?, total.parse().ok()?))
}

fn unavailable(why: impl Into<String>) -> SourceError {
    SourceError::Unavailable(why.into())
}
