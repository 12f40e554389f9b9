//! One step of the machine: the moment, the terms, the ledger, and the effects collected so far.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::domain::artifact::{Artifact, Content};
use crate::domain::ids::{CallId, ProviderId};
use crate::domain::time::Timestamp;

use super::call::Failure;
use super::event::{AbortReason, Cause, Envelope, Event, SCHEMA_VERSION, StateName};
use super::plan::Plan;
use super::policy::pacing::{Admission, Ended, Hold, Lanes};
use super::protocol::{Effect, TimerId};
use super::state::State;

/// What outlives a phase: numbers given out, when it all began, and how the providers are doing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Ledger {
    events: u64,
    calls: u32,
    timers: u32,
    started_at: Timestamp,
    /// Whom to call when; outlives the rounds.
    lanes: Lanes,
}

/// The hands of a phase while it handles one input.
#[derive(Debug)]
pub(super) struct Turn<'a> {
    pub(super) now: Timestamp,
    pub(super) plan: &'a Plan,
    ledger: &'a mut Ledger,
    effects: Vec<Effect>,
    /// Goes with the first event of this turn.
    cause: Option<Cause>,
}

impl<'a> Turn<'a> {
    pub(super) fn new(now: Timestamp, plan: &'a Plan, ledger: &'a mut Ledger, cause: Option<Cause>) -> Self {
        Self { now, plan, ledger, effects: Vec::new(), cause }
    }

    pub(super) fn into_effects(self) -> Vec<Effect> {
        self.effects
    }

    pub(super) fn push(&mut self, effect: Effect) {
        self.effects.push(effect);
    }

    pub(super) fn emit(&mut self, event: Event) {
        self.ledger.events += 1;
        self.effects.push(Effect::Emit(Box::new(Envelope {
            schema_version: SCHEMA_VERSION.to_owned(),
            seq: self.ledger.events,
            at: self.now,
            consultation_id: self.plan.id.clone(),
            cause: self.cause.take(),
            event,
        })));
    }

    /// Stores what a round brought.
    pub(super) fn keep(&mut self, content: Content, degraded: bool) {
        let artifact = Artifact::stamp(content, self.now, degraded);
        self.emit(Event::RoundArtifact { artifact: Box::new(artifact) });
    }

    pub(super) fn next_call(&mut self) -> CallId {
        self.ledger.calls += 1;
        CallId(self.ledger.calls)
    }

    pub(super) fn next_timer(&mut self) -> TimerId {
        self.ledger.timers += 1;
        TimerId(self.ledger.timers)
    }

    /// Whether a call to this provider may go out now.
    pub(super) fn admit(&self, provider: &ProviderId) -> Admission {
        self.ledger.lanes.admit(provider, self.plan.in_flight(provider), self.now)
    }

    pub(super) fn begin_call(&mut self, provider: &ProviderId) {
        self.ledger.lanes.begin(provider);
    }

    pub(super) fn end_call(&mut self, provider: &ProviderId, ended: Ended) {
        self.ledger.lanes.end(provider, self.plan.in_flight(provider), ended, self.now);
    }

    /// Holds back every call to a provider when a failure of one says so.
    pub(super) fn hold(&mut self, provider: &ProviderId, failure: &Failure, jitter: f64) {
        let refusals = self.ledger.lanes.refusals(provider);
        let refused_for = self.ledger.lanes.refused_for(provider, self.now);
        let Some(wait) = self.plan.retry.hold(failure, refusals, refused_for, jitter) else { return };
        let (until, timer) = (self.now.after(wait), self.next_timer());
        if self.ledger.lanes.hold(provider, Hold { until, reason: failure.message.clone(), timer }, self.now) {
            self.push(Effect::SetTimer { timer, at: until });
            self.emit(Event::ProviderHeld { provider: provider.clone(), wait_ms: self.ms_until(wait), reason: failure.message.clone() });
        }
    }

    /// For how long a provider has refused every call, when that is longer than anyone goes on asking.
    pub(super) fn given_up(&self, provider: &ProviderId) -> Option<Duration> {
        Some(self.ledger.lanes.refused_for(provider, self.now)).filter(|refused_for| *refused_for > self.plan.retry.patience)
    }

    /// The provider whose hold this timer ends.
    pub(super) fn held_until(&self, timer: TimerId) -> Option<ProviderId> {
        self.ledger.lanes.held_until(timer).cloned()
    }

    /// A hold that nobody waits for.
    pub(super) fn is_too_long(&self, hold: &Hold) -> bool {
        hold.until.since(self.now) > self.plan.retry.longest_hint
    }

    pub(super) fn begin(&mut self) {
        self.ledger.started_at = self.now;
    }

    /// Milliseconds since the consultation began.
    pub(super) fn elapsed_ms(&self) -> u64 {
        self.ms_since(self.ledger.started_at)
    }

    pub(super) fn ms_since(&self, earlier: Timestamp) -> u64 {
        u64::try_from(self.now.since(earlier).as_millis()).unwrap_or(u64::MAX)
    }

    /// A wait in milliseconds, as its timer will keep it.
    pub(super) fn ms_until(&self, wait: Duration) -> u64 {
        u64::try_from(self.now.after(wait).since(self.now).as_millis()).unwrap_or(u64::MAX)
    }

    pub(super) fn change(&mut self, from: StateName, to: StateName) {
        debug_assert!(from.may_become(to).is_ok(), "{from} may not become {to}");
        self.emit(Event::StateChanged { from, to });
    }

    pub(super) fn begin_round(&mut self, round_number: u8) {
        self.emit(Event::RoundStarted { round_number });
    }

    pub(super) fn end_round(&mut self, round_number: u8, since: Timestamp) {
        let duration_ms = self.ms_since(since);
        self.emit(Event::RoundCompleted { round_number, duration_ms });
    }

    /// Ends the consultation without a verdict.
    pub(super) fn abort(&mut self, during: StateName, reason: AbortReason, message: impl Into<String>) -> State {
        self.change(during, StateName::Aborted);
        let duration_ms = self.elapsed_ms();
        self.emit(Event::Aborted { reason, message: message.into(), during, duration_ms });
        State::Aborted
    }
}
