//! What workers learn of providers, shared by all: backoffs and circuits. What a provider asks one
//! of them to wait, all wait, to the agreement of their clocks; a refused key is only its own.

use std::collections::BTreeSet;

use async_nats::jetstream::kv::{Entry, Operation};
use futures_util::StreamExt;
use serde::{Deserialize, Serialize};
use tokio::sync::{mpsc, watch};
use tokio::time::{Duration, sleep};

use crate::consultation::event::ProviderEvent;
use crate::domain::ids::ProviderId;
use crate::domain::time::Timestamp;
use crate::engine::dispatcher::Dispatcher;
use crate::stopping::circuit::state::CircuitState;

use super::FleetError;
use super::link::Link;
use super::names::part;
use super::roll;

/// Between two attempts to watch.
const AGAIN: Duration = Duration::from_secs(1);

/// A change of a provider that a worker saw.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenChange {
    pub worker: String,
    pub at: Timestamp,
    pub event: ProviderEvent,
}

impl SeenChange {
    /// Returns the change for someone who learns of it now; `None` if it is over, or concerns only
    /// the worker that saw it.
    pub fn at(&self, now: Timestamp) -> Option<ProviderEvent> {
        let mut event = self.event.clone();
        match &mut event {
            ProviderEvent::Held { wait_ms, .. } => {
                let until = self.at.after(Duration::from_millis(*wait_ms));
                *wait_ms = until.ms_since(now);
                (*wait_ms > 0).then_some(event)
            }
            ProviderEvent::CircuitChanged { circuit, .. } => match circuit {
                CircuitState::Open { until, .. } => (*until > now).then_some(event),
                CircuitState::Closed => Some(event),
                CircuitState::HalfOpen { .. } => None,
            },
            ProviderEvent::KeyChanged { .. } => None,
        }
    }

    fn key(&self) -> Option<String> {
        let kind = match self.event {
            ProviderEvent::Held { .. } => "held",
            ProviderEvent::CircuitChanged { .. } => "circuit",
            ProviderEvent::KeyChanged { .. } => return None,
        };
        let provider = part(self.event.provider().as_str()).ok()?;
        Some(format!("{provider}.{kind}"))
    }
}

/// Returns the last changes of all providers.
pub async fn read(link: &Link) -> Result<Vec<SeenChange>, FleetError> {
    let all = roll::all(&link.stores().limits).await?;
    Ok(all.into_values().collect())
}

/// Tells all workers what this process's dispatcher sees, and the dispatcher what others see, as
/// long as the receiver lives. It has the providers that refuse the key of this process.
pub fn share(
    link: &Link,
    worker: &str,
    dispatcher: &Dispatcher,
) -> watch::Receiver<BTreeSet<ProviderId>> {
    let (refused, receiver) = watch::channel(BTreeSet::new());
    let sharing = Sharing {
        link: link.clone(),
        worker: worker.to_owned(),
        dispatcher: dispatcher.clone(),
        own: dispatcher.changes(),
        refused,
    };
    link.spawn(sharing.run());
    receiver
}

struct Sharing {
    link: Link,
    worker: String,
    dispatcher: Dispatcher,
    own: mpsc::UnboundedReceiver<ProviderEvent>,
    refused: watch::Sender<BTreeSet<ProviderId>>,
}

impl Sharing {
    async fn run(mut self) {
        let store = self.link.stores().limits.clone();
        loop {
            let Ok(mut theirs) = store.watch_with_history(">").await else {
                sleep(AGAIN).await;
                continue;
            };
            loop {
                tokio::select! {
                    () = self.refused.closed() => return,
                    Some(event) = self.own.recv() => self.tell(event).await,
                    entry = theirs.next() => match entry {
                        Some(Ok(entry)) => self.learn(&entry),
                        Some(Err(_)) | None => break,
                    },
                }
            }
            sleep(AGAIN).await;
        }
    }

    async fn tell(&self, event: ProviderEvent) {
        if let ProviderEvent::KeyChanged {
            provider,
            is_refused,
        } = &event
        {
            self.refused.send_modify(|refused| {
                match is_refused {
                    true => refused.insert(provider.clone()),
                    false => refused.remove(provider),
                };
            });
        }
        let change = SeenChange {
            worker: self.worker.clone(),
            at: self.dispatcher.clock().now(),
            event,
        };
        if let (Some(key), Ok(value)) = (change.key(), serde_json::to_vec(&change)) {
            // Without it, others learn it from the provider.
            let _ = self.link.stores().limits.put(key, value.into()).await;
        }
    }

    fn learn(&self, entry: &Entry) {
        let change: Option<SeenChange> = serde_json::from_slice(&entry.value).ok();
        let change = change
            .filter(|change| entry.operation == Operation::Put && change.worker != self.worker);
        if let Some(event) = change.and_then(|change| change.at(self.dispatcher.clock().now())) {
            self.dispatcher.learn(&event);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stopping::circuit::state::WhyOpen;

    fn change(event: ProviderEvent) -> SeenChange {
        SeenChange {
            worker: "w".to_owned(),
            at: Timestamp(1_000),
            event,
        }
    }

    #[test]
    fn backoff_that_is_learnt_later_ends_at_the_same_moment() {
        let held = |wait_ms| ProviderEvent::Held {
            provider: ProviderId::new("anthropic"),
            wait_ms,
            reason: "slow down".to_owned(),
            refused_ms: 0,
        };
        let change = change(held(3_000));
        assert_eq!(change.key().as_deref(), Some("anthropic.held"));
        assert_eq!(change.at(Timestamp(1_400)), Some(held(2_600)));
        assert_eq!(change.at(Timestamp(4_000)), None);
    }

    #[test]
    fn open_circuit_is_learnt_until_its_end_and_a_refused_key_never() {
        let provider = ProviderId::new("openai");
        let until = Timestamp(9_000);
        let why = WhyOpen::ProbeFailed;
        let open = ProviderEvent::CircuitChanged {
            provider: provider.clone(),
            circuit: CircuitState::Open { until, why },
            wait_ms: None,
        };
        assert!(change(open.clone()).at(Timestamp(8_999)).is_some());
        assert!(change(open).at(until).is_none());
        let is_refused = true;
        let key = ProviderEvent::KeyChanged {
            provider,
            is_refused,
        };
        assert!(change(key.clone()).at(Timestamp(1_000)).is_none());
        assert_eq!(change(key).key(), None);
    }
}
