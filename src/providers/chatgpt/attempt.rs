//! One attempt to sign in: the address that a person opens in the browser, the reading of the
//! address to which the browser is sent back, and the check of the ID token: who signed in, and that
//! `OpenAI` says so to this registration and in this attempt. Authorization code with PKCE; nothing
//! of an attempt is used twice. RS256 alone is accepted.

use std::net::SocketAddr;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use sha2::{Digest, Sha256};
use url::Url;

use crate::domain::time::Timestamp;
use crate::providers::wire::{entries, text};

use super::sign_in::StoredSignIn;
use super::{PLAN_SCOPE, RESOURCE, SignInError, random, refused};

/// Stands for a registration in the request for one, and is none.
const NEW_REGISTRATION: &str = "dynamic_agent_client";

/// Seconds by which clocks may differ.
const LEEWAY: i64 = 60;

/// What an attempt knows, and the browser's answer must match.
#[derive(Debug)]
pub struct Attempt {
    state: SecretString,
    nonce: SecretString,
    pub(super) verifier: SecretString,
    /// The port of this machine to which the browser is sent back.
    pub(super) redirect_uri: String,
    pub registration: Option<String>,
}

/// What the browser brings back.
#[derive(Debug)]
pub struct Callback {
    pub(super) code: SecretString,
    pub(super) client_id: String,
}

fn word() -> Result<SecretString, SignInError> {
    Ok(URL_SAFE_NO_PAD.encode(random::<[u8; 32]>()?).into())
}

impl Attempt {
    /// Returns an attempt, and the address that the person opens. A sign-in without the plan asks
    /// for it again.
    pub fn new(port: SocketAddr, stored: &StoredSignIn) -> Result<(Self, Url), SignInError> {
        let attempt = Self {
            state: word()?,
            nonce: word()?,
            verifier: word()?,
            redirect_uri: format!("http://{port}/auth/callback"),
            registration: stored.client_id.clone(),
        };
        let more = match (&stored.client_id, &stored.email) {
            (None, _) => ("agent_name_hint", "conclave"),
            (Some(_), _) if !stored.has_plan() => ("prompt", "consent"),
            (Some(_), email) => ("login_hint", email.as_deref().unwrap_or_default()),
        };
        let scope = format!("openid profile email offline_access resource.invoke {PLAN_SCOPE}");
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(attempt.verifier.expose_secret()));
        let client_id = stored.client_id.as_deref().unwrap_or(NEW_REGISTRATION);
        let parameters = [
            ("client_id", client_id),
            ("response_type", "code"),
            ("redirect_uri", &attempt.redirect_uri),
            ("scope", &scope),
            ("resource", RESOURCE),
            ("state", attempt.state.expose_secret()),
            ("nonce", attempt.nonce.expose_secret()),
            ("code_challenge_method", "S256"),
            ("code_challenge", &challenge),
            ("ext_agent_host_id", &stored.host_id),
            more,
        ];
        let endpoint = format!("{}/api/accounts/authorize", stored.issuer);
        let address = Url::parse_with_params(&endpoint, parameters);
        let address = address.map_err(|_| SignInError::Untrusted("the service has no address"))?;
        Ok((attempt, address))
    }

    /// Reads an address to which a browser was sent. `None` if it does not belong to this attempt:
    /// any page can send a browser to this machine, under any name.
    pub fn read(&self, address: &str) -> Option<Result<Callback, SignInError>> {
        let mut url = Url::parse(address).ok()?;
        let one = |name: &str| {
            let mut values = url.query_pairs().filter(|(key, _)| key == name);
            let (_, value) = values.next()?;
            values.next().is_none().then(|| value.into_owned())
        };
        let is_ours = one("state").is_some_and(|state| state == self.state.expose_secret());
        let client_id = one("client_id").or_else(|| self.registration.clone());
        let (error, code) = (one("error"), one("code"));
        url.set_query(None);
        if !is_ours || Url::parse(&self.redirect_uri) != Ok(url) {
            return None;
        }
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let is_expected = |id: &String| match &self.registration {
            Some(known) => id == known,
            None => id != NEW_REGISTRATION && id.chars().all(is_part),
        };
        Some(match (error, code, client_id.filter(is_expected)) {
            (Some(error), ..) if error == "access_denied" => Err(SignInError::Ended(
                "the sign-in was declined in the browser",
            )),
            (Some(error), ..) => Err(refused(&error)),
            (None, Some(code), Some(client_id)) => Ok(Callback {
                code: code.into(),
                client_id,
            }),
            (None, ..) => Err(SignInError::Untrusted("it is not for this registration")),
        })
    }

    /// Returns what an ID token says of the account. `keys` is the published set of keys.
    pub(super) fn verify(
        &self,
        token: &str,
        keys: &Value,
        issuer: &str,
        client_id: &str,
        now: Timestamp,
    ) -> Result<Value, SignInError> {
        let opened = opened(token, keys);
        let (claims, is_signed) = opened.ok_or(SignInError::Untrusted("there is no identity"))?;
        let claim = |name: &str| claims.get(name).unwrap_or(&Value::Null);
        let audience = claim("aud");
        let is_ours = audience == client_id || *audience == Value::from(vec![client_id]);
        let (now, at) = (now.0 / 1000, |name: &str| claim(name).as_i64());
        let is_over = at("exp").unwrap_or_default().saturating_add(LEEWAY) <= now;
        let is_early = at("iat").unwrap_or(i64::MAX) > now.saturating_add(LEEWAY);
        let is_other = *claim("nonce") != *self.nonce.expose_secret();
        let problems = [
            (!is_signed, "it is signed by none of the published keys"),
            (*claim("iss") != issuer, "it is from another service"),
            (!is_ours, "it is for another registration"),
            (is_over || is_early, "it is not valid now; check the clock"),
            (is_other, "it belongs to another attempt"),
            (text(claim("sub")).is_empty(), "it names no account"),
        ];
        match problems.into_iter().find(|(is_so, _)| *is_so) {
            Some((_, problem)) => Err(SignInError::Untrusted(problem)),
            None => Ok(claims),
        }
    }
}

/// Returns the claims of a token, and whether one of the keys has signed them.
fn opened(token: &str, keys: &Value) -> Option<(Value, bool)> {
    let decoded = |part: &str| URL_SAFE_NO_PAD.decode(part).ok();
    let json = |part: &str| serde_json::from_slice::<Value>(&decoded(part)?).ok();
    let (signed, signature) = token.rsplit_once('.')?;
    let (head, claims) = signed.split_once('.')?;
    let (head, claims, signature) = (json(head)?, json(claims)?, decoded(signature)?);
    let has_signed = |key: &Value| {
        let [n, e] = ["n", "e"].map(|part| decoded(text(&key[part])).unwrap_or_default());
        let (key, signed) = (RsaPublicKeyComponents { n, e }, signed.as_bytes());
        key.verify(&RSA_PKCS1_2048_8192_SHA256, signed, &signature) == Ok(())
    };
    let is_named = |key: &&Value| head.get("kid").is_none() || key.get("kid") == head.get("kid");
    let is_signed = entries(keys, "keys").filter(is_named).any(has_signed);
    Some((
        claims,
        is_signed && head.get("alg").is_some_and(|it| it == "RS256"),
    ))
}
