//! OpenAI's sign-in for tools on the user's own machine, as its pages describe it: registration,
//! authorization with PKCE, tokens that rotate, revocation. It can break each of the promises that
//! a client must check.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::rsa::{KeyPair, PublicKeyComponents};
use ring::signature::RSA_PKCS1_SHA256;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use url::Url;
use url::form_urlencoded;

const KEY: &[u8] = include_bytes!("../../../data/sign_in/key.pk8");
const OTHER_KEY: &[u8] = include_bytes!("../../../data/sign_in/other_key.pk8");

/// What the service does wrong, or the person decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Fault {
    #[default]
    None,
    WrongIssuer,
    WrongAudience,
    TwoAudiences,
    ForgedSignature,
    NoSignature,
    WrongNonce,
    ExpiredIdentity,
    NoIdentity,
    AnotherAccount,
    WithoutPlan,
    WithoutRefreshToken,
    Denied,
    AnotherClient,
    NoClient,
    UnissuedClient,
    UnknownClient,
    Unavailable,
    /// The token endpoint repeats what was sent.
    Echo,
}

/// The service and what it has granted.
#[derive(Debug)]
pub(crate) struct SignInService {
    pub(crate) fault: Fault,
    /// As an identity has it.
    pub(crate) email: &'static str,
    /// The lifetime of access tokens in seconds.
    pub(crate) lifetime: u64,
    /// Sent with tokens.
    pub(crate) earliest_refresh_at: Value,
    /// The fields of each request, in order, with its path as `path`.
    pub(crate) requests: Vec<BTreeMap<String, String>>,
    codes: BTreeMap<String, BTreeMap<String, String>>,
    granted: u32,
    refresh_token: Option<String>,
    access_token: Option<String>,
}

impl Default for SignInService {
    fn default() -> Self {
        Self {
            fault: Fault::None,
            email: "ada@example.org",
            lifetime: 3600,
            earliest_refresh_at: Value::Null,
            requests: Vec::new(),
            codes: BTreeMap::new(),
            granted: 0,
            refresh_token: None,
            access_token: None,
        }
    }
}

/// A status, a location, and a body.
pub(super) type SignInAnswer = (u16, Option<String>, Value);

impl SignInService {
    /// `None` for a path of another service.
    pub(super) fn answer(
        &mut self,
        path_and_query: &str,
        body: &[u8],
        origin: &str,
    ) -> Option<SignInAnswer> {
        let url = Url::parse(&format!("{origin}{path_and_query}")).unwrap();
        let is_ours =
            url.path().starts_with("/api/accounts/") || url.path().starts_with("/.well-known/");
        if !is_ours {
            return None;
        }
        let form = form_urlencoded::parse(body).into_owned();
        let mut fields: BTreeMap<String, String> =
            url.query_pairs().into_owned().chain(form).collect();
        fields.insert("path".to_owned(), url.path().to_owned());
        self.requests.push(fields.clone());
        if self.fault == Fault::Unavailable {
            return Some((503, None, json!({"error": "temporarily_unavailable"})));
        }
        Some(match url.path() {
            "/.well-known/jwks.json" => (200, None, json!({"keys": [public_key()]})),
            "/api/accounts/authorize" => self.authorize(&fields),
            "/api/accounts/oauth/token" => match self.grant(&fields, origin) {
                Ok(granted) => (200, None, granted),
                Err(code) => {
                    let echoed = (self.fault == Fault::Echo).then_some(fields);
                    (
                        400,
                        None,
                        json!({"error": {"code": code, "message": json!(echoed).to_string()}}),
                    )
                }
            },
            "/api/accounts/oauth/revoke" => {
                if fields.get("token") == self.refresh_token.as_ref() {
                    (self.refresh_token, self.access_token) = (None, None);
                }
                (200, None, Value::Null)
            }
            _ => (404, None, json!({"error": "not_found"})),
        })
    }

    /// Returns whether anyone has signed in: only then calls need a token.
    pub(super) fn is_used(&self) -> bool {
        self.granted > 0
    }

    /// Returns whether tokens were granted that are not revoked.
    pub(crate) fn is_valid(&self) -> bool {
        self.refresh_token.is_some()
    }

    /// Returns whether a call with this header may be answered.
    pub(super) fn accepts(&self, authorization: Option<&String>) -> bool {
        let sent = authorization.and_then(|header| header.strip_prefix("Bearer "));
        sent.is_some() && sent == self.access_token.as_deref()
    }

    /// Makes the access token invalid before its time.
    pub(crate) fn expire(&mut self) {
        self.access_token = None;
    }

    /// Returns how often a refresh token was used.
    pub(crate) fn renewals(&self) -> usize {
        let is_renewal = |fields: &&BTreeMap<String, String>| {
            fields
                .get("grant_type")
                .is_some_and(|grant| grant == "refresh_token")
        };
        self.requests.iter().filter(is_renewal).count()
    }

    /// The person agrees at once.
    fn authorize(&mut self, fields: &BTreeMap<String, String>) -> SignInAnswer {
        let asked = &fields["client_id"];
        let client_id = match self.fault {
            Fault::AnotherClient => "oaiapp_other",
            Fault::UnissuedClient => "dynamic_agent_client",
            _ if asked == "dynamic_agent_client" => "oaiapp_1",
            _ => asked,
        };
        let mut url = Url::parse(&fields["redirect_uri"]).unwrap();
        let code = format!("code-{}", self.codes.len());
        let mut query = url.query_pairs_mut();
        query.append_pair("state", &fields["state"]);
        match self.fault {
            Fault::Denied => query.append_pair("error", "access_denied"),
            Fault::UnknownClient => query.append_pair("error", "unauthorized_client"),
            Fault::NoClient => query.append_pair("code", &code),
            _ => query
                .append_pair("code", &code)
                .append_pair("client_id", client_id),
        };
        drop(query);
        let mut fields = fields.clone();
        fields.insert("issued".to_owned(), client_id.to_owned());
        self.codes.insert(code, fields);
        (302, Some(url.into()), Value::Null)
    }

    fn grant(
        &mut self,
        fields: &BTreeMap<String, String>,
        origin: &str,
    ) -> Result<Value, &'static str> {
        let field = |name: &str| fields.get(name).map(String::as_str).unwrap_or_default();
        if field("resource") != "https://api.openai.com/v1" {
            return Err("invalid_target");
        }
        let mut granted = json!({"token_type": "Bearer", "expires_in": self.lifetime,
            "earliest_refresh_at": self.earliest_refresh_at});
        match field("grant_type") {
            "authorization_code" => {
                let asked = self.codes.remove(field("code")).ok_or("invalid_grant")?;
                let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(field("code_verifier")));
                if challenge != asked["code_challenge"]
                    || asked["code_challenge_method"] != "S256"
                    || field("redirect_uri") != asked["redirect_uri"]
                    || field("client_id") != asked["issued"]
                {
                    return Err("invalid_grant");
                }
                let mut scopes = asked["scope"].clone();
                if self.fault == Fault::WithoutPlan {
                    scopes = scopes.replace("chatgpt.tokens.use.direct", "");
                }
                granted["scope"] = json!(scopes);
                if self.fault != Fault::NoIdentity {
                    granted["id_token"] = json!(self.identity(&asked, origin));
                }
            }
            _ if self.fault == Fault::UnknownClient => return Err("invalid_client"),
            _ if Some(field("refresh_token")) != self.refresh_token.as_deref() => {
                (self.refresh_token, self.access_token) = (None, None);
                return Err("refresh_token_reused");
            }
            _ => {}
        }
        self.granted += 1;
        let [access, refresh] = ["access", "refresh"]
            .map(|kind| format!("secret-{kind}-token-{}-0123456789", self.granted));
        granted["access_token"] = json!(access);
        if self.fault != Fault::WithoutRefreshToken {
            granted["refresh_token"] = json!(refresh);
        }
        (self.access_token, self.refresh_token) = (Some(access), Some(refresh));
        Ok(granted)
    }

    fn identity(&self, asked: &BTreeMap<String, String>, origin: &str) -> String {
        let now = jiff::Timestamp::now().as_second();
        let client = json!(asked["issued"]);
        let fault =
            |fault, wrong: Value, right: Value| if self.fault == fault { wrong } else { right };
        let audience = fault(
            Fault::TwoAudiences,
            json!([client, "other"]),
            json!([client]),
        );
        let claims = json!({
            "iss": fault(Fault::WrongIssuer, json!("https://other.example"), json!(origin)),
            "aud": fault(Fault::WrongAudience, json!("oaiapp_other"), audience),
            "sub": fault(Fault::AnotherAccount, json!("user-2"), json!("user-1")),
            "nonce": fault(Fault::WrongNonce, json!("other"), json!(asked["nonce"])),
            "exp": fault(Fault::ExpiredIdentity, json!(now - 3600), json!(now + 3600)),
            "iat": now,
            "email": self.email,
        });
        let algorithm = fault(Fault::NoSignature, json!("none"), json!("RS256"));
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let head = json!({"alg": algorithm, "kid": "key-1", "typ": "JWT"});
        let signed = format!("{}.{}", part(&head), part(&claims));
        let key = if self.fault == Fault::ForgedSignature {
            OTHER_KEY
        } else {
            KEY
        };
        let key = KeyPair::from_pkcs8(key).unwrap();
        let mut signature = vec![0; key.public().modulus_len()];
        let random = SystemRandom::new();
        key.sign(
            &RSA_PKCS1_SHA256,
            &random,
            signed.as_bytes(),
            &mut signature,
        )
        .unwrap();
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
    }
}

fn public_key() -> Value {
    let key = KeyPair::from_pkcs8(KEY).unwrap();
    let public = PublicKeyComponents::<Vec<u8>>::from(key.public());
    let [n, e] = [public.n, public.e].map(|part| URL_SAFE_NO_PAD.encode(part));
    json!({"kty": "RSA", "kid": "key-1", "use": "sig", "alg": "RS256", "n": n, "e": e})
}
