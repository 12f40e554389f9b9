//! Plays scripts to the machine: holds its open calls and timers, checks its invariants after every
//! input, and records its log.

mod process;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use conclave::consultation::Consultation;
use conclave::consultation::event::{
    Answer, CallEvent, CallStarted, ConsultationEvent, Envelope, Event, ProviderEvent, StateEvent,
    StateName,
};
use conclave::consultation::machine::replay::{Interruption, ReplayError, Replayed, replay};
use conclave::consultation::machine::{Effect, Input, Question};
use conclave::consultation::plan::{Control, Plan};
use conclave::consultation::protocol::call::{Ask, Outcome};
use conclave::consultation::protocol::request::RequestKey;
use conclave::domain::ids::{CallId, ProviderId, TimerId};
use conclave::domain::time::Timestamp;
use conclave::engine::dispatcher::budget::SharedBudget;
use conclave::engine::dispatcher::pool::{Decision, MemberId, PoolPermit, PoolRules, ProviderPool};

use super::log_text::line;

/// What one consultation of a process has for the others.
#[derive(Clone, Debug)]
pub enum Notice {
    Decided(MemberId, RequestKey, Decision),
    Learned(ProviderEvent),
}

/// The machine with its open calls, timers and log.
#[derive(Clone, Debug)]
pub struct Player {
    pub machine: Consultation,
    pub now: Timestamp,
    pub open: Vec<Ask>,
    pub timers: BTreeSet<(Timestamp, TimerId)>,
    pub log: Vec<Envelope>,
    /// The open question to the user.
    pub question: Option<Question>,
    /// The highest number of simultaneous calls to one provider.
    pub most_in_flight: usize,
    /// The end of each provider's backoff.
    backoffs: BTreeMap<ProviderId, Timestamp>,
    /// Which consultation of its process it is.
    pub member: MemberId,
    /// What the process knows of the providers: it decides when a call may go out.
    pub pool: ProviderPool,
    /// The ceilings that it shares with others.
    pub budgets: Vec<Arc<dyn SharedBudget>>,
    /// Decisions on requests of other consultations of the process, and what these learn with it.
    pub for_others: Vec<Notice>,
    permits: BTreeMap<CallId, PoolPermit>,
    /// The permit that came with the input being handled.
    permit: Option<PoolPermit>,
    inputs: VecDeque<(Input, Option<PoolPermit>)>,
    started: BTreeSet<CallId>,
    ended: BTreeSet<CallId>,
    consented: bool,
}

impl Player {
    pub fn new(plan: Plan) -> Self {
        Self {
            machine: Consultation::new(plan),
            now: Timestamp(1_795_252_598_000),
            open: Vec::new(),
            timers: BTreeSet::new(),
            log: Vec::new(),
            question: None,
            most_in_flight: 0,
            backoffs: BTreeMap::new(),
            member: MemberId(1),
            pool: ProviderPool::new(PoolRules::default()),
            budgets: Vec::new(),
            for_others: Vec::new(),
            permits: BTreeMap::new(),
            permit: None,
            inputs: VecDeque::new(),
            started: BTreeSet::new(),
            ended: BTreeSet::new(),
            consented: false,
        }
    }

    pub fn started(plan: Plan) -> Self {
        let mut player = Self::new(plan);
        player.give(Input::Start);
        player
    }

    /// Resumes from a log after a pause, with a new control if there is one.
    pub fn resumed(
        events: &[Envelope],
        pause: Duration,
        control: Option<Control>,
    ) -> Result<Self, ReplayError> {
        let Replayed {
            consultation,
            interruption,
            ..
        } = replay(events)?;
        let Interruption {
            effects,
            lost,
            timers,
            last_at,
        } = interruption;
        let mut player = Self::new(consultation.plan().clone());
        (player.machine, player.timers, player.now) = (consultation, timers, last_at);
        for envelope in events {
            player.record(envelope.clone());
            player.relearn(envelope);
        }
        for call in &lost {
            player.forget(*call, last_at);
        }
        // What the machine was told of it is in its log.
        player.pool.take_updates();
        player.carry_out(effects);
        player.pass(pause);
        let control = control.unwrap_or_else(|| player.machine.plan().control.clone());
        player.give(Input::Resume {
            lost,
            terms: Box::new(control.into()),
            tool_version: "0.0.1".to_owned(),
        });
        Ok(player)
    }

    /// Gives one input and what follows from it, carries out the effects and checks the invariants.
    pub fn give(&mut self, input: Input) {
        self.inputs.push_back((input, None));
        self.work_off();
    }

    /// Handles every input that is there, as the driver does.
    pub fn work_off(&mut self) {
        loop {
            while let Some((input, permit)) = self.inputs.pop_front() {
                let admits = matches!(input, Input::Admitted { .. });
                self.permit = permit;
                self.handle(input);
                match self.permit.take() {
                    Some(unused) if admits => self.pool.release(&unused, self.now),
                    Some(ended) => ended.write_off(),
                    None => {}
                }
            }
            for (member, key, decision) in self.pool.decide_waiting(self.now) {
                if member == self.member {
                    self.expect_decision(key, decision);
                } else {
                    self.for_others.push(Notice::Decided(member, key, decision));
                }
            }
            let updates = self.take_updates();
            self.inputs.extend(
                updates
                    .into_iter()
                    .map(|update| (Input::ProviderChanged(update), None)),
            );
            if self.inputs.is_empty() {
                return;
            }
        }
    }

    /// The earliest moment at which something happens by itself.
    pub fn next_moment(&self) -> Option<Timestamp> {
        let timer = self.timers.first().map(|(at, _)| *at);
        let backoff = self.pool.next_moment(self.member, self.now);
        timer.into_iter().chain(backoff).min()
    }

    fn handle(&mut self, input: Input) {
        let resumes = matches!(input, Input::Resume { .. });
        let was_over = self.machine.state().is_terminal() && !resumes;
        if matches!(input, Input::Answered(_)) {
            self.question = None;
        }
        let before = self.machine.clone();
        let effects = self.machine.handle(self.now, input);
        assert!(
            !was_over || effects.is_empty(),
            "a terminal state has no effects: {effects:?}"
        );
        let emits = |effect: &Effect| matches!(effect, Effect::Emit(_));
        if !resumes && !effects.iter().any(emits) {
            let is_request = |effect: &Effect| matches!(effect, Effect::Request(_));
            assert!(
                effects.iter().all(is_request),
                "whatever is done is in the log: {effects:?}"
            );
            assert!(
                before == self.machine,
                "every change of the machine is in the log"
            );
        }
        self.carry_out(effects);
        if self.machine.state().is_terminal() {
            assert!(self.open.is_empty(), "no call is open at the end");
            assert!(self.question.is_none(), "no question is open at the end");
            assert_eq!(self.started, self.ended, "every call ends exactly once");
        }
    }

    fn carry_out(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Question(question) => {
                    assert!(self.question.is_none(), "one question at a time");
                    self.question = Some(*question);
                }
                Effect::Withdraw => assert!(
                    self.question.take().is_some(),
                    "only an open question is withdrawn"
                ),
                Effect::Request(request) => self.request(*request),
                Effect::Ask(ask) => {
                    self.begin(ask.call, &ask.model.provider);
                    assert!(self.consented, "no call before consent");
                    assert!(
                        self.started.contains(&ask.call),
                        "a call is announced before it goes out"
                    );
                    let provider = &ask.model.provider;
                    let until = self.backoffs.get(provider);
                    assert!(
                        until.is_none_or(|until| *until <= self.now),
                        "{provider} must not be called before {until:?}"
                    );
                    self.open.push(*ask.clone());
                    let in_flight = self
                        .open
                        .iter()
                        .filter(|open| open.model.provider == *provider)
                        .count();
                    let limit = self.machine.plan().in_flight(provider);
                    assert!(
                        in_flight <= limit as usize,
                        "{in_flight} calls in flight at {provider}, the limit is {limit}"
                    );
                    self.most_in_flight = self.most_in_flight.max(in_flight);
                }
                Effect::Cancel(call) => {
                    let index = self.open.iter().position(|ask| ask.call == call);
                    self.open
                        .remove(index.expect("only open calls are cancelled"));
                    let permit = self.permits.remove(&call).expect("it had a permit");
                    self.pool.abandon(&permit, self.now);
                }
                Effect::SetTimer { timer, at } => {
                    assert!(at >= self.now, "no timer lies in the past");
                    assert!(self.timers.insert((at, timer)), "no timer twice");
                }
                Effect::Emit(envelope) => self.record(*envelope),
            }
        }
    }

    fn record(&mut self, envelope: Envelope) {
        assert_eq!(
            envelope.seq,
            self.log.len() as u64 + 1,
            "events are numbered without gaps"
        );
        match &envelope.event {
            Event::Consultation(ConsultationEvent::UserConsent { approved, .. }) => {
                self.consented = *approved;
            }
            Event::Call(CallEvent::Started(CallStarted { call, .. })) => {
                assert!(self.started.insert(*call), "no call id twice");
            }
            Event::Call(CallEvent::Finished(finished)) => {
                if let Some(permit) = self.permit.take() {
                    permit.settle(finished.counted());
                }
                assert!(
                    self.ended.insert(finished.call),
                    "{} ends once",
                    finished.call
                );
            }
            Event::Provider(ProviderEvent::Held {
                provider, wait_ms, ..
            }) => {
                self.backoffs.insert(
                    provider.clone(),
                    envelope.at.after(Duration::from_millis(*wait_ms)),
                );
            }
            Event::Consultation(ConsultationEvent::Resumed(resumed)) => {
                self.ended.extend(&resumed.lost_calls);
            }
            Event::Call(CallEvent::Cancelled { call, .. }) => {
                assert!(self.ended.insert(*call), "{call} ends once");
            }
            Event::State(StateEvent::Changed { from, to }) => {
                assert_eq!(from.may_become(*to), Ok(()));
            }
            _ => {}
        }
        self.log.push(envelope);
    }

    /// Answers the open call at this index.
    pub fn answer(&mut self, index: usize, outcome: Outcome) {
        let ask = self.open.remove(index);
        let permit = self.permits.remove(&ask.call).expect("it had a permit");
        let counts = !ask.answer.is_for_helper();
        self.pool.finish(&permit, &outcome, counts, self.now);
        let updates = self.take_updates();
        let replied = Input::Replied {
            call: ask.call,
            outcome,
            updates,
        };
        self.inputs.push_back((replied, Some(permit)));
        self.work_off();
    }

    /// Answers the latest call of an agent.
    pub fn answer_agent(&mut self, agent: &str, outcome: Outcome) {
        let call = self
            .calls_of(agent)
            .last()
            .copied()
            .unwrap_or_else(|| panic!("{agent} has no call"));
        let at = self
            .open
            .iter()
            .position(|ask| ask.call == call)
            .unwrap_or_else(|| panic!("the last call of {agent} is not open"));
        self.answer(at, outcome);
    }

    fn calls_of(&self, agent: &str) -> Vec<CallId> {
        self.log
            .iter()
            .filter_map(|envelope| match &envelope.event {
                Event::Call(CallEvent::Started(CallStarted { call, agent_id, .. }))
                    if agent_id.as_str() == agent =>
                {
                    Some(*call)
                }
                _ => None,
            })
            .collect()
    }

    /// Advances the clock.
    pub fn pass(&mut self, time: Duration) {
        self.now = self.now.after(time);
    }

    /// Advances to the earliest timer and fires it, or to the end of a backoff that a call waits
    /// for. Returns false when there is none.
    pub fn fire(&mut self) -> bool {
        let backoff = self.pool.next_moment(self.member, self.now);
        let timer = self.timers.first().map(|(at, _)| *at);
        if let Some(backoff) = backoff
            && timer.is_none_or(|timer| backoff < timer)
        {
            self.now = self.now.max(backoff);
            self.work_off();
            return true;
        }
        let Some((at, timer)) = self.timers.pop_first() else {
            return false;
        };
        self.now = self.now.max(at);
        self.give(Input::TimerFired { timer });
        true
    }

    /// Advances to the earliest timer and fires all timers set for that time. Returns false when
    /// there is none.
    pub fn rest(&mut self) -> bool {
        let timer = self.timers.first().map(|(at, _)| *at);
        let backoff = self.pool.next_moment(self.member, self.now);
        let Some(next) = timer.into_iter().chain(backoff).min() else {
            return false;
        };
        if timer != Some(next) {
            return self.fire();
        }
        while self.timers.first().is_some_and(|(at, _)| *at == next) {
            self.fire();
        }
        true
    }

    /// Answers all calls in order, and every question with yes, until the end.
    pub fn finish(&mut self, mut answer: impl FnMut(&Ask) -> Outcome) -> StateName {
        self.finish_in(|_, ask| answer(ask))
    }

    /// Does the same with answers that may depend on the log.
    pub fn finish_in(&mut self, mut answer: impl FnMut(&[Envelope], &Ask) -> Outcome) -> StateName {
        for _ in 0..2_000 {
            if self.machine.state().is_terminal() {
                return self.machine.state();
            }
            if self.question.is_some() {
                self.give(Input::Answered(Answer::Yes));
            } else if let Some(ask) = self.open.first().cloned() {
                self.pass(Duration::from_millis(100));
                let outcome = answer(&self.log, &ask);
                self.answer(0, outcome);
            } else if !self.fire() {
                panic!("stuck in {}", self.machine.state());
            }
        }
        panic!("no end after 2000 steps");
    }

    /// Returns the log as text, one line per event, with the fields that a reader needs.
    pub fn log_text(&self) -> String {
        self.log
            .iter()
            .map(|envelope| line(&envelope.event) + "\n")
            .collect()
    }
}
