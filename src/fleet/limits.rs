//! What workers learn of providers, shared by all: backoffs and circuits. What a provider asks one
//! of them to wait, all wait, to the agreement of their clocks; a refused key is only its own.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use async_nats::jetstream::kv;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use crate::consultation::event::ProviderEvent;
use crate::domain::ids::ProviderId;
use crate::domain::time::Timestamp;
use crate::engine::dispatcher::Dispatcher;
use crate::stopping::circuit::state::CircuitState;

use super::FleetError;
use super::link::Link;
use super::names::part;
use super::roll::{self, watch_entries};

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
        let until = match &event {
            ProviderEvent::Held { wait_ms, .. } => self.at.after(Duration::from_millis(*wait_ms)),
            ProviderEvent::CircuitChanged { circuit, .. } => match circuit {
                CircuitState::Open { until, .. } => *until,
                CircuitState::Closed => return Some(event),
                CircuitState::HalfOpen { .. } => return None,
            },
            ProviderEvent::KeyChanged { .. } => return None,
        };
        let left = until.ms_since(now);
        match &mut event {
            ProviderEvent::Held { wait_ms, .. } => *wait_ms = left,
            ProviderEvent::CircuitChanged { wait_ms, .. } => *wait_ms = Some(left),
            ProviderEvent::KeyChanged { .. } => {}
        }
        (left > 0).then_some(event)
    }
}

/// Returns the last changes of all providers.
pub async fn read(link: &Link) -> Result<Vec<SeenChange>, FleetError> {
    let all = roll::all(&link.stores().limits).await?;
    Ok(all.into_values().collect())
}

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
    let (limits, mut own) = (link.stores().limits.clone(), dispatcher.changes());
    let mut theirs = watch_entries::<SeenChange>(&link, limits.clone(), None);
    let mut known = BTreeMap::<String, SeenChange>::new();
    loop {
        tokio::select! {
            Some(event) = own.recv() => {
                if let ProviderEvent::KeyChanged { provider, is_refused } = &event {
                    refused.send_modify(|refused| {
                        match is_refused {
                            true => refused.insert(provider.clone()),
                            false => refused.remove(provider),
                        };
                    });
                }
                let (worker, at) = (worker.clone(), dispatcher.clock().now());
                tell(&limits, SeenChange { worker, at, event }).await;
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

async fn tell(limits: &kv::Store, change: SeenChange) {
    let kind = match &change.event {
        ProviderEvent::Held { .. } => "held",
        ProviderEvent::CircuitChanged { .. } => "circuit",
        ProviderEvent::KeyChanged { .. } => return,
    };
    let (provider, value) = (
        change.event.provider().as_str(),
        serde_json::to_vec(&change),
    );
    if let (Ok(provider), Ok(value)) = (part(provider), value) {
        // Without it, others learn it from the provider.
        let _ = limits.put(format!("{provider}.{kind}"), value.into()).await;
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
        assert_eq!(change.at(Timestamp(1_400)), Some(held(2_600)));
        assert_eq!(change.at(Timestamp(4_000)), None);
    }

    #[test]
    fn open_circuit_is_learnt_until_its_end_and_a_refused_key_never() {
        let provider = ProviderId::new("openai");
        let until = Timestamp(9_000);
        let why = WhyOpen::ProbeFailed;
        let open_for = |wait_ms| ProviderEvent::CircuitChanged {
            provider: provider.clone(),
            circuit: CircuitState::Open { until, why },
            wait_ms: Some(wait_ms),
        };
        let open = open_for(8_000);
        // What is left of it, not what was when it was seen.
        assert_eq!(
            change(open.clone()).at(Timestamp(8_900)),
            Some(open_for(100))
        );
        assert!(change(open).at(until).is_none());
        let is_refused = true;
        let key = ProviderEvent::KeyChanged {
            provider,
            is_refused,
        };
        assert!(change(key).at(Timestamp(1_000)).is_none());
    }
}
