//! Connections, and what a client may take of them: their number, the time and the room of a
//! request's head.

use std::collections::VecDeque;
use std::pin::pin;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{sleep, timeout};

/// One more closes the oldest, so that a flood shuts no browser out, which connects again. Far below
/// the usual limit of open files.
const MOST_CONNECTIONS: usize = 128;

/// For a request's head, and between two requests.
const HEAD_TIME: Duration = Duration::from_secs(10);

const LONGEST_HEAD: usize = 16 * 1024;

/// Serves until nothing was `active` for the idle time, then drops all connections.
pub(super) async fn serve(
    listener: TcpListener,
    pages: Router,
    idle: Duration,
    mut active: watch::Receiver<()>,
) {
    let mut connections = JoinSet::new();
    let mut oldest_first: VecDeque<AbortHandle> = VecDeque::new();
    let mut is_idle = pin!(async move { while timeout(idle, active.changed()).await.is_ok() {} });
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    oldest_first.retain(|connection| !connection.is_finished());
                    if oldest_first.len() >= MOST_CONNECTIONS
                        && let Some(oldest) = oldest_first.pop_front()
                    {
                        oldest.abort();
                    }
                    let service = TowerToHyperService::new(pages.clone());
                    let connection = http1::Builder::new()
                        .timer(TokioTimer::new())
                        .header_read_timeout(HEAD_TIME)
                        .max_buf_size(LONGEST_HEAD)
                        .serve_connection(TokioIo::new(stream), service);
                    oldest_first.push_back(connections.spawn(connection));
                }
                // Too many open files, until some are closed.
                Err(_) => sleep(Duration::from_millis(100)).await,
            },
            // Its trouble is the client's.
            Some(_) = connections.join_next() => {}
            () = &mut is_idle => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use axum::routing::get;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpStream;

    use super::*;

    const REQUEST: &str = "GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n";

    /// Serves while the visit lasts; `None` if the server ends first.
    async fn visited<T>(idle: Duration, visit: impl AsyncFnOnce(SocketAddr) -> T) -> Option<T> {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let pages = Router::new().route("/", get(async || "a page"));
        let (_active, changes) = watch::channel(());
        tokio::select! {
            () = serve(listener, pages, idle, changes) => None,
            found = visit(address) => Some(found),
        }
    }

    async fn answer(stream: &mut TcpStream, request: &str) -> String {
        // A server that has closed the connection takes no more.
        let _ = stream.write_all(request.as_bytes()).await;
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer).await;
        answer
    }

    #[tokio::test(start_paused = true)]
    async fn slow_client_is_dropped() {
        let answer = visited(Duration::MAX, async |address| {
            let mut stream = TcpStream::connect(address).await.unwrap();
            // The time goes on as soon as nothing else happens.
            answer(&mut stream, REQUEST).await
        });
        assert!(!answer.await.unwrap().contains("a page"));
    }

    #[tokio::test]
    async fn long_head_is_refused() {
        let long = format!("{REQUEST}a: {}\r\n\r\n", "a".repeat(2 * LONGEST_HEAD));
        let answer = visited(Duration::MAX, async |address| {
            let mut stream = TcpStream::connect(address).await.unwrap();
            answer(&mut stream, &long).await
        });
        let answer = answer.await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 431 "), "{answer}");
    }

    #[tokio::test]
    async fn flood_closes_its_own_connections_first() {
        let answer = visited(Duration::MAX, async |address| {
            let mut flood = Vec::new();
            for _ in 0..3 * MOST_CONNECTIONS {
                flood.push(TcpStream::connect(address).await.unwrap());
            }
            let mut visitor = TcpStream::connect(address).await.unwrap();
            let page = answer(&mut visitor, &format!("{REQUEST}\r\n")).await;
            (page, answer(&mut flood[0], &format!("{REQUEST}\r\n")).await)
        });
        let (page, oldest) = answer.await.unwrap();
        assert!(page.ends_with("a page"), "{page}");
        assert_eq!(oldest, "");
    }

    #[tokio::test(start_paused = true)]
    async fn server_without_visitors_ends() {
        let idle = Duration::from_secs(1800);
        let ended = visited(idle, async |_| sleep(idle + Duration::from_secs(1)).await);
        assert_eq!(ended.await, None);
    }
}
