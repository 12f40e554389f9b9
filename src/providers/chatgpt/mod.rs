//! Sign in with ChatGPT, for tools that people run on their own machine: a person lets this program
//! use the ChatGPT plan, and calls to `chatgpt:` carry an access token in place of a key.
//!
//! Built from `OpenAI`'s pages; `docs/chatgpt.md` lists them with their date, and what they leave
//! open. [`attempt`] is the authorization and the check of who signed in, [`loopback`] the port where
//! its answer arrives, [`authority`] the service that grants tokens, [`sign_in`] the file and
//! the token of each call.
//!
//! Invariants: a token goes only to the service that granted it, and to `OpenAI`'s models; it is
//! in no message. A refresh token is used once: a second use ends the sign-in.

pub mod attempt;
pub mod loopback;
pub mod authority;
pub mod sign_in;

use std::io;

use ring::rand::{Random, RandomlyConstructable, SystemRandom, generate};
use url::{Host, Url};

pub use super::errors::USAGE_PAGE;

/// The permission to use the plan, which a person can decline.
const PLAN_SCOPE: &str = "chatgpt.tokens.use.direct";

/// The models that a token is for.
const RESOURCE: &str = "https://api.openai.com/v1";

/// Returns the service whose tokens may go to models at this address. A server on this machine that
/// plays both can be tried; no token goes to any other address. A name may lead elsewhere.
pub fn issuer_for(base_url: &str) -> Option<String> {
    if base_url == RESOURCE {
        return Some("https://auth.openai.com".to_owned());
    }
    let url = Url::parse(base_url).ok()?;
    let is_here = matches!(url.host(), Some(Host::Ipv4(ip)) if ip.is_loopback());
    is_here.then(|| url.origin().ascii_serialization())
}

/// Errors of signing in, of renewing a token and of signing out.
#[derive(Debug, thiserror::Error)]
pub enum SignInError {
    /// Or it says to come back later.
    #[error("the sign-in of OpenAI does not answer: {0}")]
    Unreachable(String),
    /// With the service's code, without its words, which may repeat what was sent.
    #[error("OpenAI refused the sign-in (`{0}`)")]
    Refused(String),
    #[error("the sign-in cannot be trusted: {0}")]
    Untrusted(&'static str),
    /// A person chose so.
    #[error("{0}")]
    Ended(&'static str),
    #[error("cannot use the file of the sign-in: {0}")]
    File(String),
}

impl From<io::Error> for SignInError {
    fn from(error: io::Error) -> Self {
        Self::File(error.to_string())
    }
}

/// The service's code counts if it looks like one.
fn refused(code: &str) -> SignInError {
    let is_part = |c: char| c.is_ascii_lowercase() || c == '_';
    let is_code = (1..=64).contains(&code.len()) && code.chars().all(is_part);
    SignInError::Refused(if is_code { code } else { "unknown_error" }.to_owned())
}

fn random<T: RandomlyConstructable>() -> io::Result<T> {
    let filled = generate(&SystemRandom::new()).map(Random::expose);
    filled.map_err(|_| io::Error::other("the system gives no random numbers"))
}
