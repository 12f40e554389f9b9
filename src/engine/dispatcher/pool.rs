//! The state of the process's providers, and the rules by which calls are admitted. Pure: time is
//! an argument, and nothing here waits.
//!
//! Invariants: never more calls in flight at a provider than its limit; no call goes out before a
//! backoff has passed; a call that goes out is reserved in every budget it counts against.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use super::budget::{BudgetRefusal, Reservations, SharedBudget};
pub use super::provider::MemberId;
use super::provider::{KeyRecord, ProviderState, circuit_changed, held};
use crate::consultation::event::ProviderEvent;
use crate::consultation::policy::health::{Health, HealthStatus, Signal};
use crate::consultation::policy::pacing::ConcurrencyLimit;
use crate::consultation::policy::retry::RetryRule;
use crate::consultation::protocol::call::{Failure, FailureClass, Outcome};
use crate::consultation::protocol::request::{CallRequest, NotAdmitted, RequestKey, RequestOption};
use crate::domain::cost::money::{Cost, MicroUsd};
use crate::domain::ids::ProviderId;
use crate::domain::random::SplitMix64;
use crate::domain::time::Timestamp;
use crate::stopping::circuit::state::{CircuitRule, CircuitState};

/// The rules that hold for every provider.
#[derive(Clone, Debug, Default)]
pub struct PoolRules {
    /// The length of the backoff after a rate limit without a hint.
    pub retry: RetryRule,
    /// The failures that open a circuit, and the time for which it stays open.
    pub circuit: CircuitRule,
    /// The seed of the jitter of backoffs.
    pub seed: u64,
}

impl PoolRules {
    pub fn seeded(seed: u64) -> Self {
        Self {
            seed,
            ..Self::default()
        }
    }
}

/// A request of a consultation, with the limits that apply to it.
#[derive(Clone, Debug)]
pub struct QueuedRequest {
    pub member: MemberId,
    pub request: CallRequest,
    /// The most concurrent calls, by provider.
    pub limits: BTreeMap<ProviderId, u32>,
    /// The ceilings above the consultation's own, the innermost first.
    pub budgets: Vec<Arc<dyn SharedBudget>>,
}

impl QueuedRequest {
    fn limit(&self, provider: &ProviderId) -> u32 {
        self.limits.get(provider).copied().unwrap_or(1)
    }
}

/// The answer to a request: a permit if the call may go out now, else the reason against it; the
/// request does not wait.
pub type Decision = Result<PoolPermit, NotAdmitted>;

/// The right to have one call in flight, to be given back by [`ProviderPool::finish`] or
/// [`ProviderPool::abandon`].
#[derive(Clone, Debug)]
#[must_use = "a permit that is not given back keeps its place in flight for ever"]
pub struct PoolPermit {
    pub member: MemberId,
    pub provider: ProviderId,
    limit: u32,
    began: Timestamp,
    reserved: Reservations,
}

/// All providers that were called, and the requests that wait for one of them.
#[derive(Clone, Debug)]
pub struct ProviderPool {
    rules: PoolRules,
    states: BTreeMap<ProviderId, ProviderState>,
    /// The oldest first.
    waiting: Vec<QueuedRequest>,
    jitter: SplitMix64,
    /// Changes that [`Self::take_updates`] has not returned yet.
    updates: Vec<ProviderEvent>,
    /// The place of this process among those that share a provider's limit, and their number.
    parts: BTreeMap<ProviderId, (u32, u32)>,
    /// Nothing is admitted.
    pub is_paused: bool,
}

impl PoolPermit {
    /// Returns what the call may cost at most.
    pub fn granted(&self) -> Cost {
        self.reserved.granted
    }

    /// Replaces the amounts reserved for the call by what it counts as.
    pub fn settle(&self, counted: MicroUsd) {
        self.reserved.settle(counted);
    }

    /// Counts the reserved amounts as spent: the cost of the call will never be known.
    pub fn write_off(&self) {
        self.reserved.write_off();
    }
}

impl ProviderPool {
    pub fn new(rules: PoolRules) -> Self {
        Self {
            jitter: SplitMix64::new(rules.seed),
            rules,
            states: BTreeMap::new(),
            waiting: Vec::new(),
            updates: Vec::new(),
            parts: BTreeMap::new(),
            is_paused: false,
        }
    }

    /// Returns the changes since the last call, which concern every consultation.
    pub fn take_updates(&mut self) -> Vec<ProviderEvent> {
        std::mem::take(&mut self.updates)
    }

    /// Decides on a request, or queues it and returns `None`. It replaces a queued request with the
    /// same key, and keeps that one's place if it goes to the same provider.
    pub fn request(&mut self, queued: QueuedRequest, now: Timestamp) -> Option<Decision> {
        let is_same = |waiting: &QueuedRequest| {
            waiting.member == queued.member && waiting.request.key == queued.request.key
        };
        if let Some(at) = self.waiting.iter().position(is_same) {
            let earlier = self.waiting.remove(at);
            if earlier.request.goes_to_the_same_as(&queued.request) {
                self.waiting.insert(at, queued);
                return None;
            }
        }
        if queued.request.key.waits() && self.must_queue(&queued) {
            self.waiting.push(queued);
            return None;
        }
        let decision = self.decide(&queued, now);
        if decision.is_none() {
            self.waiting.push(queued);
        }
        decision
    }

    /// Decides on the queued requests that can be decided on now, and returns the decisions in
    /// order. Of several requests for one provider, that of the consultation with the fewest calls
    /// in flight there comes first.
    pub fn decide_waiting(&mut self, now: Timestamp) -> Vec<(MemberId, RequestKey, Decision)> {
        let mut decided = Vec::new();
        while let Some((queued, decision)) = self.decide_next(now) {
            decided.push((queued.member, queued.request.key, decision));
        }
        decided
    }

    fn decide_next(&mut self, now: Timestamp) -> Option<(QueuedRequest, Decision)> {
        // This is asked after every input of every consultation: requests for a provider that is
        // full are not looked at any closer.
        let waiting = self.waiting.iter().enumerate();
        let mut order: Vec<(u32, usize)> = waiting
            .filter(|(_, queued)| {
                let mut options = queued.request.options.iter();
                options.any(|option| self.has_place(queued, option, now))
            })
            .map(|(at, queued)| (self.share(queued), at))
            .collect();
        order.sort_unstable();
        for (_, at) in order {
            let queued = self.waiting.remove(at);
            match self.decide(&queued, now) {
                Some(decision) => return Some((queued, decision)),
                None => self.waiting.insert(at, queued),
            }
        }
        None
    }

    fn has_place(&self, queued: &QueuedRequest, option: &RequestOption, now: Timestamp) -> bool {
        let limit = self.limit(queued, &option.provider);
        let state = self.states.get(&option.provider);
        !self.is_paused && state.is_none_or(|state| state.limit.admits(limit, now))
    }

    /// Returns the part of a limit that this process has; one call at least.
    fn limit(&self, queued: &QueuedRequest, provider: &ProviderId) -> u32 {
        let limit = queued.limit(provider);
        let (place, of) = self.parts.get(provider).copied().unwrap_or((0, 1));
        let of = of.max(1);
        (limit / of + u32::from(place < limit % of)).max(1)
    }

    pub fn divide(&mut self, provider: &ProviderId, part: (u32, u32)) {
        self.parts.insert(provider.clone(), part);
    }

    /// Takes over a backoff or a circuit of another process.
    pub fn learn(&mut self, event: &ProviderEvent, now: Timestamp) {
        let provider = event.provider();
        let state = self.states.entry(provider.clone()).or_default();
        match event {
            ProviderEvent::Held {
                wait_ms, reason, ..
            } => {
                let until = now.after(Duration::from_millis(*wait_ms));
                if let Some(backoff) = state.limit.back_off(until, reason, now) {
                    self.updates.push(held(provider, &backoff, now));
                }
            }
            ProviderEvent::CircuitChanged { circuit, .. } => {
                state.circuit.learn(*circuit, now);
                self.announce_circuit(provider, now);
            }
            ProviderEvent::KeyChanged { .. } => {}
        }
    }

    pub fn leave(&mut self, member: MemberId) {
        self.waiting.retain(|queued| queued.member != member);
        for state in self.states.values_mut() {
            state.in_flight.remove(&member);
        }
    }

    /// Lets the first call to each of these providers go out alone: it shows whether the plan that
    /// pays for them is used up, and whether the user is logged in.
    pub fn begin_alone(&mut self, by_plan: &BTreeSet<ProviderId>) {
        for provider in by_plan {
            let unknown = self.states.entry(provider.clone());
            unknown.or_insert_with(|| ProviderState {
                limit: ConcurrencyLimit::alone(),
                ..ProviderState::default()
            });
        }
    }

    /// `counts` is false for a call whose failure does not count against the provider.
    pub fn finish(&mut self, permit: &PoolPermit, outcome: &Outcome, counts: bool, now: Timestamp) {
        let state = self.states.entry(permit.provider.clone()).or_default();
        state.end(permit.member);
        let was_refused = state.key.is_refused();
        match outcome {
            Ok(_) => {
                state.limit.answered(permit.limit, now);
                state
                    .circuit
                    .succeeded(&self.rules.circuit, permit.began, now);
                state.key = KeyRecord {
                    was_accepted: true,
                    refusals: 0,
                };
            }
            Err(failure) => {
                let class = failure.class;
                if counts && class.meaning().counts_against_provider {
                    state.circuit.failed(&self.rules.circuit, permit.began, now);
                } else {
                    state.circuit.abandoned(permit.began);
                }
                let refuses_key = matches!(class, FailureClass::Auth | FailureClass::Billing);
                state.key.refusals += u32::from(counts && refuses_key);
            }
        }
        let is_refused = state.key.is_refused();
        self.announce_circuit(&permit.provider, now);
        if is_refused != was_refused {
            self.updates.push(ProviderEvent::KeyChanged {
                provider: permit.provider.clone(),
                is_refused,
            });
        }
        if let Err(failure) = outcome
            && counts
        {
            self.back_off(&permit.provider, failure, now);
        }
    }

    /// Returns the permit of a dropped call: it does not count against the provider, and its worst
    /// case counts as its cost.
    pub fn abandon(&mut self, permit: &PoolPermit, now: Timestamp) {
        permit.write_off();
        self.give_back(permit, now);
    }

    pub fn release(&mut self, permit: &PoolPermit, now: Timestamp) {
        permit.reserved.release();
        self.give_back(permit, now);
    }

    fn give_back(&mut self, permit: &PoolPermit, now: Timestamp) {
        let state = self.states.entry(permit.provider.clone()).or_default();
        state.end(permit.member);
        state.circuit.abandoned(permit.began);
        self.announce_circuit(&permit.provider, now);
    }

    /// Returns the health if its status has changed.
    pub fn signal(
        &mut self,
        provider: &ProviderId,
        signal: Signal,
        check: Option<Duration>,
    ) -> Option<Health> {
        let state = self.states.entry(provider.clone()).or_default();
        let before = state.health.status();
        state.health.record(signal, check);
        (state.health.status() != before).then(|| state.health.clone())
    }

    pub fn health(&self, provider: &ProviderId) -> HealthStatus {
        self.states
            .get(provider)
            .map(|state| state.health.status())
            .unwrap_or_default()
    }

    /// `None` while it is unknown.
    pub fn known_health(&self, provider: &ProviderId) -> Option<&Health> {
        let health = &self.states.get(provider)?.health;
        (health.status() != HealthStatus::Unknown).then_some(health)
    }

    pub fn snapshot(&self, provider: &ProviderId, now: Timestamp) -> Vec<ProviderEvent> {
        let Some(state) = self.states.get(provider) else {
            return Vec::new();
        };
        let status = state.circuit_status(now);
        let circuit =
            (status.0 != CircuitState::Closed).then(|| circuit_changed(provider, status, now));
        let is_refused = state.key.is_refused();
        let key = is_refused.then(|| ProviderEvent::KeyChanged {
            provider: provider.clone(),
            is_refused,
        });
        let backoff = state.limit.backoff(now);
        let held = backoff.map(|backoff| held(provider, backoff, now));
        [circuit, key, held].into_iter().flatten().collect()
    }

    /// Returns the earliest time at which the end of a backoff may admit a request of this
    /// consultation.
    pub fn next_moment(&self, member: MemberId, now: Timestamp) -> Option<Timestamp> {
        let own = self.waiting.iter().filter(|queued| queued.member == member);
        own.flat_map(|queued| &queued.request.options)
            .filter_map(|option| self.states.get(&option.provider)?.limit.backoff(now))
            .map(|backoff| backoff.until)
            .min()
    }

    /// Returns whether a request of this consultation may wait for amounts that another process has
    /// reserved.
    pub fn waits_for_other_processes(&self, member: MemberId) -> bool {
        let own = self.waiting.iter().filter(|queued| queued.member == member);
        own.flat_map(|queued| &queued.budgets)
            .any(|budget| budget.is_shared_with_others())
    }

    fn decide(&mut self, queued: &QueuedRequest, now: Timestamp) -> Option<Decision> {
        let waits = queued.request.key.waits();
        for option in &queued.request.options {
            if !self.has_place(queued, option, now) {
                continue;
            }
            let (most, least) = (option.worst_case, option.least);
            return match Reservations::reserve(&queued.budgets, most, least) {
                Ok(reserved) => Some(Ok(self.begin(queued, &option.provider, reserved, now))),
                Err(BudgetRefusal::Wait) if waits => None,
                Err(BudgetRefusal::Wait) => Some(Err(NotAdmitted::Busy)),
                Err(BudgetRefusal::Exceeded(refused)) => Some(Err(refused)),
            };
        }
        (!waits).then_some(Err(NotAdmitted::Busy))
    }

    fn begin(
        &mut self,
        queued: &QueuedRequest,
        provider: &ProviderId,
        reserved: Reservations,
        now: Timestamp,
    ) -> PoolPermit {
        let state = self.states.entry(provider.clone()).or_default();
        state.limit.begin();
        *state.in_flight.entry(queued.member).or_default() += 1;
        state.circuit.begin(&self.rules.circuit, now);
        self.announce_circuit(provider, now);
        PoolPermit {
            member: queued.member,
            provider: provider.clone(),
            limit: self.limit(queued, provider),
            began: now,
            reserved,
        }
    }

    fn back_off(&mut self, provider: &ProviderId, failure: &Failure, now: Timestamp) {
        let limit = &mut self.states.entry(provider.clone()).or_default().limit;
        let (retry, jitter) = (&self.rules.retry, self.jitter.unit());
        let wait = retry.hold(failure, limit.refusals, limit.refused_for(now), jitter);
        let backoff = wait.and_then(|wait| limit.back_off(now.after(wait), &failure.message, now));
        if let Some(backoff) = backoff {
            self.updates.push(held(provider, &backoff, now));
        }
    }

    /// Adds an update if a circuit's status differs from the last one announced.
    fn announce_circuit(&mut self, provider: &ProviderId, now: Timestamp) {
        let Some(state) = self.states.get_mut(provider) else {
            return;
        };
        let status = state.circuit_status(now);
        let before = state.announced.unwrap_or((CircuitState::Closed, None));
        if before != status {
            state.announced = Some(status);
            self.updates.push(circuit_changed(provider, status, now));
        }
    }

    /// Returns whether others are queued for the same provider, so that this request queues behind
    /// them.
    fn must_queue(&self, queued: &QueuedRequest) -> bool {
        let wanted = |option: &RequestOption| {
            queued
                .request
                .options
                .iter()
                .any(|own| own.provider == option.provider)
        };
        self.waiting
            .iter()
            .any(|other| other.request.options.iter().any(wanted))
    }

    fn share(&self, queued: &QueuedRequest) -> u32 {
        let preferred = queued.request.options.first();
        let state = preferred.and_then(|option| self.states.get(&option.provider));
        let own = state.and_then(|state| state.in_flight.get(&queued.member));
        own.copied().unwrap_or_default()
    }
}
