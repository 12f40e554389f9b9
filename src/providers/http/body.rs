//! The body of a response, read within the limits of silence.

use std::time::Duration;

use reqwest::Response;
use tokio::time::{Instant, timeout, timeout_at};

use crate::consultation::protocol::call::{Failure, FailureClass};
use crate::domain::address::authority;
use crate::providers::clients::Timeouts;
use crate::providers::wire::Account;

use super::broken;

/// A response whose head has arrived.
#[derive(Debug)]
pub(super) struct Body<'a> {
    pub(super) response: Response,
    account: &'a Account,
    timeouts: Timeouts,
    /// The end of the wait for the first byte; `None` once it has arrived.
    first_byte: Option<Instant>,
}

impl<'a> Body<'a> {
    /// Waits until `first_byte` for the first chunk.
    pub(super) fn new(
        response: Response,
        account: &'a Account,
        timeouts: Timeouts,
        first_byte: Instant,
    ) -> Self {
        Self {
            response,
            account,
            timeouts,
            first_byte: Some(first_byte),
        }
    }

    /// Returns the next chunk, or `None` at the end.
    pub(super) async fn chunk(&mut self) -> Result<Option<impl AsRef<[u8]> + use<>>, Failure> {
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

/// Returns the failure of a server that sent nothing for this long.
pub(super) fn silent(authority: &str, limit: Duration) -> Failure {
    let seconds = limit.as_secs_f64();
    Failure::new(
        FailureClass::Timeout,
        format!("`{authority}` sent nothing for {seconds} s"),
    )
}
