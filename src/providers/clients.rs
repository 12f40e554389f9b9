//! The HTTP clients: trusted roots, proxies, and the rules of all clients.
//!
//! No redirects, no total timeout. Certificates are checked against the system's roots (also those
//! of `SSL_CERT_FILE`), or against the compiled-in ones on a system without roots. `HTTPS_PROXY`,
//! `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY` apply, except to the user's own machine and network.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::OnceLock;
use std::time::Duration;

use reqwest::{Certificate, Client, ClientBuilder, Url};

use crate::domain::model::address::without_credentials;

use super::errors::{innermost, shortened};

/// The longest silence of a connection. There is no limit on the length of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    pub connect: Duration,
    /// From the request to the first byte of the response's body: models reason in silence.
    pub first_byte: Duration,
    /// Between two bytes of a body, of any kind: comments that keep a stream alive count.
    pub idle: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_byte: Duration::from_secs(900),
            idle: Duration::from_secs(120),
        }
    }
}

/// The clients, built on first use: loading the platform's certificates takes longer than
/// `--version` may take.
#[derive(Debug, Default)]
pub(super) struct Clients {
    pub(super) timeouts: Timeouts,
    public: OnceLock<Result<Client, String>>,
    own_network: OnceLock<Result<Client, String>>,
    /// For the user's own network without TLS, which needs no certificates.
    own_network_plain: OnceLock<Result<Client, String>>,
}

/// Errors of getting a client for an address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClientError {
    #[error("`{0}` is not an address of the form https://host/path")]
    BadUrl(String),
    #[error("cannot set up TLS: {0}")]
    Setup(String),
}

impl Clients {
    pub(super) fn new(timeouts: Timeouts) -> Self {
        Self {
            timeouts,
            ..Self::default()
        }
    }

    pub(super) fn get(&self, url: &Url) -> Result<&Client, ClientError> {
        let own_network = is_own_network(url.host_str().unwrap_or_default());
        let plain = own_network && url.scheme() == "http";
        let cell = match (own_network, plain) {
            (false, _) => &self.public,
            (true, false) => &self.own_network,
            (true, true) => &self.own_network_plain,
        };
        let built = cell.get_or_init(|| {
            // A second installation changes nothing, and is reported as an error.
            let _ = rustls::crypto::ring::default_provider().install_default();
            let builder = || {
                if own_network {
                    self.builder().no_proxy()
                } else {
                    self.builder()
                }
            };
            let client = if plain {
                builder().tls_certs_only([]).build()
            } else {
                // The compiled-in roots are for systems without any; otherwise the system's trust
                // decides.
                let with_bundled = || builder().tls_certs_merge(bundled_roots());
                builder().build().or_else(|_| with_bundled().build())
            };
            client.map_err(|error| shortened(&innermost(&error)))
        });
        built
            .as_ref()
            .map_err(|reason| ClientError::Setup(reason.clone()))
    }

    fn builder(&self) -> ClientBuilder {
        // The system may know one family only, and a server may listen on the other. Port 0 stands
        // for the one of the address.
        let this_machine = [
            SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            SocketAddr::from((Ipv6Addr::LOCALHOST, 0)),
        ];
        Client::builder()
            .resolve_to_addrs("localhost", &this_machine)
            .user_agent(concat!("conclave/", env!("CARGO_PKG_VERSION")))
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(self.timeouts.connect)
            // Silence is no failure for many minutes, so a peer that is gone is found by probes.
            .tcp_keepalive(Duration::from_secs(15))
            .tcp_keepalive_interval(Duration::from_secs(15))
            .tcp_keepalive_retries(3)
            .http2_keep_alive_interval(Duration::from_secs(20))
            .http2_keep_alive_timeout(Duration::from_secs(20))
    }
}

/// Mozilla's roots at the time of the build.
fn bundled_roots() -> impl Iterator<Item = Certificate> {
    webpki_root_certs::TLS_SERVER_ROOT_CERTS
        .iter()
        .filter_map(|root| Certificate::from_der(root).ok())
}

pub(super) fn parse(url: &str) -> Result<Url, ClientError> {
    let without_query = || {
        let address = url.split(['?', '#']).next().unwrap_or_default();
        ClientError::BadUrl(without_credentials(address))
    };
    let parsed = Url::parse(url).map_err(|_| without_query())?;
    let usable = matches!(parsed.scheme(), "http" | "https") && parsed.has_host();
    usable.then_some(parsed).ok_or_else(without_query)
}

/// True for unencrypted addresses beyond the user's own machine and network.
pub fn is_readable_on_the_way(url: &str) -> bool {
    parse(url).is_ok_and(|url| {
        url.scheme() == "http" && !is_own_network(url.host_str().unwrap_or_default())
    })
}

/// Returns whether the host is on the user's own machine or network, which is reached without a
/// proxy.
pub(super) fn is_own_network(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    match host.parse() {
        Ok(IpAddr::V4(ip)) => {
            ip.is_loopback() || ip.is_private() || ip.is_link_local() || ip.is_unspecified()
        }
        Ok(IpAddr::V6(ip)) => {
            ip == Ipv6Addr::LOCALHOST || ip.is_unique_local() || ip.is_unicast_link_local()
        }
        Err(_) => {
            !host.contains('.')
                || [".localhost", ".local", ".internal"]
                    .iter()
                    .any(|suffix| host.ends_with(suffix))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_of_the_users_own_network_are_known() {
        for host in [
            "localhost",
            "127.0.0.1",
            "[::1]",
            "192.168.1.5",
            "10.0.0.1",
            "ollama",
            "box.local",
            "fd00::1",
        ] {
            assert!(is_own_network(host), "{host}");
        }
        for host in ["api.openai.com", "8.8.8.8", "2606:4700::1", "local.example"] {
            assert!(!is_own_network(host), "{host}");
        }
    }

    #[test]
    fn what_goes_unencrypted_beyond_the_own_network_is_readable() {
        for (url, is_readable) in [
            ("http://gateway.example/v1", true),
            ("http://8.8.8.8", true),
            ("https://gateway.example", false),
            ("http://127.0.0.1:8000", false),
            ("http://localhost", false),
            ("http://192.168.1.5", false),
            ("http://[::1]:1", false),
        ] {
            assert_eq!(is_readable_on_the_way(url), is_readable, "{url}");
        }
    }

    #[test]
    fn the_roots_that_are_compiled_in_are_all_read() {
        assert!(
            bundled_roots().count() == webpki_root_certs::TLS_SERVER_ROOT_CERTS.len()
                && bundled_roots().count() > 100
        );
    }
}
