//! The right to have one call in flight, given back when it is dropped.

use crate::consultation::event::{HealthUpdate, ProviderEvent};
use crate::consultation::protocol::call::Outcome;
use crate::domain::cost::money::{Cost, MicroUsd};
use crate::domain::ids::ProviderId;

use super::checks::signal;
use super::pool::PoolPermit;
use super::{Dispatcher, LockedState};

/// The right to have one call in flight.
///
/// Dropped before [`Self::begin`], it gives back its place and what was set aside; after it, the
/// call was dropped, and its worst case counts as spent.
#[derive(Debug)]
pub struct CallPermit {
    permit: PoolPermit,
    dispatcher: Dispatcher,
    state: PermitState,
}

/// The changes of a provider that a call's outcome shows.
#[derive(Debug)]
pub struct OutcomeChanges {
    pub health: Option<HealthUpdate>,
    pub updates: Vec<ProviderEvent>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PermitState {
    Unused,
    InFlight,
    /// The place in flight is given back; the cost is still to come.
    Ended,
    Settled,
}

impl CallPermit {
    pub(super) fn new(permit: PoolPermit, dispatcher: Dispatcher) -> Self {
        Self {
            permit,
            dispatcher,
            state: PermitState::Unused,
        }
    }

    pub fn admits(&self, provider: &ProviderId) -> bool {
        self.state == PermitState::Unused && self.permit.provider == *provider
    }

    pub fn provider(&self) -> &ProviderId {
        &self.permit.provider
    }

    /// Returns what the call may cost at most.
    pub fn granted(&self) -> Cost {
        self.permit.granted()
    }

    pub fn begin(&mut self) {
        self.state = PermitState::InFlight;
    }

    /// Gives the place in flight back: the call has come back. Returns the changes of the provider
    /// that the outcome shows, for the call's own consultation. `counts` is false for a call whose
    /// failure says nothing about its provider.
    pub fn finish(&mut self, outcome: &Outcome, counts: bool) -> OutcomeChanges {
        self.state = PermitState::Ended;
        let (permit, clock) = (&self.permit, &self.dispatcher.0.clock);
        let own = Some(permit.member);
        let changes = self.dispatcher.with(|state| {
            let health = signal(outcome)
                .and_then(|signal| state.signal(&permit.provider, signal, None, own));
            state.pool.finish(permit, outcome, counts, clock.now());
            let updates = state.publish(own);
            OutcomeChanges { health, updates }
        });
        self.dispatcher.answer_waiting();
        changes
    }

    /// Turns what was set aside into what the call counts as.
    pub fn settle(mut self, counted: MicroUsd) {
        self.permit.settle(counted);
        self.state = PermitState::Settled;
    }
}

impl Drop for CallPermit {
    fn drop(&mut self) {
        let (permit, clock) = (&self.permit, &self.dispatcher.0.clock);
        match self.state {
            PermitState::Unused => {
                let release = |state: &mut LockedState| state.pool.release(permit, clock.now());
                self.dispatcher.with(release);
            }
            PermitState::InFlight => {
                let abandon = |state: &mut LockedState| state.pool.abandon(permit, clock.now());
                self.dispatcher.with(abandon);
            }
            PermitState::Ended => permit.write_off(),
            PermitState::Settled => {}
        }
        self.dispatcher.answer_waiting();
    }
}
