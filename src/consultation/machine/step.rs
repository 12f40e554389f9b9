//! One step of the machine: the current time, the plan, the run's state, and the effects so far.

use std::time::Duration;

use crate::domain::artifact::{Artifact, Content};
use crate::domain::ids::{AgentId, CallId, ModelRef, ProviderId, TimerId};
use crate::domain::money::Cost;
use crate::domain::panel::Panel;
use crate::domain::time::Timestamp;

use super::run_state::{ProviderView, RunState, Watch};
use crate::consultation::event::{
    AbortReason, Cause, ConsultationEvent, Envelope, Event, ProviderEvent, PulseAnswer, PulseEvent,
    RoundEvent, SCHEMA_VERSION, StateEvent, StateName,
};
use crate::consultation::plan::Plan;
use crate::consultation::policy::budget;
use crate::consultation::policy::budget::BudgetCheck;
use crate::consultation::policy::consent::ConsentMode;
use crate::consultation::policy::estimate::Estimate;
use crate::consultation::policy::health::HealthStatus;
use crate::consultation::policy::hedging::HedgeRule;
use crate::consultation::protocol::call::Prompt;
use crate::consultation::protocol::provider::{Backoff, ProviderChange, ProviderUpdate};
use crate::consultation::protocol::{Effect, Question};

/// Context for handling one input.
#[derive(Debug)]
pub(in crate::consultation) struct StepContext<'a> {
    pub(in crate::consultation) now: Timestamp,
    pub(in crate::consultation) plan: &'a Plan,
    pub(in crate::consultation) run: &'a mut RunState,
    effects: Vec<Effect>,
    /// Goes with the first event of this step.
    cause: Option<Cause>,
    stop: Option<Stop>,
    new_panel: Option<Panel>,
}

/// Why the consultation ends after this step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::consultation) struct Stop {
    pub(in crate::consultation) reason: AbortReason,
    pub(in crate::consultation) message: String,
}

impl<'a> StepContext<'a> {
    pub(in crate::consultation) fn new(
        now: Timestamp,
        plan: &'a Plan,
        run: &'a mut RunState,
        cause: Option<Cause>,
    ) -> Self {
        Self {
            now,
            plan,
            run,
            effects: Vec::new(),
            cause,
            stop: None,
            new_panel: None,
        }
    }

    pub(in crate::consultation) fn into_effects(self) -> Vec<Effect> {
        self.effects
    }

    pub(in crate::consultation) fn push(&mut self, effect: Effect) {
        self.effects.push(effect);
    }

    pub(in crate::consultation) fn emit(&mut self, event: Event) {
        self.run.events += 1;
        self.run.last_event_at = self.now;
        self.effects.push(Effect::Emit(Box::new(Envelope {
            schema_version: SCHEMA_VERSION.to_owned(),
            seq: self.run.events,
            at: self.now,
            consultation_id: self.plan.id.clone(),
            cause: self.cause.take(),
            event,
        })));
    }

    /// Stores an artifact of a round.
    pub(in crate::consultation) fn keep(&mut self, content: Content, degraded: bool) {
        let artifact = Artifact::stamp(content, self.now, degraded);
        self.emit(Event::Consultation(ConsultationEvent::RoundArtifact {
            artifact: Box::new(artifact),
        }));
    }

    pub(in crate::consultation) fn next_call(&mut self) -> CallId {
        self.run.calls += 1;
        CallId(self.run.calls)
    }

    /// Invariant: a timer is set only in a step that also emits an event; a step without events is
    /// not in the log.
    pub(in crate::consultation) fn set_timer(&mut self, at: Timestamp) -> TimerId {
        let timer = self.next_timer();
        self.push(Effect::SetTimer { timer, at });
        timer
    }

    fn next_timer(&mut self) -> TimerId {
        self.run.timers += 1;
        TimerId(self.run.timers)
    }

    /// Ends the consultation after this step; until then no call goes out. The first reason
    /// counts.
    pub(in crate::consultation) fn stop(
        &mut self,
        reason: AbortReason,
        message: impl Into<String>,
    ) {
        self.stop.get_or_insert_with(|| Stop {
            reason,
            message: message.into(),
        });
    }

    /// Replaces the panel from the next step on.
    pub(in crate::consultation) fn replace_panel(&mut self, panel: Panel) {
        self.new_panel = Some(panel);
    }

    pub(in crate::consultation) fn take_new_panel(&mut self) -> Option<Panel> {
        self.new_panel.take()
    }

    pub(in crate::consultation) fn is_stopping(&self) -> bool {
        self.stop.is_some()
    }

    pub(in crate::consultation) fn take_stop(&mut self) -> Option<Stop> {
        self.stop.take()
    }

    /// Whether a provider's circuit is open: it has failed so often that it is not called for now.
    pub(in crate::consultation) fn is_broken(&self, provider: &ProviderId) -> bool {
        self.provider(provider)
            .and_then(|view| view.broken_until)
            .is_some_and(|until| until > self.now)
    }

    /// Returns the backoff that a provider asks for, while it lasts.
    pub(in crate::consultation) fn backoff(&self, provider: &ProviderId) -> Option<&Backoff> {
        let backoff = self.provider(provider)?.backoff.as_ref()?;
        (backoff.until > self.now).then_some(backoff)
    }

    fn provider(&self, provider: &ProviderId) -> Option<&ProviderView> {
        self.run.providers.get(provider)
    }

    /// Whether a call to a provider would be useless now.
    pub(in crate::consultation) fn is_no_use(&self, provider: &ProviderId) -> bool {
        self.is_broken(provider) || self.provider(provider).is_some_and(|view| view.key_refused)
    }

    /// Returns a provider's health as last reported.
    pub(in crate::consultation) fn health(&self, provider: &ProviderId) -> HealthStatus {
        self.provider(provider)
            .map(|view| view.health)
            .unwrap_or_default()
    }

    /// Returns the most that a call can cost, where there is a ceiling; `None` without one.
    pub(in crate::consultation) fn worst_case(
        &self,
        model: &ModelRef,
        prompt: &Prompt,
        max_output_tokens: u64,
    ) -> Cost {
        self.plan.control.max_cost.map_or(Cost::FREE, |_| {
            self.plan.worst_case(model, prompt, max_output_tokens)
        })
    }

    /// Decides whether a call that costs at most this may be made under the ceiling.
    pub(in crate::consultation) fn check_budget(&self, worst_case: Cost) -> BudgetCheck {
        self.run
            .budget
            .check(worst_case, self.plan.control.max_cost)
    }

    /// Reserves the worst case of a call that goes out.
    pub(in crate::consultation) fn begin_call(&mut self, call: CallId, worst_case: Cost) {
        if self.plan.control.max_cost.is_some() {
            self.run.budget.set_aside(call, worst_case);
        }
    }

    /// Settles a call that came back at this cost.
    pub(in crate::consultation) fn end_call(&mut self, call: CallId, cost: Cost) {
        self.run.budget.settle(call, cost);
        self.check_spending();
    }

    /// Writes off a call that was cancelled, or lost with its process: its cost is unknown.
    pub(in crate::consultation) fn lose_call(&mut self, call: CallId) {
        self.run.budget.write_off(call);
    }

    /// Stops when spending far exceeds the estimate. Does nothing under a ceiling, which was agreed
    /// to in advance.
    fn check_spending(&mut self) {
        let control = &self.plan.control;
        let by_ceiling =
            control.max_cost.is_some() && control.consent.consent_mode == ConsentMode::PreApproved;
        let (spent, high) = (self.run.budget.spent(), self.run.high);
        if !by_ceiling && budget::exceeds(spent, high) {
            let message = format!(
                "Cost exceeded estimate: {spent:.2} spent, and the highest estimate was {high:.2}"
            );
            self.stop(AbortReason::CostExceededEstimate, message);
        }
    }

    /// Records the estimate's limit and its number of calls.
    pub(in crate::consultation) fn note_estimate(&mut self, estimate: &Estimate) {
        self.run.high = estimate.high;
        self.run.expected_calls = estimate.calls.len();
    }

    /// Takes one hedge from the run's quota. False when none is left.
    pub(in crate::consultation) fn has_hedges(&self) -> bool {
        self.run.hedges < HedgeRule::quota(self.run.expected_calls)
    }

    /// Returns the model in use for an agent, then its fallbacks, best first.
    pub(in crate::consultation) fn candidates(&self, agent: &AgentId) -> Vec<ModelRef> {
        let own = self.plan.fallbacks_in_use(agent);
        // The second pass goes to the model that judges by then.
        let of_the_judge = || {
            (*agent == AgentId::SecondJudge)
                .then(|| self.run.fallbacks_in_use.get(&AgentId::Judge))
                .flatten()
        };
        let Some(player) = self.run.fallbacks_in_use.get(agent).or_else(of_the_judge) else {
            return own;
        };
        // The models before it have failed.
        let after = own.iter().skip_while(|model| *model != player).skip(1);
        std::iter::once(player).chain(after).cloned().collect()
    }

    /// Records what the process reports of a provider.
    pub(in crate::consultation) fn note_provider(&mut self, update: ProviderUpdate) {
        let now = self.now;
        let ProviderUpdate { provider, change } = update;
        let view = self.run.providers.entry(provider.clone()).or_default();
        let event = match change {
            ProviderChange::Backoff(mut backoff) => {
                // In whole milliseconds from this moment, as the log has it.
                backoff.until = backoff.until.max(now);
                backoff.since = backoff.since.min(now);
                let event = ProviderEvent::Held {
                    provider,
                    wait_ms: in_ms(backoff.until.since(now)),
                    reason: backoff.reason.clone(),
                    refused_ms: in_ms(now.since(backoff.since)),
                };
                view.backoff = Some(backoff);
                event
            }
            ProviderChange::Circuit { state, until } => {
                view.broken_until = until.map(|until| until.max(now));
                ProviderEvent::CircuitChanged {
                    provider,
                    circuit: state,
                    wait_ms: until.map(|until| in_ms(until.since(now))),
                }
            }
            ProviderChange::Key { is_refused } => {
                view.key_refused = is_refused;
                ProviderEvent::KeyChanged {
                    provider,
                    is_refused,
                }
            }
        };
        self.emit(Event::Provider(event));
    }

    /// Returns how long a provider has refused every call, once that is too long to keep asking.
    pub(in crate::consultation) fn given_up(&self, backoff: &Backoff) -> Option<Duration> {
        Some(self.now.since(backoff.since))
            .filter(|refused_for| *refused_for > self.plan.retry.patience)
    }

    /// Whether a backoff is too long to wait for.
    pub(in crate::consultation) fn is_too_long(&self, backoff: &Backoff) -> bool {
        backoff.until.since(self.now) > self.plan.retry.longest_hint
    }

    pub(in crate::consultation) fn begin(&mut self) {
        self.run.started_at = self.now;
    }

    /// Returns the milliseconds since the consultation began, without pauses.
    pub(in crate::consultation) fn elapsed_ms(&self) -> u64 {
        self.ms_since(self.run.started_at)
    }

    /// Returns the milliseconds since an earlier moment, without pauses.
    pub(in crate::consultation) fn ms_since(&self, earlier: Timestamp) -> u64 {
        u64::try_from(self.run.since(earlier, self.now).as_millis()).unwrap_or(u64::MAX)
    }

    /// Returns a wait in milliseconds, rounded as its timer is.
    pub(in crate::consultation) fn ms_until(&self, wait: Duration) -> u64 {
        u64::try_from(self.now.after(wait).since(self.now).as_millis()).unwrap_or(u64::MAX)
    }

    pub(in crate::consultation) fn change(&mut self, from: StateName, to: StateName) {
        debug_assert!(from.may_become(to).is_ok(), "{from} may not become {to}");
        self.emit(Event::State(StateEvent::Changed { from, to }));
    }

    pub(in crate::consultation) fn begin_round(&mut self, round_number: u8) {
        self.emit(Event::Round(RoundEvent::Started { round_number }));
        self.watch_round(round_number);
    }

    /// Sets the timers of a round that begins or is resumed.
    pub(in crate::consultation) fn watch_round(&mut self, round_number: u8) {
        let deadline = self
            .plan
            .control
            .max_wait
            .map(|wait| self.set_timer(self.now.after(wait)));
        self.run.watch = Watch {
            round_number,
            pulse: None,
            deadline,
        };
        self.set_pulse();
    }

    pub(in crate::consultation) fn end_round(&mut self, round_number: u8, since: Timestamp) {
        let duration_ms = self.ms_since(since);
        self.supersede_pulse();
        self.run.watch = Watch::default();
        self.emit(Event::Round(RoundEvent::Completed {
            round_number,
            duration_ms,
        }));
    }

    /// Withdraws the question whether to keep waiting, because an answer has arrived, and restarts
    /// the pulse.
    pub(in crate::consultation) fn supersede_pulse(&mut self) {
        if self.withdraw(|question| matches!(question, Question::Pulse { .. })) {
            let (round_number, elapsed_ms) = (self.run.watch.round_number, self.elapsed_ms());
            self.emit(Event::Pulse(PulseEvent::Answered {
                round_number,
                answer: PulseAnswer::Superseded,
                elapsed_ms,
            }));
            self.set_pulse();
        }
    }

    /// Starts the wait for the next pulse.
    pub(in crate::consultation) fn set_pulse(&mut self) {
        self.run.watch.pulse = self
            .plan
            .control
            .pulse
            .map(|wait| self.set_timer(self.now.after(wait)));
    }

    /// Asks the person, or queues the question behind the open ones.
    pub(in crate::consultation) fn ask(&mut self, question: Question) {
        if self.run.questions.open.is_some() {
            self.run.questions.waiting.push_back(question);
        } else {
            self.push(Effect::Question(Box::new(question.clone())));
            self.run.questions.open = Some(question);
        }
    }

    /// Returns the question that was answered, and asks the next one.
    pub(in crate::consultation) fn answered(&mut self) -> Option<Question> {
        let answered = self.run.questions.open.take()?;
        self.ask_next();
        Some(answered)
    }

    fn ask_next(&mut self) {
        if let Some(next) = self.run.questions.waiting.pop_front() {
            self.ask(next);
        }
    }

    /// Withdraws questions that no longer matter. True when one of them was open.
    pub(in crate::consultation) fn withdraw(
        &mut self,
        is_void: impl Fn(&Question) -> bool,
    ) -> bool {
        self.run
            .questions
            .waiting
            .retain(|question| !is_void(question));
        let was_open = self
            .run
            .questions
            .open
            .take_if(|question| is_void(question))
            .is_some();
        if was_open {
            self.push(Effect::Withdraw);
            self.ask_next();
        }
        was_open
    }

    /// Withdraws every question.
    pub(in crate::consultation) fn drop_questions(&mut self) {
        self.run.questions.waiting.clear();
        self.withdraw(|_| true);
    }

    pub(in crate::consultation) fn cancelled_by_user(&self) -> String {
        format!(
            "Consultation cancelled by user after {}s",
            self.elapsed_ms() / 1_000
        )
    }

    /// Clears the timers of the round.
    pub(in crate::consultation) fn end_watch(&mut self) {
        self.run.watch = Watch::default();
    }
}

fn in_ms(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
