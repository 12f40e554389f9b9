//! Waits for requests at the server, with a timeout that fails the test.

use std::sync::{Arc, Mutex};

use tokio::sync::watch;

use super::{ProviderServer, RecordedRequest, Shared, lock};
use crate::support::timeout::WAIT_TIMEOUT;

/// Keeps answers back until it is released; clones are one.
#[derive(Clone, Debug)]
pub(crate) struct Hold(watch::Sender<bool>);

impl Hold {
    pub(crate) fn new() -> Self {
        Self(watch::Sender::new(false))
    }

    pub(crate) fn release(&self) {
        self.0.send_replace(true);
    }

    pub(super) async fn released(&self) {
        // This clone of the sender lives, so the channel stays open.
        let _ = self.0.subscribe().wait_for(|released| *released).await;
    }
}

impl ProviderServer {
    /// Waits until the requests so far fulfil the condition.
    pub(crate) fn wait_until(
        &self,
        description: &str,
        condition: impl Fn(&[RecordedRequest]) -> bool,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap();
        let arrived = runtime.block_on(async {
            tokio::time::timeout(WAIT_TIMEOUT, until(&self.shared, condition)).await
        });
        assert!(
            arrived.is_ok(),
            "timed out waiting until {description}: {:#?}",
            self.requests()
        );
    }

    /// Waits inside a runtime, for any condition of the server.
    pub(crate) async fn sees(&self, description: &str, condition: impl Fn(&Self) -> bool) {
        let mut changes = lock(&self.shared).changes.subscribe();
        let seen = async {
            while !condition(self) {
                changes.changed().await.expect("the server runs");
            }
        };
        let seen = tokio::time::timeout(WAIT_TIMEOUT, seen).await;
        assert!(
            seen.is_ok(),
            "timed out waiting until {description}: {:#?} {:#?}",
            self.requests(),
            self.free_requests()
        );
    }
}

/// Wakes everything that waits for a change.
pub(super) fn notify(shared: &Mutex<Shared>) {
    lock(shared).changes.send_replace(());
}

/// Waits until this many requests have arrived, or until the timeout, so that answers still come.
pub(super) async fn arrivals(shared: &Arc<Mutex<Shared>>, count: usize) {
    let _ = tokio::time::timeout(
        WAIT_TIMEOUT,
        until(shared, |requests| requests.len() >= count),
    )
    .await;
}

async fn until(shared: &Arc<Mutex<Shared>>, condition: impl Fn(&[RecordedRequest]) -> bool) {
    let mut changes = lock(shared).changes.subscribe();
    while !condition(&lock(shared).requests) && changes.changed().await.is_ok() {}
}
