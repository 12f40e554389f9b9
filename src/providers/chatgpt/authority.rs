//! The service that grants tokens, at the addresses of `OpenAI`'s pages and its discovery document:
//! the exchange of a code, the renewal, the revocation. Each request is small, and has a limit of
//! time.

use std::time::Duration;

use secrecy::ExposeSecret;
use serde_json::Value;
use url::form_urlencoded::Serializer;

use crate::consultation::protocol::call::Failure;
use crate::domain::time::Timestamp;
use crate::providers::http::{GetRequest, GetResponse, Http};
use crate::providers::wire::{Account, text};

use super::attempt::{Attempt, Callback};
use super::stored::{StoredSignIn, Tokens};
use super::{RESOURCE, SignInError, plain_code};

/// On each request.
const LIMIT: Duration = Duration::from_secs(20);

const TOKEN: &str = "/api/accounts/oauth/token";
const REVOCATION: &str = "/api/accounts/oauth/revoke";
const KEYS: &str = "/.well-known/jwks.json";

impl StoredSignIn {
    /// Exchanges the code, and checks who signed in.
    pub async fn exchange(
        &mut self,
        attempt: &Attempt,
        callback: Callback,
        now: Timestamp,
    ) -> Result<(), SignInError> {
        let form = [
            ("grant_type", "authorization_code"),
            ("client_id", &callback.client_id),
            ("code", callback.code.expose_secret()),
            ("code_verifier", attempt.verifier.expose_secret()),
            ("redirect_uri", &attempt.redirect_uri),
            ("resource", RESOURCE),
        ];
        let granted = &self.post(TOKEN, &form).await?;
        let keys = self.answer(KEYS, None).await?.success(&Account::default());
        let (token, keys) = (text(&granted["id_token"]), keys?);
        let claims = &attempt.verify(token, &keys, &self.issuer, &callback.client_id, now)?;
        let subject = Some(text(&claims["sub"]).to_owned());
        if self.subject.is_some() && self.subject != subject {
            return Err(SignInError::OtherAccount);
        }
        self.scope = None;
        self.take(granted, now)?;
        self.email = claims["email"].as_str().map(ToOwned::to_owned);
        (self.subject, self.client_id) = (subject, Some(callback.client_id));
        Ok(())
    }

    /// Uses up the refresh token.
    pub(super) async fn renew(&mut self, now: Timestamp) -> Result<(), SignInError> {
        let more = [("grant_type", "refresh_token"), ("resource", RESOURCE)];
        let granted = self
            .use_refresh_token(TOKEN, "refresh_token", &more)
            .await?;
        self.take(&granted, now)
    }

    /// Ends the sign-in. Tried once more where the service fails.
    pub async fn revoke(&self) -> Result<(), SignInError> {
        let more = [("token_type_hint", "refresh_token")];
        let revoke = || self.use_refresh_token(REVOCATION, "token", &more);
        match revoke().await {
            Err(SignInError::Unreachable(_)) => revoke().await.map(drop),
            revoked => revoked.map(drop),
        }
    }

    async fn use_refresh_token(
        &self,
        path: &str,
        name: &str,
        more: &[(&str, &str)],
    ) -> Result<Value, SignInError> {
        let tokens = self.tokens.as_ref();
        let refresh = tokens.map_or("", |tokens| tokens.refresh.expose_secret());
        let client_id = self.client_id.as_deref().unwrap_or_default();
        let form = [("client_id", client_id), (name, refresh)];
        self.post(path, &[&form, more].concat()).await
    }

    async fn post(&self, path: &str, form: &[(&str, &str)]) -> Result<Value, SignInError> {
        let form = Serializer::new(String::new()).extend_pairs(form).finish();
        let answer = self.answer(path, Some(form)).await?;
        let body: Value = serde_json::from_str(&answer.body).unwrap_or_default();
        let error = &body;
        let code = error["error"]
            .as_str()
            .or(error.pointer("/error/code").and_then(Value::as_str));
        match answer.status {
            200..300 => Ok(body),
            408 | 429 | 500.. => Err(SignInError::Unreachable(format!("HTTP {}", answer.status))),
            _ => Err(SignInError::Refused(plain_code(code.unwrap_or_default()))),
        }
    }

    async fn answer(&self, path: &str, form: Option<String>) -> Result<GetResponse, Failure> {
        let (url, headers) = (format!("{}{path}", self.issuer), Vec::new());
        let request = GetRequest { url, headers, form };
        let (http, account) = (Http::default(), Account::default());
        http.get(&request, &account, LIMIT).await
    }

    /// Permissions that are not named are as before.
    fn take(&mut self, granted: &Value, now: Timestamp) -> Result<(), SignInError> {
        let secret = |name: &str| granted[name].as_str().filter(|token| !token.is_empty());
        let tokens = secret("access_token").zip(secret("refresh_token"));
        let (Some((access, refresh)), Some(seconds)) = (tokens, granted["expires_in"].as_u64())
        else {
            return Err(SignInError::Untrusted("a token is missing"));
        };
        let scope = granted["scope"].as_str().map(ToOwned::to_owned);
        self.scope = scope.or(self.scope.take());
        self.tokens = Some(Tokens {
            access: access.into(),
            refresh: refresh.into(),
            expires_at: now.after(Duration::from_secs(seconds)),
            earliest_refresh_at: moment(&granted["earliest_refresh_at"]),
        });
        Ok(())
    }
}

impl From<Failure> for SignInError {
    fn from(failure: Failure) -> Self {
        Self::Unreachable(failure.message)
    }
}

/// Seconds or milliseconds since 1970, or a date: the form is not documented.
fn moment(value: &Value) -> Option<Timestamp> {
    const FIRST_MILLISECONDS: i64 = 100_000_000_000;
    match value.as_i64() {
        Some(seconds @ ..FIRST_MILLISECONDS) => Some(Timestamp(seconds.saturating_mul(1000))),
        Some(milliseconds) => Some(Timestamp(milliseconds)),
        None => serde_json::from_value(value.clone()).ok(),
    }
}
