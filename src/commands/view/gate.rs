//! Who may read. This machine's other users, and pages of other sites in this person's own browser,
//! reach the port too; so a request must name the server by its own address, come from no other
//! site, and hold the cookie that the token of the first address was exchanged for.
//!
//! The address that a browser is started with is seen by all users in the list of processes: its
//! token works once. The printed one, which only the terminal shows, works until the end.

use std::io;
use std::sync::{Mutex, PoisonError};

use axum::http::header::{COOKIE, HOST, ORIGIN};
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use ring::rand::{SystemRandom, generate};

use crate::domain::hash::hex;

/// More bytes of path and query are refused.
const LONGEST_ADDRESS: usize = 4096;

/// The secrets of one server.
pub(super) struct Gate {
    port: u16,
    printed_token: String,
    /// `None` once it is used.
    opened_token: Mutex<Option<String>>,
    cookie: String,
}

/// What a request may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Passage {
    /// Read pages.
    Inside,
    /// Take this cookie, and come back without the token.
    Enter(String),
    Refused(Refusal),
}

/// The reason why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    Method,
    LongAddress,
    /// A page of another site has made its name point to this machine.
    ForeignHost,
    ForeignSite,
    NoCookie,
}

impl Refusal {
    pub(super) fn status(self) -> StatusCode {
        match self {
            Self::Method => StatusCode::METHOD_NOT_ALLOWED,
            Self::LongAddress => StatusCode::URI_TOO_LONG,
            Self::ForeignHost => StatusCode::MISDIRECTED_REQUEST,
            Self::ForeignSite | Self::NoCookie => StatusCode::FORBIDDEN,
        }
    }

    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Method => "These pages can only be read.",
            Self::LongAddress => "The address is too long.",
            Self::ForeignHost => "This server is only called by its own address.",
            Self::ForeignSite => {
                "A page of another site led here. Type the address, or open it from a bookmark."
            }
            Self::NoCookie => {
                "This browser has not been let in, or the server was started again. Open the \
                 address that `conclave view` printed in its terminal."
            }
        }
    }
}

impl std::fmt::Debug for Gate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gate")
            .field("port", &self.port)
            .finish_non_exhaustive()
    }
}

impl Gate {
    /// # Errors
    ///
    /// When the system gives no random numbers.
    pub(super) fn new(port: u16) -> io::Result<Self> {
        Ok(Self {
            port,
            printed_token: secret()?,
            opened_token: Mutex::new(Some(secret()?)),
            cookie: format!("conclave-{port}={}", secret()?),
        })
    }

    pub(super) fn printed_address(&self) -> String {
        self.address(&self.printed_token)
    }

    pub(super) fn opened_address(&self) -> String {
        let token = self.opened_token.lock();
        let token = token.unwrap_or_else(PoisonError::into_inner);
        self.address(token.as_deref().unwrap_or_default())
    }

    fn address(&self, token: &str) -> String {
        format!("http://127.0.0.1:{}/?token={token}", self.port)
    }

    pub(super) fn check(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Passage {
        let length = uri.path_and_query().map_or(0, |it| it.as_str().len());
        if !matches!(*method, Method::GET | Method::HEAD) {
            Passage::Refused(Refusal::Method)
        } else if length > LONGEST_ADDRESS {
            Passage::Refused(Refusal::LongAddress)
        } else if !self.is_named(uri, headers) {
            Passage::Refused(Refusal::ForeignHost)
        } else if !is_of_this_site(headers) {
            Passage::Refused(Refusal::ForeignSite)
        } else if self.has_token(uri) {
            Passage::Enter(format!(
                "{}; HttpOnly; SameSite=Strict; Path=/",
                self.cookie
            ))
        } else if self.has_cookie(headers) {
            Passage::Inside
        } else {
            Passage::Refused(Refusal::NoCookie)
        }
    }

    fn is_named(&self, uri: &Uri, headers: &HeaderMap) -> bool {
        let is_own = |name: &str| {
            let name = name.strip_suffix(&format!(":{}", self.port));
            name.is_some_and(|name| name == "127.0.0.1" || name.eq_ignore_ascii_case("localhost"))
        };
        let mut hosts = headers.get_all(HOST).iter();
        let host = hosts.next().and_then(|host| host.to_str().ok());
        host.is_some_and(is_own)
            && hosts.next().is_none()
            && uri
                .authority()
                .is_none_or(|authority| is_own(authority.as_str()))
    }

    fn has_token(&self, uri: &Uri) -> bool {
        let query = uri.query().unwrap_or_default();
        let Some(given) = query.strip_prefix("token=") else {
            return false;
        };
        let opened = self.opened_token.lock();
        let mut opened = opened.unwrap_or_else(PoisonError::into_inner);
        let is_opened = opened.take_if(|token| is_same(token, given)).is_some();
        is_opened | is_same(&self.printed_token, given)
    }

    fn has_cookie(&self, headers: &HeaderMap) -> bool {
        let headers = headers.get_all(COOKIE).iter();
        let mut cookies = headers
            .filter_map(|cookies| cookies.to_str().ok())
            .flat_map(|cookies| cookies.split(';'));
        cookies.any(|cookie| is_same(&self.cookie, cookie.trim()))
    }
}

/// Another port is another origin, but the same site: its pages send cookies along.
fn is_of_this_site(headers: &HeaderMap) -> bool {
    let site = headers.get("sec-fetch-site");
    let is_own = site.is_none_or(|site| site == "same-origin" || site == "none");
    // A browser sends it with requests of scripts to other origins.
    let origin = headers.get(ORIGIN).map(|origin| origin.as_bytes());
    let own = headers
        .get(HOST)
        .map(|host| [b"http://", host.as_bytes()].concat());
    is_own && origin.is_none_or(|origin| own.is_some_and(|own| own == origin))
}

/// Compares in a time that depends on the lengths alone.
fn is_same(secret: &str, given: &str) -> bool {
    let pairs = secret.bytes().zip(given.bytes());
    let differences = pairs.fold(0, |found, (one, other)| found | (one ^ other));
    secret.len() == given.len() && std::hint::black_box(differences) == 0
}

/// 128 bits.
fn secret() -> io::Result<String> {
    let random = generate::<[u8; 16]>(&SystemRandom::new());
    let random = random.map_err(|_| io::Error::other("the system gives no random numbers"))?;
    Ok(hex(&random.expose()))
}
