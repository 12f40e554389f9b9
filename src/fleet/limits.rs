//! What workers learn of providers, shared by all: backoffs and circuits. What a provider asks one
//! of them to wait, all wait, to the agreement of their clocks; a refused key is only its own.

use std::collections::{BTreeMap, BTreeSet};

use tokio::sync::watch;

use crate::consultation::event::ProviderEvent;
use crate::domain::ids::ProviderId;
use crate::engine::dispatcher::Dispatcher;

use super::job::SeenChange;
use super::link::Link;

/// Tells all workers what this process's dispatcher sees, and the dispatcher what others see, for
/// ever; `refused` has the providers that refuse the key of this process.
///
/// Never runs on the thread of the connection: the dispatcher may be busy with a budget that waits
/// for it.
pub async fn share(
    link: Link,
    worker: String,
    dispatcher: Dispatcher,
    refused: watch::Sender<BTreeSet<ProviderId>>,
) {
    let (limits, mut own) = (&link.stores().limits, dispatcher.changes());
    let mut theirs = limits.watch();
    let mut known = BTreeMap::<String, SeenChange>::new();
    loop {
        tokio::select! {
            Some(event) = own.recv() => {
                let kind = match &event {
                    ProviderEvent::Held { .. } => "held",
                    ProviderEvent::CircuitChanged { .. } => "circuit",
                    ProviderEvent::KeyChanged { provider, is_refused } => {
                        refused.send_modify(|refused| {
                            refused.remove(provider);
                            refused.extend(is_refused.then(|| provider.clone()));
                        });
                        continue;
                    }
                };
                let key = format!("{}.{kind}", event.provider().as_str());
                let (worker, at) = (worker.clone(), dispatcher.clock().now());
                // Without it, others learn it from the provider.
                let _ = limits.put(&key, &SeenChange { worker, at, event }).await;
            }
            Ok(()) = theirs.changed() => {
                let all = theirs.borrow_and_update().clone();
                let is_new = |(key, change): &(&String, &SeenChange)| {
                    change.worker != worker && known.get(*key) != Some(change)
                };
                let now = dispatcher.clock().now();
                for event in all.iter().filter(is_new).filter_map(|(_, change)| change.at(now)) {
                    dispatcher.learn(&event);
                }
                known = all;
            }
            else => return,
        }
    }
}
