//! What stands between a client and a provider: TLS with a certificate of the tests' own authority,
//! and a proxy. Both on threads of their own that stop when they are dropped.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio_rustls::TlsAcceptor;

/// Signs the certificate of [`Listening::tls`]; no system trusts it.
pub(crate) const AUTHORITY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/data/tls/ca.pem");

/// Something that listens.
#[derive(Debug)]
pub(crate) struct Listening {
    pub(crate) address: SocketAddr,
    /// The heads of the requests that a proxy was sent.
    seen: Arc<Mutex<Vec<String>>>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// What a proxy does with a request for a tunnel.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Tunnel {
    /// Leads everywhere to this one place, whatever host is asked for.
    To(SocketAddr),
    /// Answers with this status line.
    Refused(&'static str),
}

impl Listening {
    /// TLS for `localhost`, `127.0.0.1` and `api.example.test` before a plain server.
    pub(crate) fn tls(behind: SocketAddr) -> Self {
        let certificates = include_bytes!("../data/tls/server.pem");
        let certificates = CertificateDer::pem_slice_iter(certificates)
            .collect::<Result<Vec<_>, _>>()
            .unwrap();
        let key = PrivateKeyDer::from_pem_slice(include_bytes!("../data/tls/server.key")).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap();
        let config = config
            .with_no_client_auth()
            .with_single_cert(certificates, key)
            .unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        Self::start(move |client, _| {
            let acceptor = acceptor.clone();
            async move {
                // A client that does not like the certificate goes away: that is its right.
                let Ok(mut client) = acceptor.accept(client).await else {
                    return;
                };
                let mut server = TcpStream::connect(behind).await.unwrap();
                let _ = copy_bidirectional(&mut client, &mut server).await;
            }
        })
    }

    /// A proxy.
    pub(crate) fn proxy(tunnel: Tunnel) -> Self {
        Self::start(move |mut client, seen| async move {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                match client.read_u8().await {
                    Ok(byte) => head.push(byte),
                    Err(_) => return,
                }
            }
            seen.lock().unwrap().push(String::from_utf8(head).unwrap());
            match tunnel {
                Tunnel::Refused(status) => {
                    let _ = client
                        .write_all(
                            format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n").as_bytes(),
                        )
                        .await;
                }
                Tunnel::To(place) => {
                    let mut server = TcpStream::connect(place).await.unwrap();
                    client
                        .write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")
                        .await
                        .unwrap();
                    let _ = copy_bidirectional(&mut client, &mut server).await;
                }
            }
        })
    }

    fn start<F: Future<Output = ()> + Send + 'static>(
        serve: impl Fn(TcpStream, Arc<Mutex<Vec<String>>>) -> F + Send + 'static,
    ) -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let requests = Arc::clone(&seen);
        let (stop, mut stopped) = oneshot::channel::<()>();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async move {
                let listener = TcpListener::from_std(listener).unwrap();
                let mut connections = tokio::task::JoinSet::new();
                loop {
                    tokio::select! {
                        accepted = listener.accept() => drop(connections.spawn(serve(accepted.unwrap().0, Arc::clone(&requests)))),
                        _ = &mut stopped => break,
                    }
                }
            });
        });
        Self {
            address,
            seen,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    /// The heads of all requests to a proxy, in the order of arrival.
    pub(crate) fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
