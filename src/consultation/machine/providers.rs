//! The providers as the process last reported them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::domain::ids::ProviderId;
use crate::domain::time::Timestamp;

use super::emitter::Emitter;
use crate::consultation::event::{Event, HealthUpdate, ProviderEvent};
use crate::consultation::policy::health::HealthStatus;
use crate::consultation::protocol::provider::{Backoff, ProviderChange, ProviderUpdate};

/// Every provider of which the process has reported something.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ProviderViews(BTreeMap<ProviderId, ProviderView>);

/// A provider as the process last reported it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct ProviderView {
    health: HealthStatus,
    /// The backoff that must pass before the next call.
    backoff: Option<Backoff>,
    /// The time until which its circuit is open or being probed.
    broken_until: Option<Timestamp>,
    /// The time since which the provider refuses the key or asks for payment.
    key_refused_since: Option<Timestamp>,
}

impl ProviderViews {
    pub(crate) fn health(&self, provider: &ProviderId) -> HealthStatus {
        self.0
            .get(provider)
            .map(|view| view.health)
            .unwrap_or_default()
    }

    /// Returns whether a provider's circuit is open: it has failed so often that it is not called
    /// for now.
    pub(crate) fn is_broken(&self, provider: &ProviderId, now: Timestamp) -> bool {
        let broken_until = self.0.get(provider).and_then(|view| view.broken_until);
        broken_until.is_some_and(|until| until > now)
    }

    /// Returns whether a provider refuses the key or asks for payment.
    pub(crate) fn refuses_key(&self, provider: &ProviderId) -> bool {
        self.key_refused_since(provider).is_some()
    }

    /// Returns the time since which a provider refuses the key or asks for payment.
    pub(crate) fn key_refused_since(&self, provider: &ProviderId) -> Option<Timestamp> {
        self.0.get(provider)?.key_refused_since
    }

    /// Whether a call to a provider would be useless now.
    pub(crate) fn is_no_use(&self, provider: &ProviderId, now: Timestamp) -> bool {
        self.is_broken(provider, now) || self.refuses_key(provider)
    }

    /// Returns whether a provider can be called now and is not known to be degraded or unhealthy.
    pub(crate) fn is_well(&self, provider: &ProviderId, now: Timestamp) -> bool {
        let healthy = match self.health(provider) {
            HealthStatus::Unknown | HealthStatus::Healthy => true,
            HealthStatus::Degraded | HealthStatus::Unhealthy => false,
        };
        healthy && !self.is_no_use(provider, now)
    }

    /// Returns the backoff that a provider asks for, while it lasts.
    pub(crate) fn backoff(&self, provider: &ProviderId, now: Timestamp) -> Option<&Backoff> {
        let backoff = self.0.get(provider)?.backoff.as_ref()?;
        (backoff.until > now).then_some(backoff)
    }

    pub(crate) fn set_health(&mut self, update: &HealthUpdate) {
        self.view(&update.provider).health = update.status;
    }

    /// Records a change of a provider, and emits it.
    pub(crate) fn note(
        &mut self,
        update: ProviderUpdate,
        now: Timestamp,
        emitter: &mut Emitter<'_>,
    ) {
        let ProviderUpdate { provider, change } = update;
        let view = self.view(&provider);
        let event = match change {
            ProviderChange::Backoff(mut backoff) => {
                // In whole milliseconds from this moment, as the log has it.
                backoff.until = backoff.until.max(now);
                backoff.since = backoff.since.min(now);
                let event = ProviderEvent::Held {
                    provider,
                    wait_ms: backoff.until.ms_since(now),
                    reason: backoff.reason.clone(),
                    refused_ms: now.ms_since(backoff.since),
                };
                view.backoff = Some(backoff);
                event
            }
            ProviderChange::Circuit { state, until } => {
                view.broken_until = until.map(|until| until.max(now));
                ProviderEvent::CircuitChanged {
                    provider,
                    circuit: state,
                    wait_ms: until.map(|until| until.ms_since(now)),
                }
            }
            ProviderChange::Key { is_refused } => {
                view.key_refused_since = is_refused.then_some(now);
                ProviderEvent::KeyChanged {
                    provider,
                    is_refused,
                }
            }
        };
        emitter.emit(Event::Provider(event));
    }

    /// Forgets which providers refused the key.
    pub(crate) fn forget_refused_keys(&mut self) {
        for view in self.0.values_mut() {
            view.key_refused_since = None;
        }
    }

    fn view(&mut self, provider: &ProviderId) -> &mut ProviderView {
        self.0.entry(provider.clone()).or_default()
    }
}
