//! Who may read. This machine's other users, and pages of other sites in this person's own browser,
//! reach the port too; so a request must name the server by its own address, come from no other
//! site, and hold the cookie that the token of the first address was exchanged for.
//!
//! The address that a browser is started with is seen by all users in the list of processes: its
//! token works once. The printed one, which only the terminal shows, works until the end.

use std::io;
use std::sync::{Mutex, PoisonError};

use axum::http::header::{COOKIE, HOST, ORIGIN};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
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
        if method != Method::GET {
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
            // A browser leaves out the usual port.
            let usual = (self.port == 80).then_some(name);
            let name = name.strip_suffix(&format!(":{}", self.port)).or(usual);
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
    let origin = headers.get(ORIGIN).map(HeaderValue::as_bytes);
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Asks with `GET` and a cookie, unless the lines say something else.
    fn check(gate: &Gate, uri: &str, lines: &[(&'static str, &str)]) -> Passage {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, value.parse().unwrap());
        }
        gate.check(&Method::GET, &uri.parse().unwrap(), &headers)
    }

    #[test]
    fn only_this_persons_browser_is_let_in() {
        let gate = Gate::new(8123).unwrap();
        let cookie = gate.cookie.clone();
        let other = format!("conclave-8123={}", "0".repeat(32));
        let longer = format!("{cookie}0");
        let (shorter, _) = cookie.split_at(cookie.len() - 1);
        let among = format!("a=b; {cookie}; conclave-8124=1");
        let own = ("host", "127.0.0.1:8123");
        let inside = ("cookie", cookie.as_str());
        let (host, site, none) = (
            Passage::Refused(Refusal::ForeignHost),
            Passage::Refused(Refusal::ForeignSite),
            Passage::Refused(Refusal::NoCookie),
        );
        let rows: &[(&[(&str, &str)], &Passage)] = &[
            (&[own, inside], &Passage::Inside),
            (&[("host", "LocalHost:8123"), inside], &Passage::Inside),
            (&[own, ("cookie", &among)], &Passage::Inside),
            (&[own, ("cookie", "a=b"), inside], &Passage::Inside),
            // A process of another user has no cookie.
            (&[own], &none),
            (&[own, ("cookie", &other)], &none),
            (&[own, ("cookie", &longer)], &none),
            (&[own, ("cookie", shorter)], &none),
            (&[own, ("cookie", "")], &none),
            // The name of another site leads here, with whatever its pages can send.
            (&[("host", "evil.example:8123"), inside], &host),
            (&[("host", "127.0.0.1"), inside], &host),
            (&[("host", "127.0.0.1:8124"), inside], &host),
            (&[("host", "127.0.0.1:8123.evil.example"), inside], &host),
            (&[("host", "evil.example:80:8123"), inside], &host),
            (&[("host", "[::1]:8123"), inside], &host),
            (&[("host", "0.0.0.0:8123"), inside], &host),
            (&[own, ("host", "evil.example:8123"), inside], &host),
            (&[own, own, inside], &host),
            (&[("host", "localhost.:8123"), inside], &host),
            (&[("host", "2130706433:8123"), inside], &host),
            (&[("host", "127.1:8123"), inside], &host),
            (&[("host", "0x7f000001:8123"), inside], &host),
            (&[("host", "[::ffff:127.0.0.1]:8123"), inside], &host),
            (&[("host", "127.0.0.1:08123"), inside], &host),
            (&[("host", "a@127.0.0.1:8123"), inside], &host),
            (&[("host", ""), inside], &host),
            (&[inside], &host),
            // Pages of other servers of this machine.
            (&[own, inside, ("sec-fetch-site", "same-site")], &site),
            (&[own, inside, ("sec-fetch-site", "cross-site")], &site),
            (&[own, inside, ("sec-fetch-site", "none")], &Passage::Inside),
            (
                &[own, inside, ("sec-fetch-site", "same-origin")],
                &Passage::Inside,
            ),
            (&[own, inside, ("origin", "http://127.0.0.1:8124")], &site),
            (&[own, inside, ("origin", "http://localhost:8123")], &site),
            (&[own, inside, ("origin", "https://127.0.0.1:8123")], &site),
            (&[own, inside, ("origin", "null")], &site),
            (
                &[own, inside, ("origin", "http://127.0.0.1:8123")],
                &Passage::Inside,
            ),
        ];
        for (lines, passage) in rows {
            assert_eq!(check(&gate, "/", lines), **passage, "{lines:?}");
        }
        let absolute = "http://evil.example:8123/";
        assert_eq!(check(&gate, absolute, &[own, inside]), host);
        let long = format!("/?q={}", "a".repeat(LONGEST_ADDRESS));
        let refusal = Passage::Refused(Refusal::LongAddress);
        assert_eq!(check(&gate, &long, &[own, inside]), refusal);
        for method in [
            "POST", "PUT", "DELETE", "OPTIONS", "CONNECT", "TRACE", "PATCH", "X",
        ] {
            let method = Method::from_bytes(method.as_bytes()).unwrap();
            let passage = gate.check(&method, &"/".parse().unwrap(), &HeaderMap::new());
            assert_eq!(passage, Passage::Refused(Refusal::Method));
        }
    }

    #[test]
    fn usual_port_is_left_out() {
        let gate = Gate::new(80).unwrap();
        let inside = ("cookie", gate.cookie.as_str());
        for (host, passage) in [
            ("127.0.0.1", Passage::Inside),
            ("localhost:80", Passage::Inside),
            ("evil.example", Passage::Refused(Refusal::ForeignHost)),
            ("127.0.0.1:8080", Passage::Refused(Refusal::ForeignHost)),
        ] {
            assert_eq!(check(&gate, "/", &[("host", host), inside]), passage);
        }
    }

    #[test]
    fn what_the_list_of_processes_shows_lets_in_once() {
        let gate = Gate::new(8123).unwrap();
        let own = [("host", "127.0.0.1:8123")];
        let cookie = format!("{}; HttpOnly; SameSite=Strict; Path=/", gate.cookie);
        let enter = Passage::Enter(cookie);
        let none = Passage::Refused(Refusal::NoCookie);
        let (opened, printed) = (gate.opened_address(), gate.printed_address());
        assert_ne!(opened, printed);
        let (_, opened) = opened.split_once(":8123").unwrap();
        let (_, printed) = printed.split_once(":8123").unwrap();
        let (_, token) = opened.split_once('=').unwrap();
        assert_eq!(token.len(), 32);
        for uri in [
            "/?token=",
            "/?token=0",
            "/?x=1&token=0",
            printed.strip_suffix(|_| true).unwrap(),
        ] {
            assert_eq!(check(&gate, uri, &own), none, "{uri}");
        }
        let site = [own[0], ("sec-fetch-site", "cross-site")];
        let refused = Passage::Refused(Refusal::ForeignSite);
        assert_eq!(check(&gate, opened, &site), refused);
        assert_eq!(check(&gate, opened, &own), enter);
        assert_eq!(check(&gate, opened, &own), none);
        assert_eq!(check(&gate, "/?token=", &own), none);
        for _ in 0..2 {
            assert_eq!(check(&gate, printed, &own), enter);
        }
        let shown = format!("{gate:?}");
        assert!(
            !shown.contains(token) && !shown.contains(&gate.cookie),
            "{shown}"
        );
    }
}
