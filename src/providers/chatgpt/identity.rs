//! The check of an ID token: who signed in, and that `OpenAI` says so to this registration and in
//! this attempt. RS256 alone is accepted.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents};
use serde_json::Value;

use crate::domain::time::Timestamp;
use crate::providers::wire::{entries, text};

use super::SignInError;
use super::attempt::Attempt;

/// Seconds by which clocks may differ.
const LEEWAY: i64 = 60;

impl Attempt {
    /// Returns what a token says of the account. `keys` is the published set of keys.
    pub(super) fn verify(
        &self,
        token: &str,
        keys: &str,
        issuer: &str,
        client_id: &str,
        now: Timestamp,
    ) -> Result<Value, SignInError> {
        let opened = opened(token, keys);
        let opened = opened.ok_or(SignInError::Untrusted("there is no identity"))?;
        let (claims, is_signed) = (&opened.0, opened.1);
        let is_client = |value: &Value| value == client_id;
        let is_ours = match claims["aud"].as_array().map(Vec::as_slice) {
            Some(all) => matches!(all, [only] if is_client(only)),
            None => is_client(&claims["aud"]),
        };
        let now = now.0 / 1000;
        let at = |name: &str| claims[name].as_i64();
        let is_over = at("exp").unwrap_or_default().saturating_add(LEEWAY) <= now;
        let is_early = at("iat").unwrap_or(i64::MAX) > now.saturating_add(LEEWAY);
        let problems = [
            (!is_signed, "it is signed by none of the published keys"),
            (claims["iss"] != issuer, "it is from another service"),
            (!is_ours, "it is for another registration"),
            (is_over || is_early, "it is not valid now; check the clock"),
            (
                claims["nonce"] != self.nonce,
                "it belongs to another attempt",
            ),
            (text(&claims["sub"]).is_empty(), "it names no account"),
        ];
        match problems.into_iter().find(|(is_so, _)| *is_so) {
            Some((_, problem)) => Err(SignInError::Untrusted(problem)),
            None => Ok(opened.0),
        }
    }
}

/// Returns the claims of a token, and whether one of the keys has signed them.
fn opened(token: &str, keys: &str) -> Option<(Value, bool)> {
    let decoded = |part: &str| URL_SAFE_NO_PAD.decode(part).ok();
    let json = |part: &str| serde_json::from_slice::<Value>(&decoded(part)?).ok();
    let (signed, signature) = token.rsplit_once('.')?;
    let (head, claims) = signed.split_once('.')?;
    let (head, claims, signature) = (json(head)?, json(claims)?, decoded(signature)?);
    let keys: Value = serde_json::from_str(keys).ok()?;
    let has_signed = |key: &Value| {
        let [n, e] = ["n", "e"].map(|part| decoded(text(&key[part])).unwrap_or_default());
        let key = RsaPublicKeyComponents { n, e };
        let signed = signed.as_bytes();
        key.verify(&RSA_PKCS1_2048_8192_SHA256, signed, &signature)
            .is_ok()
    };
    let head = &head;
    let is_named = |key: &&Value| head["kid"].is_null() || key["kid"] == head["kid"];
    let is_signed = entries(&keys, "keys").filter(is_named).any(has_signed);
    Some((claims, is_signed && head["alg"] == "RS256"))
}
