//! The port of this machine to which the browser is sent back. Whatever else reaches it, a page's
//! requests, a scan, a client that says nothing, is answered or dropped, and the wait goes on.

use std::time::Duration;

use futures_util::stream::{FuturesUnordered, StreamExt};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

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
    let callback = asked(&String::from_utf8_lossy(&head)).and_then(|url| attempt.read(&url));
    let (status, words) = match &callback {
        None => ("404 Not Found", "This is no part of the sign-in."),
        Some(_) => ("200 OK", "Go back to the terminal."),
    };
    let answer = format!("HTTP/1.1 {status}\r\n{HEADERS}{words}");
    let _ = stream.write_all(answer.as_bytes()).await;
    let _ = stream.shutdown().await;
    callback
}

/// Returns the whole address that a request is for, under the name that it has for this machine.
fn asked(head: &str) -> Option<String> {
    let path = head.strip_prefix("GET ")?.split(' ').next()?;
    let mut fields = head.lines().filter_map(|line| line.split_once(':'));
    let (_, host) = fields.find(|(name, _)| name.eq_ignore_ascii_case("host"))?;
    Some(format!("http://{}{path}", host.trim()))
}
