//! Servers between a client and a provider: TLS with a certificate of the tests' own authority, and
//! a proxy. Each runs on its own thread and stops when it is dropped.
//!
//! [`VendorHosts`] combines them to pose as the vendors' own addresses. The binary needs no hook
//! for that: it takes the proxy and the authority from `HTTPS_PROXY` and `SSL_CERT_FILE`, as it
//! does for any user, so every decision that depends on an address sees the vendors' own. A host
//! that the certificate does not cover is rejected, and the proxy connects to nothing but the
//! test's server.

use std::collections::BTreeSet;
use std::net::{Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex};

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpSocket, TcpStream};
use tokio_rustls::TlsAcceptor;

use super::provider_server::ProviderServer;
use super::server_thread::ServerThread;

/// Signs the certificate of [`TestListener::tls`]; no system trusts it.
pub(crate) const AUTHORITY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/data/tls/ca.pem");

/// A TLS server or a proxy on a local port.
#[derive(Debug)]
pub(crate) struct TestListener {
    pub(crate) address: SocketAddr,
    /// The heads of the requests to a proxy.
    request_heads: Arc<Mutex<Vec<String>>>,
    _thread: ServerThread,
}

/// What a proxy does with a request for a tunnel.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Tunnel {
    /// Connects to this address, whatever host is requested.
    To(SocketAddr),
    /// Responds with this status line.
    Refused(&'static str),
}

impl TestListener {
    /// Starts TLS in front of a plain server, for `localhost`, `127.0.0.1`, `api.example.test` and
    /// the hosts of the vendors.
    pub(crate) fn tls(behind: SocketAddr) -> Self {
        let acceptor = TlsAcceptor::from(Arc::new(tls_config()));
        Self::start(move |client, _| {
            let acceptor = acceptor.clone();
            async move {
                // A client that rejects the certificate closes the connection.
                let Ok(mut client) = acceptor.accept(client).await else {
                    return;
                };
                let mut server = TcpStream::connect(behind).await.unwrap();
                let _ = copy_bidirectional(&mut client, &mut server).await;
            }
        })
    }

    /// Starts an HTTP/2 server that closes every connection with these words.
    pub(crate) fn going_away(words: &'static str) -> Self {
        let mut config = tls_config();
        config.alpn_protocols = vec![b"h2".to_vec()];
        let acceptor = TlsAcceptor::from(Arc::new(config));
        Self::start(move |client, _| {
            let acceptor = acceptor.clone();
            async move {
                let Ok(mut client) = acceptor.accept(client).await else {
                    return;
                };
                // Length, type, flags and stream; then the last stream and the error's number.
                let length = u8::try_from(8 + words.len()).unwrap();
                let settings = [0, 0, 0, 4, 0, 0, 0, 0, 0];
                let go_away = [0, 0, length, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 11];
                let frames = [&settings[..], &go_away[..], words.as_bytes()].concat();
                let _ = client.write_all(&frames).await;
                let _ = client.flush().await;
                // Until the client has closed it: nothing of what was sent gets lost.
                let _ = tokio::io::copy(&mut client, &mut tokio::io::sink()).await;
            }
        })
    }

    /// Starts a proxy.
    pub(crate) fn proxy(tunnel: Tunnel) -> Self {
        Self::start(move |mut client, request_heads| async move {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                match client.read_u8().await {
                    Ok(byte) => head.push(byte),
                    Err(_) => return,
                }
            }
            let head = String::from_utf8(head).unwrap();
            request_heads.lock().unwrap().push(head);
            match tunnel {
                Tunnel::Refused(status) => {
                    let head = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n");
                    let _ = client.write_all(head.as_bytes()).await;
                }
                Tunnel::To(address) => {
                    let mut server = TcpStream::connect(address).await.unwrap();
                    let head = b"HTTP/1.1 200 Connection established\r\n\r\n";
                    client.write_all(head).await.unwrap();
                    let _ = copy_bidirectional(&mut client, &mut server).await;
                }
            }
        })
    }

    /// Starts a plain passage to a server on `[::1]` alone, at a port that is refused on
    /// `127.0.0.1`. `None` on a machine without IPv6.
    pub(crate) fn on_ipv6_only(behind: SocketAddr) -> Option<(Self, TcpSocket)> {
        let refused = TcpSocket::new_v4().unwrap();
        refused.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let port = refused.local_addr().unwrap().port();
        let listener = std::net::TcpListener::bind((Ipv6Addr::LOCALHOST, port)).ok()?;
        let passage = Self::start_on(listener, move |mut client, _| async move {
            let mut server = TcpStream::connect(behind).await.unwrap();
            let _ = copy_bidirectional(&mut client, &mut server).await;
        });
        Some((passage, refused))
    }

    fn start<F: Future<Output = ()> + Send + 'static>(
        serve: impl Fn(TcpStream, Arc<Mutex<Vec<String>>>) -> F + Send + 'static,
    ) -> Self {
        Self::start_on(std::net::TcpListener::bind("127.0.0.1:0").unwrap(), serve)
    }

    fn start_on<F: Future<Output = ()> + Send + 'static>(
        listener: std::net::TcpListener,
        serve: impl Fn(TcpStream, Arc<Mutex<Vec<String>>>) -> F + Send + 'static,
    ) -> Self {
        let request_heads = Arc::new(Mutex::new(Vec::new()));
        let heads = Arc::clone(&request_heads);
        let thread = ServerThread::start_on(listener, async move |listener| {
            let mut connections = tokio::task::JoinSet::new();
            loop {
                let (client, _) = listener.accept().await.unwrap();
                connections.spawn(serve(client, Arc::clone(&heads)));
            }
        });
        Self {
            address: thread.address,
            request_heads,
            _thread: thread,
        }
    }

    /// Returns the heads of all requests to a proxy, in the order of arrival.
    pub(crate) fn request_heads(&self) -> Vec<String> {
        self.request_heads.lock().unwrap().clone()
    }
}

fn tls_config() -> rustls::ServerConfig {
    let certificates = include_bytes!("../../data/tls/server.pem");
    let certificates = CertificateDer::pem_slice_iter(certificates)
        .collect::<Result<Vec<_>, _>>()
        .unwrap();
    let key = PrivateKeyDer::from_pem_slice(include_bytes!("../../data/tls/server.key")).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(certificates, key)
        .unwrap()
}

/// The vendors' own hosts, all served by one provider server.
#[derive(Debug)]
pub(crate) struct VendorHosts {
    proxy: TestListener,
    _tls: TestListener,
}

impl VendorHosts {
    pub(crate) fn of(server: &ProviderServer) -> Self {
        let tls = TestListener::tls(server.address());
        Self {
            proxy: TestListener::proxy(Tunnel::To(tls.address)),
            _tls: tls,
        }
    }

    /// Returns the variables that lead the binary here.
    pub(crate) fn variables(&self) -> [(&'static str, String); 2] {
        [
            ("HTTPS_PROXY", format!("http://{}", self.proxy.address)),
            ("SSL_CERT_FILE", AUTHORITY.to_owned()),
        ]
    }

    /// Returns the hosts and ports to which connections were made.
    pub(crate) fn connected(&self) -> BTreeSet<String> {
        let target = |head: &String| head.split(' ').nth(1).unwrap().to_owned();
        self.proxy.request_heads().iter().map(target).collect()
    }
}
