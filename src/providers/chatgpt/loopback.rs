//! The port of this machine to which the browser is sent back. Whatever else reaches it, a page's
//! requests, a scan, a client that says nothing, is answered or dropped, and the wait goes on.

use std::time::Duration;

use futures_util::stream::{FuturesUnordered, StreamExt};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use url::Url;

use super::SignInError;
use super::attempt::{Attempt, Callback};

/// A browser sends its request at once.
const PATIENCE: Duration = Duration::from_secs(5);

/// Connections that are read at once.
const MAX_OPEN: usize = 32;

/// Longest head of a request in bytes.
const MAX_HEAD: usize = 16 * 1024;

/// What follows the status: nothing is kept, and the page can do nothing.
const HEADERS: &str = "Content-Type: text/plain; charset=utf-8\r\nCache-Control: no-store\r\n\
    Referrer-Policy: no-referrer\r\nContent-Security-Policy: default-src 'none'\r\n\
    Connection: close\r\n\r\n";

/// Waits for the browser. Dropping the future closes the port.
pub async fn callback(listener: TcpListener, attempt: &Attempt) -> Result<Callback, SignInError> {
    let mut open = FuturesUnordered::new();
    loop {
        tokio::select! {
            Some(served) = open.next() => if let Ok(Some(callback)) = served {
                return callback;
            },
            accepted = listener.accept(), if open.len() < MAX_OPEN => {
                open.push(timeout(PATIENCE, serve(accepted?.0, attempt)));
            }
        }
    }
}

/// The answer is for the person; the sign-in goes on without it.
async fn serve(mut stream: TcpStream, attempt: &Attempt) -> Option<Result<Callback, SignInError>> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") && head.len() < MAX_HEAD {
        if stream.read_buf(&mut head).await.ok()? == 0 {
            break;
        }
    }
    let url = asked(&String::from_utf8_lossy(&head), attempt);
    let callback = url.and_then(|url| attempt.read(&url));
    let answer = match &callback {
        None => format!("HTTP/1.1 404 Not Found\r\n{HEADERS}This is no part of the sign-in."),
        Some(_) => format!("HTTP/1.1 200 OK\r\n{HEADERS}Go back to the terminal."),
    };
    let _ = stream.write_all(answer.as_bytes()).await;
    let _ = stream.shutdown().await;
    callback
}

/// `None` for a request that no browser sends when it is sent back: another method, or another
/// name for this machine.
fn asked(head: &str, attempt: &Attempt) -> Option<Url> {
    let path = head.strip_prefix("GET /")?.split(' ').next()?;
    let own = &attempt.authority;
    let mut hosts = head.lines().filter_map(|line| line.split_once(':'));
    let is_own =
        |(name, value): (&str, &str)| name.eq_ignore_ascii_case("host") && value.trim() == own;
    let is_here = hosts.any(is_own);
    is_here.then(|| Url::parse(&format!("http://{own}/{path}")).ok())?
}
