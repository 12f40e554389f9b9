//! What the process knows of its providers, and which call may go out next. Pure: time is an
//! argument, and nothing here waits.
//!
//! Invariants: never more calls in flight at a provider than its limit; no call goes out before a
//! backoff has passed; a call that goes out is reserved in every budget it counts against.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::consultation::policy::budget::BudgetCheck;
use crate::consultation::policy::health::{Health, HealthStatus, Signal};
use crate::consultation::policy::pacing::{Admission, CallEnd, ProviderLimits};
use crate::consultation::policy::retry::RetryRule;
use crate::consultation::protocol::call::{Failure, FailureClass, Outcome};
use crate::consultation::protocol::provider::{ProviderChange, ProviderUpdate};
use crate::consultation::protocol::request::{CallRequest, NotAdmitted, RequestKey, RequestOption};
use crate::domain::ids::ProviderId;
use crate::domain::money::{Cost, MicroUsd};
use crate::domain::random::SplitMix64;
use crate::domain::time::Timestamp;
use crate::stopping::circuit::Circuit;
use crate::stopping::circuit::rule::CircuitRule;
use crate::stopping::circuit::state::{CircuitState, Permit as CircuitPermit};

use super::budget::SharedBudget;

/// A consultation of this process, counted in the order in which they came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MemberId(pub u64);

/// The rules that hold for every provider.
#[derive(Clone, Debug, Default)]
pub struct PoolRules {
    /// How long a rate limit without a hint holds calls back.
    pub retry: RetryRule,
    /// When a circuit opens, and for how long.
    pub circuit: CircuitRule,
    /// What the jitter of backoffs is drawn from.
    pub seed: u64,
}

impl PoolRules {
    /// The usual rules, with jitter drawn from this.
    pub fn seeded(seed: u64) -> Self {
        Self {
            seed,
            ..Self::default()
        }
    }
}

/// A request as a consultation makes it, with what the process knows besides.
#[derive(Clone, Debug)]
pub struct QueuedRequest {
    /// Who asks.
    pub member: MemberId,
    /// What is wanted.
    pub request: CallRequest,
    /// Calls that may be in flight at a provider at once, by provider.
    pub limits: BTreeMap<ProviderId, u32>,
    /// The ceilings above the consultation's own, the innermost first.
    pub budgets: Vec<Arc<dyn SharedBudget>>,
}

/// The answer to a request.
#[derive(Clone, Debug)]
pub enum Decision {
    /// The call may go out now.
    Admitted(Permit),
    /// It may not, and is not waited for.
    NotAdmitted(NotAdmitted),
}

/// The right to have one call in flight, to be given back by [`ProviderPool::finish`] or
/// [`ProviderPool::abandon`].
#[derive(Clone, Debug)]
#[must_use = "a permit that is not given back keeps its place in flight for ever"]
pub struct Permit {
    pub member: MemberId,
    pub provider: ProviderId,
    limit: u32,
    began: Timestamp,
    reserved: Reservations,
}

/// The amounts that are set aside for one call, by budget.
type Reservations = Vec<(Arc<dyn SharedBudget>, MicroUsd)>;

/// All providers that were called, and the requests that wait for one of them.
#[derive(Clone, Debug)]
pub struct ProviderPool {
    rules: PoolRules,
    limits: ProviderLimits,
    states: BTreeMap<ProviderId, ProviderState>,
    /// In the order in which they came.
    waiting: Vec<QueuedRequest>,
    in_flight: BTreeMap<(ProviderId, MemberId), u32>,
    jitter: SplitMix64,
    /// What is new and was not taken yet.
    updates: Vec<ProviderUpdate>,
}

/// What is known of one provider besides its limits.
#[derive(Clone, Debug, Default)]
struct ProviderState {
    circuit: Circuit,
    /// What consultations last learned of the circuit; `None` while it has never opened.
    announced: Option<CircuitStatus>,
    key_refused: bool,
    health: Health,
}

/// A circuit as consultations learn of it: its state, and until when it is not worth turning to.
type CircuitStatus = (CircuitState, Option<Timestamp>);

impl Permit {
    /// What was set aside for it: the most that it can cost, in the first budget that counts it.
    pub fn settle(&self, cost: Cost) {
        for (budget, reserved) in &self.reserved {
            budget.settle(*reserved, actual(*reserved, cost));
        }
    }

    /// Counts what was set aside as spent: the call will never say what it cost.
    pub fn write_off(&self) {
        for (budget, reserved) in &self.reserved {
            budget.settle(*reserved, *reserved);
        }
    }

    /// Gives back what was set aside: the call never went out.
    fn release(&self) {
        for (budget, reserved) in &self.reserved {
            budget.settle(*reserved, MicroUsd::ZERO);
        }
    }
}

/// What counts as spent: a cost of which only a part is known counts at its worst.
fn actual(reserved: MicroUsd, cost: Cost) -> MicroUsd {
    if cost.lower_bound {
        reserved.max(cost.known)
    } else {
        cost.known
    }
}

impl ProviderPool {
    pub fn new(rules: PoolRules) -> Self {
        Self {
            jitter: SplitMix64::new(rules.seed),
            rules,
            limits: ProviderLimits::default(),
            states: BTreeMap::new(),
            waiting: Vec::new(),
            in_flight: BTreeMap::new(),
            updates: Vec::new(),
        }
    }

    /// What has changed since this was last asked, for every consultation.
    pub fn take_updates(&mut self) -> Vec<ProviderUpdate> {
        std::mem::take(&mut self.updates)
    }

    /// Decides on a request at once, or lets it wait. `None` while it waits. A request that waits
    /// already under the same key is replaced, and keeps its place if it goes to the same provider.
    pub fn request(&mut self, queued: QueuedRequest, now: Timestamp) -> Option<Decision> {
        let is_same = |waiting: &QueuedRequest| {
            waiting.member == queued.member && waiting.request.key == queued.request.key
        };
        if let Some(at) = self.waiting.iter().position(is_same) {
            let earlier = self.waiting.remove(at);
            if earlier.request.goes_to_the_same_as(&queued.request) {
                // It keeps its place.
                self.waiting.insert(at, queued);
                return None;
            }
        }
        if queued.request.key.waits() && self.is_passed_over(&queued) {
            self.waiting.push(queued);
            return None;
        }
        let decision = self.decide(&queued, now);
        if decision.is_none() {
            self.waiting.push(queued);
        }
        decision
    }

    /// The requests that can be decided on now, in the order in which they are to be answered: of
    /// those that wait for one provider, first that of the consultation with the fewest calls in
    /// flight there.
    pub fn decide_waiting(&mut self, now: Timestamp) -> Vec<(MemberId, RequestKey, Decision)> {
        let mut decided = Vec::new();
        loop {
            let mut order: Vec<usize> = (0..self.waiting.len()).collect();
            order.sort_by_key(|at| self.waiting.get(*at).map(|queued| self.share(queued)));
            let next = order.into_iter().find_map(|at| {
                let queued = self.waiting.get(at)?.clone();
                self.decide(&queued, now).map(|decision| (at, decision))
            });
            let Some((at, decision)) = next else {
                return decided;
            };
            let queued = self.waiting.remove(at);
            decided.push((queued.member, queued.request.key, decision));
        }
    }

    /// Takes back everything that a consultation waits for.
    pub fn leave(&mut self, member: MemberId) {
        self.waiting.retain(|queued| queued.member != member);
    }

    /// Takes note of a call that goes out without having been requested: one that the log of an
    /// interrupted consultation has already announced.
    pub fn force(
        &mut self,
        member: MemberId,
        provider: &ProviderId,
        limit: u32,
        now: Timestamp,
    ) -> Permit {
        self.begin(member, provider, limit, Vec::new(), now)
    }

    /// Gives a permit back after its call has come back. `counts` is false for a call whose failure says nothing about the provider.
    pub fn finish(&mut self, permit: &Permit, outcome: &Outcome, counts: bool, now: Timestamp) {
        let how = if outcome.is_ok() {
            CallEnd::Answered
        } else {
            CallEnd::Other
        };
        self.end(permit, how, now);
        let state = self.states.entry(permit.provider.clone()).or_default();
        match outcome {
            Ok(_) => state
                .circuit
                .succeeded(&self.rules.circuit, permit.began, now),
            Err(failure) if counts && counts_against_the_provider(failure.class) => {
                state.circuit.failed(&self.rules.circuit, permit.began, now);
            }
            Err(_) => state.circuit.abandoned(permit.began),
        }
        let is_refused = match outcome {
            Ok(_) => false,
            Err(failure) if counts => {
                state.key_refused
                    || matches!(failure.class, FailureClass::Auth | FailureClass::Billing)
            }
            Err(_) => state.key_refused,
        };
        let key_changes = std::mem::replace(&mut state.key_refused, is_refused) != is_refused;
        self.announce_circuit(&permit.provider, now);
        if key_changes {
            self.announce(&permit.provider, ProviderChange::Key { is_refused });
        }
        if let Err(failure) = outcome
            && counts
        {
            self.back_off(&permit.provider, failure, now);
        }
    }

    /// Gives a permit back whose call was dropped: that says nothing about the provider, and the
    /// worst case counts as its cost.
    pub fn abandon(&mut self, permit: &Permit, now: Timestamp) {
        permit.write_off();
        self.give_back(permit, now);
    }

    /// Gives a permit back that was not used.
    pub fn release(&mut self, permit: &Permit, now: Timestamp) {
        permit.release();
        self.give_back(permit, now);
    }

    fn give_back(&mut self, permit: &Permit, now: Timestamp) {
        self.end(permit, CallEnd::Other, now);
        let state = self.states.entry(permit.provider.clone()).or_default();
        state.circuit.abandoned(permit.began);
        self.announce_circuit(&permit.provider, now);
    }

    /// Takes a signal of a provider's health: of a check, with how long it took, or of a call.
    /// Returns the health where its status is another one now.
    pub fn signal(
        &mut self,
        provider: &ProviderId,
        signal: Signal,
        check: Option<std::time::Duration>,
    ) -> Option<Health> {
        let state = self.states.entry(provider.clone()).or_default();
        let before = state.health.status();
        state.health.record(signal, check);
        (state.health.status() != before).then(|| state.health.clone())
    }

    /// A provider's health, as far as it is known.
    pub fn health(&self, provider: &ProviderId) -> HealthStatus {
        self.states
            .get(provider)
            .map(|state| state.health.status())
            .unwrap_or_default()
    }

    /// A provider's health, where a check has shown it.
    pub fn known_health(&self, provider: &ProviderId) -> Option<&Health> {
        let health = &self.states.get(provider)?.health;
        (health.status() != HealthStatus::Unknown).then_some(health)
    }

    /// Returns the updates a consultation needs about a provider when it begins.
    pub fn snapshot(&self, provider: &ProviderId, now: Timestamp) -> Vec<ProviderUpdate> {
        let mut changes = Vec::new();
        if let Some(state) = self.states.get(provider) {
            let (state_now, until) = state.circuit_status(now);
            if state_now != CircuitState::Closed {
                changes.push(ProviderChange::Circuit {
                    state: state_now,
                    until,
                });
            }
            changes.extend(
                state
                    .key_refused
                    .then_some(ProviderChange::Key { is_refused: true }),
            );
        }
        if let Some(backoff) = self.limits.backoff(provider, now) {
            changes.push(ProviderChange::Backoff(backoff));
        }
        let update = |change| ProviderUpdate {
            provider: provider.clone(),
            change,
        };
        changes.into_iter().map(update).collect()
    }

    /// The earliest moment at which a request of this consultation could be decided on by time
    /// alone.
    pub fn next_moment(&self, member: MemberId, now: Timestamp) -> Option<Timestamp> {
        let own = self.waiting.iter().filter(|queued| queued.member == member);
        own.flat_map(|queued| &queued.request.options)
            .filter_map(|option| self.limits.backoff(&option.provider, now))
            .map(|backoff| backoff.until)
            .min()
    }

    /// Whether a request of this consultation may wait for money that another process has set
    /// aside.
    pub fn waits_for_other_processes(&self, member: MemberId) -> bool {
        let own = self.waiting.iter().filter(|queued| queued.member == member);
        own.flat_map(|queued| &queued.budgets)
            .any(|budget| budget.is_shared_with_others())
    }

    fn decide(&mut self, queued: &QueuedRequest, now: Timestamp) -> Option<Decision> {
        let waits = queued.request.key.waits();
        for option in &queued.request.options {
            let limit = queued.limits.get(&option.provider).copied().unwrap_or(1);
            if self.limits.admit(&option.provider, limit, now) != Admission::Now {
                continue;
            }
            return match reserve(&queued.budgets, option) {
                Ok(reserved) => {
                    let permit = self.begin(queued.member, &option.provider, limit, reserved, now);
                    Some(Decision::Admitted(permit))
                }
                Err(Refusal::Wait) if waits => None,
                Err(Refusal::Wait) => Some(Decision::NotAdmitted(NotAdmitted::Busy)),
                Err(Refusal::Exceeded(refused)) => Some(Decision::NotAdmitted(refused)),
            };
        }
        (!waits).then_some(Decision::NotAdmitted(NotAdmitted::Busy))
    }

    fn begin(
        &mut self,
        member: MemberId,
        provider: &ProviderId,
        limit: u32,
        reserved: Reservations,
        now: Timestamp,
    ) -> Permit {
        self.limits.begin(provider);
        *self
            .in_flight
            .entry((provider.clone(), member))
            .or_default() += 1;
        let state = self.states.entry(provider.clone()).or_default();
        state.circuit.begin(&self.rules.circuit, now);
        self.announce_circuit(provider, now);
        Permit {
            member,
            provider: provider.clone(),
            limit,
            began: now,
            reserved,
        }
    }

    fn end(&mut self, permit: &Permit, how: CallEnd, now: Timestamp) {
        self.limits.end(&permit.provider, permit.limit, how, now);
        let key = (permit.provider.clone(), permit.member);
        let left = self
            .in_flight
            .get(&key)
            .copied()
            .unwrap_or(0)
            .saturating_sub(1);
        if left == 0 {
            self.in_flight.remove(&key);
        } else {
            self.in_flight.insert(key, left);
        }
    }

    /// Holds back every call to a provider when a failure of one asks for it.
    fn back_off(&mut self, provider: &ProviderId, failure: &Failure, now: Timestamp) {
        let (refusals, refused_for) = (
            self.limits.refusals(provider),
            self.limits.refused_for(provider, now),
        );
        let jitter = self.jitter.unit();
        let Some(wait) = self
            .rules
            .retry
            .hold(failure, refusals, refused_for, jitter)
        else {
            return;
        };
        let until = now.after(wait);
        if let Some(backoff) = self.limits.back_off(provider, until, &failure.message, now) {
            self.announce(provider, ProviderChange::Backoff(backoff));
        }
    }

    /// Announces a circuit, where it is no longer as it was last announced.
    fn announce_circuit(&mut self, provider: &ProviderId, now: Timestamp) {
        let Some(state) = self.states.get_mut(provider) else {
            return;
        };
        let status = state.circuit_status(now);
        let before = state.announced.unwrap_or((CircuitState::Closed, None));
        if before != status {
            state.announced = Some(status);
            let (state, until) = status;
            self.announce(provider, ProviderChange::Circuit { state, until });
        }
    }

    fn announce(&mut self, provider: &ProviderId, change: ProviderChange) {
        self.updates.push(ProviderUpdate {
            provider: provider.clone(),
            change,
        });
    }

    /// Whether others wait for the same provider already, so that this one has to queue up.
    fn is_passed_over(&self, queued: &QueuedRequest) -> bool {
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

    /// Calls that a consultation has in flight at the provider it waits for.
    fn share(&self, queued: &QueuedRequest) -> u32 {
        let at = |option: &RequestOption| {
            self.in_flight
                .get(&(option.provider.clone(), queued.member))
                .copied()
                .unwrap_or(0)
        };
        queued.request.options.first().map_or(0, at)
    }
}

impl ProviderState {
    fn circuit_status(&self, now: Timestamp) -> CircuitStatus {
        let until = match self.circuit.permit(now) {
            CircuitPermit::Refused { until } => Some(until),
            CircuitPermit::Granted | CircuitPermit::Probe => None,
        };
        (self.circuit.state(now), until)
    }
}

enum Refusal {
    Wait,
    Exceeded(NotAdmitted),
}

/// Sets the worst case aside in every budget, or in none.
fn reserve(
    budgets: &[Arc<dyn SharedBudget>],
    option: &RequestOption,
) -> Result<Reservations, Refusal> {
    let worst_case = option.worst_case;
    let mut reserved = Reservations::new();
    if worst_case == Cost::FREE {
        return Ok(reserved);
    }
    for budget in budgets {
        let refusal = match budget.reserve(worst_case) {
            BudgetCheck::Allowed => {
                reserved.push((Arc::clone(budget), worst_case.known));
                continue;
            }
            BudgetCheck::WaitForInFlight => Refusal::Wait,
            BudgetCheck::Exceeded => Refusal::Exceeded(NotAdmitted::Budget {
                budget: budget.name().to_owned(),
                limit: budget.limit(),
                spent: budget.spent(),
            }),
        };
        for (budget, amount) in reserved {
            budget.settle(amount, MicroUsd::ZERO);
        }
        return Err(refusal);
    }
    Ok(reserved)
}

/// Failures that the next call to the same provider would meet too.
fn counts_against_the_provider(class: FailureClass) -> bool {
    match class {
        FailureClass::Auth
        | FailureClass::Billing
        | FailureClass::Overload
        | FailureClass::Transport
        | FailureClass::Timeout
        | FailureClass::Interrupted => true,
        FailureClass::ModelMissing
        | FailureClass::BadRequest
        | FailureClass::Context
        | FailureClass::Policy
        | FailureClass::Unsupported
        | FailureClass::RateLimit
        | FailureClass::Empty
        | FailureClass::Malformed
        | FailureClass::Internal => false,
    }
}
