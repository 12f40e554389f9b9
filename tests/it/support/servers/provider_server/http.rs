//! HTTP/1.1 byte by byte: reads requests, writes responses and ends connections in every possible
//! way. No library is used, because a library would not send invalid responses.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::exchange::{Exchange, ResponsePlan};
use super::script::{Ending, Framing};
use super::{Shared, wait};

/// More than any client under test sends.
const MAX_REQUEST_BYTES: usize = 64 * 1024 * 1024;
/// The delay before a reset. Bytes that have not arrived by then may be lost.
const RESET_DELAY: Duration = Duration::from_millis(20);

/// A request as it arrived.
pub(super) struct Request {
    pub(super) method: String,
    pub(super) path_and_query: String,
    /// Names in lower case.
    pub(super) headers: BTreeMap<String, String>,
    pub(super) body: Value,
    pub(super) bytes: Vec<u8>,
}

/// Serves connections until the future is dropped, which drops them too.
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
        let after = tokio::select! {
            after = respond(&stream, &plan, &mut exchange, &shared) => after.unwrap_or(AfterResponse::Close),
            () = disconnected(&stream) => AfterResponse::Close,
        };
        match after {
            AfterResponse::KeepOpen => {}
            AfterResponse::Close => return,
            AfterResponse::Reset => {
                let _ = stream.set_zero_linger();
                return;
            }
        }
    }
}

/// What happens to a connection after a response.
#[derive(Clone, Copy, Debug)]
enum AfterResponse {
    KeepOpen,
    Close,
    Reset,
}

async fn respond(
    stream: &TcpStream,
    plan: &ResponsePlan,
    exchange: &mut Exchange,
    shared: &Arc<Mutex<Shared>>,
) -> io::Result<AfterResponse> {
    wait::arrivals(shared, plan.answer.arrivals).await;
    if let Some(hold) = &plan.answer.hold {
        hold.released().await;
    }
    tokio::time::sleep(plan.answer.delay).await;
    send(stream, plan.head().as_bytes()).await?;
    let mut silence = plan.answer.silence;
    while let Some(every) = plan.answer.keep_alive.filter(|every| *every < silence) {
        tokio::time::sleep(every).await;
        silence -= every;
        send(stream, &plan.framed(b": keep-alive\n\n")).await?;
    }
    tokio::time::sleep(silence).await;
    let last = plan.frames.len().saturating_sub(1);
    for (index, frame) in plan.frames.iter().enumerate() {
        if index == plan.frames.len().div_ceil(2)
            && let Some(hold) = &plan.answer.second_half
        {
            hold.released().await;
        }
        if index > 0 && !plan.answer.pace.is_zero() {
            tokio::time::sleep(plan.answer.pace).await;
        }
        let mut bytes = plan.framed(frame);
        if index == last && plan.repeated.is_none() {
            // One write with the end, so that the connection is ready for the next request when the
            // client has read the last frame.
            bytes.extend(plan.end());
            exchange.sent_all(plan.answer.ending);
        }
        send(stream, &bytes).await?;
        exchange.count(frame.len());
    }
    if plan.frames.is_empty() && plan.repeated.is_none() {
        exchange.sent_all(plan.answer.ending);
        send(stream, plan.end()).await?;
    }
    if let Some(repeated) = &plan.repeated {
        let bytes = plan.framed(repeated);
        loop {
            send(stream, &bytes).await?;
            exchange.count(repeated.len());
        }
    }
    Ok(match plan.answer.ending {
        Ending::Whole | Ending::Short if plan.answer.framing == Framing::Chunked => {
            AfterResponse::KeepOpen
        }
        Ending::Whole | Ending::Short | Ending::Closed => AfterResponse::Close,
        Ending::Cut => {
            tokio::time::sleep(RESET_DELAY).await;
            AfterResponse::Reset
        }
        Ending::Stall => {
            while let Some(every) = plan.answer.keep_alive {
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

/// Waits until the client closes the connection.
async fn disconnected(stream: &TcpStream) {
    if let Ok(1..) = stream.peek(&mut [0]).await {
        // The client sends its next request before it has this response: it is still connected.
        std::future::pending::<()>().await;
    }
}

/// Reads the next request; `None` when there is none.
async fn read_request(stream: &TcpStream, unread: &mut Vec<u8>) -> Option<Request> {
    let end = loop {
        if let Some(index) = unread.windows(4).position(|window| window == b"\r\n\r\n") {
            break index + 4;
        }
        read_more(stream, unread).await?;
        if unread
            .first()
            .is_some_and(|byte| !byte.is_ascii_uppercase())
        {
            // Not a method, for example a client that starts TLS.
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
    let bytes = unread[end..end + length].to_vec();
    let body = serde_json::from_slice(&bytes).unwrap_or_default();
    unread.drain(..end + length);
    Some(Request {
        method,
        path_and_query,
        headers,
        body,
        bytes,
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
