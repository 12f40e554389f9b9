//! The service that grants tokens, at the addresses of `OpenAI`'s pages and its discovery document:
//! the exchange of a code, the renewal, the revocation. Each request is small, and has a limit of
//! time.

use std::time::Duration;

use secrecy::ExposeSecret;
use serde_json::Value;
use url::form_urlencoded::Serializer;

use crate::domain::time::Timestamp;
use crate::providers::http::{GetRequest, Http};
use crate::providers::wire::{Account, text};
use crate::text::clean::one_line;

use super::attempt::{Attempt, Callback};
use super::sign_in::{StoredSignIn, Tokens};
use super::{RESOURCE, SignInError, refused};

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
        let granted = &self.send(TOKEN, &form).await?;
        let mut new = self.clone();
        (new.scope, new.client_id) = (None, Some(callback.client_id));
        new.take(granted, now)?;
        let identity = text(&granted["id_token"]);
        if let Err(error) = new.identify(attempt, identity, now).await {
            // What no one uses does not stay valid, if the service can be reached.
            let _ = new.revoke().await;
            return Err(error);
        }
        *self = new;
        Ok(())
    }

    async fn identify(
        &mut self,
        attempt: &Attempt,
        token: &str,
        now: Timestamp,
    ) -> Result<(), SignInError> {
        let keys = self.send(KEYS, &[]).await?;
        let client_id = self.client_id.as_deref().unwrap_or_default();
        let claims = &attempt.verify(token, &keys, &self.issuer, client_id, now)?;
        let subject = claims["sub"].as_str().map(ToOwned::to_owned);
        if self.subject.is_some() && self.subject != subject {
            let other = "another ChatGPT account signed in than the one in use";
            return Err(SignInError::Ended(other));
        }
        self.email = claims["email"].as_str().map(one_line);
        self.subject = subject;
        Ok(())
    }

    /// Uses up the refresh token.
    pub(super) async fn renew(&mut self, now: Timestamp) -> Result<(), SignInError> {
        let [client, token] = self.granted("refresh_token");
        let form = [
            ("grant_type", "refresh_token"),
            ("resource", RESOURCE),
            client,
            token,
        ];
        let granted = self.send(TOKEN, &form).await?;
        self.take(&granted, now)
    }

    /// Ends the sign-in. Tried once more where the service fails.
    pub async fn revoke(&self) -> Result<(), SignInError> {
        let [client, token] = self.granted("token");
        let form = [("token_type_hint", "refresh_token"), client, token];
        let mut revoked = self.send(REVOCATION, &form).await;
        if matches!(revoked, Err(SignInError::Unreachable(_))) {
            revoked = self.send(REVOCATION, &form).await;
        }
        revoked.map(drop)
    }

    /// Returns the registration, and the refresh token under a name.
    fn granted<'a>(&'a self, name: &'a str) -> [(&'a str, &'a str); 2] {
        let tokens = self.tokens.as_ref();
        let refresh = tokens.map_or("", |tokens| tokens.refresh.expose_secret());
        let client_id = self.client_id.as_deref().unwrap_or_default();
        [("client_id", client_id), (name, refresh)]
    }

    /// Posts a form; an empty one makes it a GET.
    async fn send(&self, path: &str, form: &[(&str, &str)]) -> Result<Value, SignInError> {
        let encoded = Serializer::new(String::new()).extend_pairs(form).finish();
        let request = GetRequest {
            url: format!("{}{path}", self.issuer),
            headers: Vec::new(),
            form: (!form.is_empty()).then(|| encoded.into()),
        };
        let (http, account) = (Http::default(), Account::default());
        let answer = http.get(&request, &account, LIMIT).await;
        let answer = answer.map_err(|failure| SignInError::Unreachable(failure.message))?;
        let body: Value = serde_json::from_str(&answer.body).unwrap_or_default();
        let error = body.get("error").unwrap_or(&Value::Null);
        match answer.status {
            200..300 => Ok(body),
            408 | 429 | 500.. => Err(SignInError::Unreachable(format!("HTTP {}", answer.status))),
            _ => Err(refused(error.as_str().unwrap_or(text(&error["code"])))),
        }
    }

    /// Permissions that are not named are as before.
    fn take(&mut self, granted: &Value, now: Timestamp) -> Result<(), SignInError> {
        let secret = |name: &str| granted[name].as_str().filter(|token| !token.is_empty());
        let tokens = || {
            Some(Tokens {
                access: secret("access_token")?.into(),
                refresh: secret("refresh_token")?.into(),
                expires_at: now.after(Duration::from_secs(granted["expires_in"].as_u64()?)),
                earliest_refresh_at: moment(&granted["earliest_refresh_at"]),
            })
        };
        let missing = SignInError::Untrusted("a token is missing");
        self.tokens = Some(tokens().ok_or(missing)?);
        let scope = granted["scope"].as_str().map(ToOwned::to_owned);
        self.scope = scope.or(self.scope.take());
        Ok(())
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
