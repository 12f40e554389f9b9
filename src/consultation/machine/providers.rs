//! The providers as the process last reported them.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::domain::ids::ProviderId;
use crate::domain::time::Timestamp;

use super::emitter::Emitter;
use crate::consultation::event::{AgentError, Event, HealthUpdate, ProviderEvent};
use crate::consultation::policy::health::HealthStatus;
use crate::consultation::policy::pacing::Backoff;
use crate::consultation::protocol::call::Outcome;

/// Every provider of which the process has reported something.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ProviderViews(BTreeMap<ProviderId, ProviderView>);

/// A provider as the process last reported it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct ProviderView {
    health: HealthStatus,
    backoff: Option<Backoff>,
    /// The time until which its circuit is open or being probed.
    broken_until: Option<Timestamp>,
    /// The time since which the provider refuses the key or asks for payment.
    key_refused_since: Option<Timestamp>,
    access: AccessOutcome,
    /// Whether all its recent calls and checks have failed.
    is_failing: bool,
}

/// Whether a provider could be used in this run, as its finished calls show.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum AccessOutcome {
    #[default]
    Unknown,
    /// It handled a call, whatever it answered.
    Usable,
    /// No call has reached a model: the last failure.
    Failed(AgentError),
}

impl ProviderViews {
    pub(crate) fn health(&self, provider: &ProviderId) -> HealthStatus {
        self.0
            .get(provider)
            .map(|view| view.health)
            .unwrap_or_default()
    }

    /// A broken provider has failed so often that it is not called for now.
    pub(crate) fn is_broken(&self, provider: &ProviderId, now: Timestamp) -> bool {
        let broken_until = self.0.get(provider).and_then(|view| view.broken_until);
        broken_until.is_some_and(|until| until > now)
    }

    pub(crate) fn key_refused_since(&self, provider: &ProviderId) -> Option<Timestamp> {
        self.0.get(provider)?.key_refused_since
    }

    pub(crate) fn is_no_use(&self, provider: &ProviderId, now: Timestamp) -> bool {
        self.is_broken(provider, now) || self.key_refused_since(provider).is_some()
    }

    /// The provider can be called now, and at least one call has reached it.
    pub(crate) fn may_take_over(&self, provider: &ProviderId, now: Timestamp) -> bool {
        let access = self.0.get(provider).map(|view| &view.access);
        let is_out_of_reach = matches!(access, Some(AccessOutcome::Failed(_)));
        !is_out_of_reach && !self.is_no_use(provider, now)
    }

    /// The provider can take over, and not all its checks have failed.
    pub(crate) fn may_be_offered(&self, provider: &ProviderId, now: Timestamp) -> bool {
        let is_failing = self.0.get(provider).is_some_and(|view| view.is_failing);
        !is_failing && self.may_take_over(provider, now)
    }

    /// Records what a finished call shows of the access to its provider.
    pub(crate) fn note_access(&mut self, provider: &ProviderId, outcome: &Outcome) {
        let access = &mut self.view(provider).access;
        match outcome {
            Err(failure) if failure.class.meaning().is_about_access => {
                if *access != AccessOutcome::Usable {
                    *access = AccessOutcome::Failed(AgentError {
                        class: Some(failure.class),
                        message: failure.message.clone(),
                    });
                }
            }
            Ok(_) | Err(_) => *access = AccessOutcome::Usable,
        }
    }

    /// Returns why no provider could be used, if none of those called could.
    pub(crate) fn access_failures(&self) -> Vec<(&ProviderId, &AgentError)> {
        let mut failures = Vec::new();
        for (provider, view) in &self.0 {
            match &view.access {
                AccessOutcome::Unknown => {}
                AccessOutcome::Usable => return Vec::new(),
                AccessOutcome::Failed(error) => failures.push((provider, error)),
            }
        }
        failures
    }

    /// Returns whether a provider can be called now and is not known to be degraded or unhealthy.
    pub(crate) fn is_well(&self, provider: &ProviderId, now: Timestamp) -> bool {
        let healthy = match self.health(provider) {
            HealthStatus::Unknown | HealthStatus::Healthy => true,
            HealthStatus::Degraded | HealthStatus::Unhealthy => false,
        };
        healthy && !self.is_no_use(provider, now)
    }

    pub(crate) fn backoff(&self, provider: &ProviderId, now: Timestamp) -> Option<&Backoff> {
        let backoff = self.0.get(provider)?.backoff.as_ref()?;
        (backoff.until > now).then_some(backoff)
    }

    pub(crate) fn set_health(&mut self, update: &HealthUpdate) {
        let view = self.view(&update.provider);
        view.health = update.status;
        view.is_failing = update.error_rate >= 1.0;
    }

    pub(crate) fn note(&mut self, event: ProviderEvent, now: Timestamp, emitter: &mut Emitter<'_>) {
        let view = self.view(event.provider());
        match &event {
            ProviderEvent::Held {
                wait_ms,
                reason,
                refused_ms,
                ..
            } => {
                view.backoff = Some(Backoff {
                    until: now.after(Duration::from_millis(*wait_ms)),
                    reason: reason.clone(),
                    since: now.before(Duration::from_millis(*refused_ms)),
                });
            }
            ProviderEvent::CircuitChanged { wait_ms, .. } => {
                view.broken_until = wait_ms.map(|wait| now.after(Duration::from_millis(wait)));
            }
            ProviderEvent::KeyChanged { is_refused, .. } => {
                view.key_refused_since = is_refused.then_some(now);
            }
        }
        emitter.emit(Event::Provider(event));
    }

    /// Forgets which providers refused the key or could not be reached.
    pub(crate) fn forget_access_failures(&mut self) {
        for view in self.0.values_mut() {
            view.key_refused_since = None;
            view.access = AccessOutcome::Unknown;
            view.is_failing = false;
        }
    }

    fn view(&mut self, provider: &ProviderId) -> &mut ProviderView {
        self.0.entry(provider.clone()).or_default()
    }
}
