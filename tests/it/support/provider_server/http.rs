//! HTTP/1.1 byte by byte: requests read, answers written, and connections ended in every way there
//! is.
//!
//! Written out rather than taken from a library, because a library would not let an answer break
//! the rules.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::exchange::{Exchange, Plan};
use super::script::{Ending, Framing};
use super::{Shared, waiting};

/// More than any client of ours sends.
const MAX_REQUEST_BYTES: usize = 64 * 1024 * 1024;
/// What was sent must have arrived before a connection is reset, or the client may lose it.
const BEFORE_A_RESET: Duration = Duration::from_millis(20);

/// A request as it arrived.
pub(super) struct Request {
    pub(super) method: String,
    pub(super) path_and_query: String,
    /// Names in lower case.
    pub(super) headers: BTreeMap<String, String>,
    pub(super) body: Value,
}

/// Serves connections until it is dropped, and they with it.
pub(super) async fn serve(listener: TcpListener, shared: Arc<Mutex<Shared>>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                if let Ok((stream, _)) = accepted {
                    let _ = stream.set_nodelay(true);
                    connections.spawn(connection(stream, Arc::clone(&shared)));
                }
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn connection(stream: TcpStream, shared: Arc<Mutex<Shared>>) {
    let mut unread = Vec::new();
    while let Some(request) = read_request(&stream, &mut unread).await {
        let (mut exchange, plan) = Exchange::begin(&shared, request);
        let ended = tokio::select! {
            ended = respond(&stream, &plan, &mut exchange, &shared) => ended.unwrap_or(Ended::Closed),
            () = gone(&stream) => Ended::Closed,
        };
        match ended {
            Ended::Open => {}
            Ended::Closed => return,
            Ended::Reset => {
                let _ = stream.set_zero_linger();
                return;
            }
        }
    }
}

/// What is to become of a connection after an answer.
#[derive(Clone, Copy, Debug)]
enum Ended {
    Open,
    Closed,
    Reset,
}

async fn respond(
    stream: &TcpStream,
    plan: &Plan,
    exchange: &mut Exchange,
    shared: &Arc<Mutex<Shared>>,
) -> io::Result<Ended> {
    waiting::arrivals(shared, plan.arrivals).await;
    tokio::time::sleep(plan.delay).await;
    send(stream, plan.head().as_bytes()).await?;
    let mut silence = plan.silence;
    while let Some(every) = plan.keep_alive.filter(|every| *every < silence) {
        tokio::time::sleep(every).await;
        silence -= every;
        send(stream, &plan.framed(b": keep-alive\n\n")).await?;
    }
    tokio::time::sleep(silence).await;
    let last = plan.frames.len().saturating_sub(1);
    for (at, frame) in plan.frames.iter().enumerate() {
        if at > 0 && !plan.pace.is_zero() {
            tokio::time::sleep(plan.pace).await;
        }
        let mut bytes = plan.framed(frame);
        if at == last && plan.again.is_none() {
            // In one piece with the end, so that a client that has seen enough finds the connection
            // ready for more.
            bytes.extend(plan.end());
            exchange.sent_all(plan.ending);
        }
        send(stream, &bytes).await?;
        exchange.count(frame.len());
    }
    if plan.frames.is_empty() && plan.again.is_none() {
        exchange.sent_all(plan.ending);
        send(stream, plan.end()).await?;
    }
    if let Some(again) = &plan.again {
        let bytes = plan.framed(again);
        loop {
            send(stream, &bytes).await?;
            exchange.count(again.len());
        }
    }
    Ok(match plan.ending {
        Ending::Whole | Ending::Short if plan.framing == Framing::Chunked => Ended::Open,
        Ending::Whole | Ending::Short | Ending::Closed => Ended::Closed,
        Ending::Cut => {
            tokio::time::sleep(BEFORE_A_RESET).await;
            Ended::Reset
        }
        Ending::Stall => {
            while let Some(every) = plan.keep_alive {
                tokio::time::sleep(every).await;
                send(stream, &plan.framed(b": keep-alive\n\n")).await?;
            }
            std::future::pending().await
        }
    })
}

async fn send(stream: &TcpStream, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        stream.writable().await?;
        match stream.try_write(bytes) {
            Ok(count) => bytes = &bytes[count..],
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Waits until the client has closed the connection.
async fn gone(stream: &TcpStream) {
    if let Ok(1..) = stream.peek(&mut [0]).await {
        // The next request, before this one has its answer: nobody is gone.
        std::future::pending::<()>().await;
    }
}

/// The next request; `None` when there is none.
async fn read_request(stream: &TcpStream, unread: &mut Vec<u8>) -> Option<Request> {
    let end = loop {
        if let Some(at) = unread.windows(4).position(|window| window == b"\r\n\r\n") {
            break at + 4;
        }
        read_more(stream, unread).await?;
        if unread
            .first()
            .is_some_and(|byte| !byte.is_ascii_uppercase())
        {
            // Not a method: a client that wants TLS, for one.
            let _ = send(stream, b"HTTP/1.1 400 .\r\ncontent-length: 0\r\n\r\n").await;
            return None;
        }
    };
    let head = String::from_utf8_lossy(&unread[..end]).into_owned();
    let mut lines = head.lines();
    let mut first = lines.next()?.split(' ');
    let (method, path_and_query) = (first.next()?.to_owned(), first.next()?.to_owned());
    let header = |line: &str| {
        line.split_once(':')
            .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
    };
    let mut headers = BTreeMap::<String, String>::new();
    for (name, value) in lines.filter_map(header) {
        let all = headers.entry(name).or_default();
        all.push_str(if all.is_empty() { "" } else { ", " });
        all.push_str(&value);
    }
    let length = headers
        .get("content-length")
        .map_or(0, |length| length.parse().unwrap());
    while unread.len() < end + length {
        read_more(stream, unread).await?;
    }
    let body = serde_json::from_slice(&unread[end..end + length]).unwrap_or_default();
    unread.drain(..end + length);
    Some(Request {
        method,
        path_and_query,
        headers,
        body,
    })
}

async fn read_more(stream: &TcpStream, unread: &mut Vec<u8>) -> Option<()> {
    assert!(unread.len() < MAX_REQUEST_BYTES, "a request has no end");
    let mut buffer = vec![0; 64 * 1024];
    loop {
        stream.readable().await.ok()?;
        match stream.try_read(&mut buffer) {
            Ok(0) => return None,
            Ok(count) => {
                unread.extend_from_slice(&buffer[..count]);
                return Some(());
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(_) => return None,
        }
    }
}
