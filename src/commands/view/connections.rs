//! Connections, and what a client may take of them: their number, the time and the room of a
//! request's head.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

/// More wait until one of them ends. The usual limit of open files is four times as high.
const MOST_CONNECTIONS: usize = 250;

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
    let permits = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    let mut connections = JoinSet::new();
    let mut is_idle = pin!(async move { while timeout(idle, active.changed()).await.is_ok() {} });
    loop {
        let next = async {
            let permit = Arc::clone(&permits).acquire_owned().await;
            (permit, listener.accept().await)
        };
        tokio::select! {
            (permit, accepted) = next => match accepted {
                Ok((stream, _)) => {
                    let service = TowerToHyperService::new(pages.clone());
                    let connection = http1::Builder::new()
                        .timer(TokioTimer::new())
                        .header_read_timeout(HEAD_TIME)
                        .max_buf_size(LONGEST_HEAD)
                        .serve_connection(TokioIo::new(stream), service);
                    connections.spawn(async move {
                        // The client's trouble.
                        let _ = connection.await;
                        drop(permit);
                    });
                }
                // Too many open files, until some are closed.
                Err(_) => sleep(Duration::from_millis(100)).await,
            },
            Some(_) = connections.join_next() => {}
            () = &mut is_idle => return,
        }
    }
}
