//! Waiting for what happens at the server, with a limit, so that a test that waits in vain fails.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::{ProviderServer, Recorded, Shared, lock};

/// Longer than anything takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

impl ProviderServer {
    /// Waits until the requests so far are as wanted.
    pub(crate) fn wait_until(&self, what: &str, wanted: impl Fn(&[Recorded]) -> bool) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap();
        let arrived = runtime
            .block_on(async { tokio::time::timeout(PATIENCE, until(&self.shared, wanted)).await });
        assert!(
            arrived.is_ok(),
            "waited in vain until {what}: {:#?}",
            self.requests()
        );
    }

    /// The same inside of a runtime, and for free requests as well.
    pub(crate) async fn sees(&self, what: &str, wanted: impl Fn(&Self) -> bool) {
        let mut bell = lock(&self.shared).bell.subscribe();
        let seen = async {
            while !wanted(self) {
                bell.changed().await.expect("the server is there");
            }
        };
        let seen = tokio::time::timeout(PATIENCE, seen).await;
        assert!(
            seen.is_ok(),
            "waited in vain until {what}: {:#?} {:#?}",
            self.requests(),
            self.free_requests()
        );
    }
}

/// Tells everyone who waits that something has changed.
pub(super) fn ring(shared: &Mutex<Shared>) {
    lock(shared).bell.send_replace(());
}

/// Waits until this many requests have arrived; answers come late rather than never when they do
/// not.
pub(super) async fn arrivals(shared: &Arc<Mutex<Shared>>, count: usize) {
    let _ = tokio::time::timeout(PATIENCE, until(shared, |requests| requests.len() >= count)).await;
}

async fn until(shared: &Arc<Mutex<Shared>>, wanted: impl Fn(&[Recorded]) -> bool) {
    let mut bell = lock(shared).bell.subscribe();
    while !wanted(&lock(shared).requests) && bell.changed().await.is_ok() {}
}
