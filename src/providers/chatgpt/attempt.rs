//! One attempt to sign in: the address that a person opens in the browser, and the reading of the
//! address to which the browser is sent back. Authorization code with PKCE; nothing of an attempt
//! is used twice.

use std::net::SocketAddr;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use url::Url;

use super::stored::StoredSignIn;
use super::{PLAN_SCOPE, RESOURCE, SignInError, plain_code, random};

/// The path of the address to which the browser is sent back.
const CALLBACK: &str = "/auth/callback";

/// Stands for a registration in the request for one, and is none.
const NEW_REGISTRATION: &str = "dynamic_agent_client";

/// What an attempt knows, and the browser's answer must match.
#[derive(Debug)]
pub struct Attempt {
    state: SecretString,
    pub(super) nonce: String,
    pub(super) verifier: SecretString,
    /// The port of this machine to which the browser is sent back.
    pub(super) authority: String,
    pub(super) redirect_uri: String,
    registration: Option<String>,
}

/// What the browser brings back.
#[derive(Debug)]
pub struct Callback {
    pub(super) code: SecretString,
    pub client_id: String,
}

fn word() -> Result<String, SignInError> {
    Ok(URL_SAFE_NO_PAD.encode(random::<32>()?))
}

impl Attempt {
    pub fn new(port: SocketAddr, stored: &StoredSignIn) -> Result<Self, SignInError> {
        Ok(Self {
            authority: port.to_string(),
            state: word()?.into(),
            nonce: word()?,
            verifier: word()?.into(),
            redirect_uri: format!("http://{port}{CALLBACK}"),
            registration: stored.client_id.clone(),
        })
    }

    /// Returns the address that the person opens. A sign-in without the plan asks for it again.
    pub fn address(&self, stored: &StoredSignIn) -> Result<Url, SignInError> {
        let endpoint = format!("{}/api/accounts/authorize", stored.issuer);
        let client_id = self.registration.as_deref().unwrap_or(NEW_REGISTRATION);
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(self.verifier.expose_secret()));
        let scope = format!("openid profile email offline_access resource.invoke {PLAN_SCOPE}");
        let more = match (&self.registration, &stored.email) {
            (None, _) => ("agent_name_hint", "conclave"),
            (Some(_), _) if !stored.has_plan() => ("prompt", "consent"),
            (Some(_), email) => ("login_hint", email.as_deref().unwrap_or_default()),
        };
        let parameters = [
            ("client_id", client_id),
            ("response_type", "code"),
            ("redirect_uri", &self.redirect_uri),
            ("scope", &scope),
            ("resource", RESOURCE),
            ("state", self.state.expose_secret()),
            ("nonce", &self.nonce),
            ("code_challenge_method", "S256"),
            ("code_challenge", &challenge),
            ("ext_agent_host_id", &stored.host_id),
            more,
        ];
        let unusable = |_| SignInError::Untrusted("the service has no address");
        Url::parse_with_params(&endpoint, parameters).map_err(unusable)
    }

    /// Reads an address to which a browser was sent. `None` if it does not belong to this attempt:
    /// any page can send a browser to this machine.
    pub fn read(&self, url: &Url) -> Option<Result<Callback, SignInError>> {
        let one = |name: &str| {
            let mut values = url.query_pairs().filter(|(key, _)| key == name);
            let (_, value) = values.next()?;
            values.next().is_none().then(|| value.into_owned())
        };
        if url.path() != CALLBACK || one("state")? != self.state.expose_secret() {
            return None;
        }
        let client_id = one("client_id").or_else(|| self.registration.clone());
        Some(match (one("error"), one("code"), client_id) {
            (Some(error), ..) if error == "access_denied" => Err(SignInError::Declined),
            (Some(error), ..) => Err(SignInError::Refused(plain_code(&error))),
            (None, Some(code), Some(client_id)) if self.expects(&client_id) => {
                let code = code.into();
                Ok(Callback { code, client_id })
            }
            (None, ..) => Err(SignInError::Untrusted("it is not for this registration")),
        })
    }

    fn expects(&self, client_id: &str) -> bool {
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let is_new = || client_id != NEW_REGISTRATION && client_id.chars().all(is_part);
        let known = self.registration.as_ref();
        known.map_or_else(is_new, |known| known == client_id)
    }
}
