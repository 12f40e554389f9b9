//! A plain GET, bounded in time and size: for lists of models, checks of keys and health, and
//! discovery of local servers. It is free at every vendor. The forms of a sign-in are sent alike.

use std::time::Duration;

use reqwest::header::CONTENT_TYPE;
use secrecy::{ExposeSecret, SecretString};

use crate::consultation::protocol::call::{Failure, FailureClass};
use crate::domain::model::address::authority;
use crate::providers::clients;
use crate::providers::errors::{self, ErrorResponse};
use crate::providers::wire::{Account, HeaderText};

use super::{Http, broken, header, headers};

/// The largest response in bytes. The longest known list of models, a reseller's, has less than a
/// tenth.
const MAX_BYTES: usize = 8 * 1024 * 1024;

/// A GET request.
#[derive(Clone, Debug)]
pub struct GetRequest {
    pub url: String,
    pub headers: Vec<(&'static str, HeaderText)>,
    /// Makes it a POST of this form.
    pub form: Option<SecretString>,
}

impl GetRequest {
    pub fn new(url: String, headers: Vec<(&'static str, HeaderText)>) -> Self {
        let form = None;
        Self { url, headers, form }
    }
}

/// A response of any status.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GetResponse {
    pub status: u16,
    /// The `server` header.
    pub server: String,
    pub body: String,
}

impl GetResponse {
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// Returns the body, or the failure that an unsuccessful status means.
    pub fn success(self, account: &Account) -> Result<String, Failure> {
        if self.is_success() {
            return Ok(self.body);
        }
        Err(errors::classify(
            &ErrorResponse {
                status: self.status,
                body: self.body,
                ..ErrorResponse::default()
            },
            account,
            None,
        ))
    }
}

impl Http {
    /// The response does not contain the key.
    pub async fn get(
        &self,
        request: &GetRequest,
        account: &Account,
        limit: Duration,
    ) -> Result<GetResponse, Failure> {
        let url = clients::parse(&request.url)
            .map_err(|error| Failure::new(FailureClass::BadRequest, error.to_string()))?;
        let authority = authority(url.as_str());
        let answer = self.answer(request, account, url, &authority);
        tokio::time::timeout(limit, answer)
            .await
            .unwrap_or_else(|_| {
                let seconds = limit.as_secs_f64();
                Err(Failure::new(
                    FailureClass::Timeout,
                    format!("`{authority}` did not answer within {seconds} s"),
                ))
            })
    }

    async fn answer(
        &self,
        request: &GetRequest,
        account: &Account,
        url: reqwest::Url,
        authority: &str,
    ) -> Result<GetResponse, Failure> {
        let broken = |error: &reqwest::Error| Failure {
            class: FailureClass::Transport,
            ..broken(error, authority, account, self.clients.timeouts)
        };
        let client = self
            .clients
            .get(&url)
            .map_err(|error| Failure::new(FailureClass::Transport, error.to_string()))?;
        let asked = match &request.form {
            Some(form) => client
                .post(url)
                .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
                .body(form.expose_secret().to_owned()),
            None => client.get(url),
        };
        let mut response = asked
            .headers(headers(&request.headers, account)?)
            .send()
            .await
            .map_err(|error| broken(&error))?;
        let server = header(response.headers(), "server").unwrap_or_default();
        let status = response.status().as_u16();
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| broken(&error))? {
            if body.len().saturating_add(chunk.len()) > MAX_BYTES {
                return Err(Failure::new(
                    FailureClass::Malformed,
                    format!("the answer of `{authority}` is larger than {MAX_BYTES} bytes"),
                ));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(GetResponse {
            status,
            server: account.redact(&server),
            body: account.redact(&String::from_utf8_lossy(&body)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_of_a_sign_in_is_not_shown() {
        let request = GetRequest {
            url: String::new(),
            headers: Vec::new(),
            form: Some("refresh_token=secret".into()),
        };
        assert!(!format!("{request:?}").contains("secret"));
    }
}
