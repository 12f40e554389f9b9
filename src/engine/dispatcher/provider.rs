//! What a provider is like now, for the consultations of this process that use it.

use std::collections::BTreeMap;

use crate::consultation::event::ProviderEvent;
use crate::consultation::policy::health::Health;
use crate::consultation::policy::pacing::{Backoff, ConcurrencyLimit};
use crate::domain::ids::ProviderId;
use crate::domain::time::Timestamp;
use crate::stopping::circuit::Circuit;
use crate::stopping::circuit::state::{CircuitState, Permit};

/// A consultation of this process; they are numbered in the order in which they join.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MemberId(pub u64);

/// The state of one provider.
#[derive(Clone, Debug, Default)]
pub(super) struct ProviderState {
    pub(super) limit: ConcurrencyLimit,
    /// The calls in flight of each consultation.
    pub(super) in_flight: BTreeMap<MemberId, u32>,
    pub(super) circuit: Circuit,
    /// The status in the last update; `None` while the circuit has never opened.
    pub(super) announced: Option<CircuitStatus>,
    pub(super) key: KeyRecord,
    pub(super) health: Health,
}

/// What the provider has said of its key.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct KeyRecord {
    pub(super) was_accepted: bool,
    pub(super) refusals: u32,
}

impl KeyRecord {
    /// A single refusal of a key that was accepted before may be a fault of the provider.
    pub(super) fn is_refused(self) -> bool {
        self.refusals > u32::from(self.was_accepted)
    }
}

/// A circuit's state, and the time until which calls are useless.
pub(super) type CircuitStatus = (CircuitState, Option<Timestamp>);

pub(super) fn held(provider: &ProviderId, backoff: &Backoff, now: Timestamp) -> ProviderEvent {
    ProviderEvent::Held {
        provider: provider.clone(),
        wait_ms: backoff.until.ms_since(now),
        reason: backoff.reason.clone(),
        refused_ms: now.ms_since(backoff.since),
    }
}

pub(super) fn circuit_changed(
    provider: &ProviderId,
    (circuit, until): CircuitStatus,
    now: Timestamp,
) -> ProviderEvent {
    ProviderEvent::CircuitChanged {
        provider: provider.clone(),
        circuit,
        wait_ms: until.map(|until| until.ms_since(now)),
    }
}

impl ProviderState {
    pub(super) fn end(&mut self, member: MemberId) {
        self.limit.end();
        if let Some(own) = self.in_flight.get_mut(&member) {
            *own = own.saturating_sub(1);
        }
    }

    pub(super) fn circuit_status(&self, now: Timestamp) -> CircuitStatus {
        let until = match self.circuit.permit(now) {
            Permit::Refused { until } => Some(until),
            Permit::Granted | Permit::Probe => None,
        };
        (self.circuit.state(now), until)
    }
}
