//! A server on a thread of its own, which stops when it is dropped.

use std::net::{SocketAddr, TcpListener};
use std::thread::JoinHandle;

use tokio::sync::oneshot;

/// Dropping it closes its port and every connection, also stalled ones.
#[derive(Debug)]
pub(crate) struct ServerThread {
    pub(crate) address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl ServerThread {
    /// Serves on a free port of this machine.
    pub(crate) fn start<F: Future<Output = ()>>(
        serve: impl FnOnce(tokio::net::TcpListener) -> F + Send + 'static,
    ) -> Self {
        Self::start_on(
            TcpListener::bind("127.0.0.1:0").expect("a free port"),
            serve,
        )
    }

    pub(crate) fn start_on<F: Future<Output = ()>>(
        listener: TcpListener,
        serve: impl FnOnce(tokio::net::TcpListener) -> F + Send + 'static,
    ) -> Self {
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async move {
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                tokio::select! {
                    () = serve(listener) => {}
                    _ = stopped => {}
                }
            });
        });
        Self {
            address,
            stop: Some(stop),
            thread: Some(thread),
        }
    }
}

impl Drop for ServerThread {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
