//! The process's view of its providers, one for all consultations: calls in flight, backoffs,
//! circuits, health, refused keys, and the ceilings above those of single consultations.
//!
//! A consultation joins as a [`Member`], requests each call, and returns its permit when the call
//! has ended. The dispatcher sends each change of a provider to every member that uses it. It
//! decides by the rules of [`pool`], and holds no state of any consultation.

pub mod budget;
mod provider;
pub mod pool;

pub mod checks;
mod member;
mod permit;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::mpsc;

use crate::consultation::event::{HealthUpdate, ProviderEvent};
use crate::consultation::machine::Input;
use crate::consultation::policy::health::{Health, Signal, none_healthy};
use crate::consultation::protocol::request::RequestKey;
use crate::domain::ids::ProviderId;
use crate::domain::time::Timestamp;

use super::clock::Clock;
use checks::Checks;
use pool::{Decision, MemberId, PoolRules, ProviderPool};

pub use member::{Member, RequestAnswer};
pub use permit::{CallPermit, OutcomeChanges};

/// The process's view of its providers. A clone is another handle to the same.
#[derive(Clone, Debug)]
pub struct Dispatcher(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    clock: Clock,
    state: Mutex<LockedState>,
}

#[derive(Debug)]
struct LockedState {
    pool: ProviderPool,
    members: BTreeMap<MemberId, MemberEntry>,
    joined: u64,
    checks: Checks,
    /// Where the changes go that this process sees, if another one is to learn of them.
    changes: Option<mpsc::UnboundedSender<ProviderEvent>>,
}

/// A member's channel for notices, and the providers it uses.
#[derive(Debug)]
struct MemberEntry {
    notices: mpsc::UnboundedSender<Notice>,
    providers: BTreeSet<ProviderId>,
}

/// A message to a member.
#[derive(Debug)]
pub enum Notice {
    /// The decision on a queued request.
    Decided(RequestKey, RequestAnswer),
    /// An input for every member that uses the provider.
    Input(Box<Input>),
}

impl Dispatcher {
    /// Backoffs follow `clock`, the process's clock.
    pub fn new(clock: Clock, rules: PoolRules) -> Self {
        let state = LockedState {
            pool: ProviderPool::new(rules),
            members: BTreeMap::new(),
            joined: 0,
            checks: Checks::default(),
            changes: None,
        };
        Self(Arc::new(Shared {
            clock,
            state: Mutex::new(state),
        }))
    }

    pub fn clock(&self) -> &Clock {
        &self.0.clock
    }

    /// Returns the changes of providers that this process sees from now on.
    pub fn changes(&self) -> mpsc::UnboundedReceiver<ProviderEvent> {
        let (sender, changes) = mpsc::unbounded_channel();
        self.with(|state| state.changes = Some(sender));
        changes
    }

    /// Learns of a change that another process has seen: it holds here as well, and
    /// [`Self::changes`] leave it out.
    pub fn learn(&self, event: &ProviderEvent) {
        let now = self.0.clock.now();
        self.with(|state| {
            let changes = state.changes.take();
            state.pool.learn(event, now);
            state.publish(None);
            state.changes = changes;
        });
        self.answer_waiting();
    }

    /// Sets the part of each limit of a provider that this process has: that of the process at
    /// `place`, counted from zero, of `of`.
    pub fn divide(&self, provider: &ProviderId, (place, of): (u32, u32)) {
        self.with(|state| state.pool.divide(provider, (place, of)));
        self.answer_waiting();
    }

    /// Lets no call go out any more, or again.
    pub fn pause(&self, is_paused: bool) {
        self.with(|state| state.pool.is_paused = is_paused);
        self.answer_waiting();
    }

    /// Decides on the queued requests that can be decided on now, and sends the decisions.
    fn answer_waiting(&self) {
        self.answer_waiting_at(self.0.clock.now());
    }

    fn answer_waiting_at(&self, now: Timestamp) {
        let decided = self.with(|state| {
            let decided = state.pool.decide_waiting(now);
            state.publish(None);
            let with_sender = |(member, key, decision)| {
                let entry: Option<&MemberEntry> = state.members.get(&member);
                (entry.map(|entry| entry.notices.clone()), key, decision)
            };
            decided.into_iter().map(with_sender).collect::<Vec<_>>()
        });
        for (notices, key, decision) in decided {
            let answer = self.answer(decision);
            // Without a receiver, the permit returns when it is dropped here, outside of the lock.
            if let Some(notices) = notices {
                drop(notices.send(Notice::Decided(key, answer)));
            }
        }
    }

    fn answer(&self, decision: Decision) -> RequestAnswer {
        decision.map(|permit| CallPermit::new(permit, self.clone()))
    }

    /// Invariant: nothing is dropped in it that takes the lock itself, such as a permit.
    fn with<T>(&self, act: impl FnOnce(&mut LockedState) -> T) -> T {
        act(&mut self.0.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl LockedState {
    /// Sends the updates to every member but `except`, to which they are returned.
    fn publish(&mut self, except: Option<MemberId>) -> Vec<ProviderEvent> {
        let mut own = Vec::new();
        for update in self.pool.take_updates() {
            if let Some(changes) = &self.changes {
                // Without a receiver, no one is to learn of them.
                let _ = changes.send(update.clone());
            }
            let message = |_: &Self, _: &MemberEntry| update.clone();
            own.extend(self.broadcast(update.provider(), except, message, Input::ProviderChanged));
        }
        own
    }

    /// If the status changes, sends it to every member that uses the provider but `except`, to
    /// which it is returned.
    fn signal(
        &mut self,
        provider: &ProviderId,
        signal: Signal,
        check: Option<std::time::Duration>,
        except: Option<MemberId>,
    ) -> Option<HealthUpdate> {
        if !self.checks.can_check(provider) {
            return None;
        }
        let health = self.pool.signal(provider, signal, check)?;
        let message =
            |state: &Self, entry: &MemberEntry| state.health_update(provider, &health, entry);
        self.broadcast(provider, except, message, Input::HealthChanged)
    }

    /// Sends an update to every member that uses a provider but `except`, to which it is returned.
    fn broadcast<T>(
        &self,
        provider: &ProviderId,
        except: Option<MemberId>,
        update: impl Fn(&Self, &MemberEntry) -> T,
        input: impl Fn(T) -> Input,
    ) -> Option<T> {
        let mut own = None;
        for (member, entry) in &self.members {
            if !entry.providers.contains(provider) {
                continue;
            }
            let update = update(self, entry);
            if Some(*member) == except {
                own = Some(update);
            } else {
                // Without a receiver the consultation is over.
                drop(entry.notices.send(Notice::Input(Box::new(input(update)))));
            }
        }
        own
    }

    fn health_update(
        &self,
        provider: &ProviderId,
        health: &Health,
        entry: &MemberEntry,
    ) -> HealthUpdate {
        let checked = entry
            .providers
            .iter()
            .filter(|provider| self.checks.can_check(provider));
        HealthUpdate {
            provider: provider.clone(),
            status: health.status(),
            latency_ms: health
                .latency
                .map(|latency| u64::try_from(latency.as_millis()).unwrap_or(u64::MAX)),
            error_rate: health.error_rate(),
            consecutive_failures: health.consecutive_failures,
            none_healthy: none_healthy(checked.map(|provider| self.pool.health(provider))),
        }
    }

    fn snapshot(&self, entry: &MemberEntry, clock: &Clock) -> Vec<Input> {
        let mut inputs = Vec::new();
        for provider in &entry.providers {
            let updates: Vec<ProviderEvent> = self.pool.snapshot(provider, clock.now());
            inputs.extend(updates.into_iter().map(Input::ProviderChanged));
            if let Some(health) = self.pool.known_health(provider) {
                inputs.push(Input::HealthChanged(
                    self.health_update(provider, health, entry),
                ));
            }
        }
        inputs
    }
}
