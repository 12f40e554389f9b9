//! Runs one consultation in one task with one ordered history: gives each input to the machine, and
//! carries out the effects that it returns.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use futures_util::FutureExt;
use tokio::sync::mpsc;

use crate::consultation::Consultation;
use crate::consultation::event::{Answer, CallEvent, Envelope, Event};
use crate::consultation::machine::replay::Interruption;
use crate::consultation::machine::{Effect, Input, Question};
use crate::consultation::plan::{Plan, ResumeTerms};
use crate::consultation::protocol::call::Ask;
use crate::consultation::protocol::request::RequestKey;
use crate::domain::ids::{CallId, TimerId};
use crate::domain::time::Timestamp;

use super::calls::{CallUpdate, Calls};
use super::clock::Clock;
use super::dispatcher::budget::SharedBudget;
use super::dispatcher::{CallPermit, Dispatcher, Member, Notice, RequestAnswer};
use super::ports::{BoxFuture, Person, Providers, Subscriber};

/// Everything that a run needs besides the machine.
#[derive(Debug)]
pub struct Driver<'a> {
    pub clock: Clock,
    pub providers: &'a Providers,
    /// The process's dispatcher.
    pub dispatcher: Dispatcher,
    /// The ceilings above the consultation's own, the innermost first.
    pub budgets: Vec<Arc<dyn SharedBudget>>,
    pub subscribers: Vec<&'a mut dyn Subscriber>,
    pub person: &'a dyn Person,
    /// One message for each Ctrl-C or request to end.
    pub interrupts: mpsc::UnboundedReceiver<()>,
}

/// The beginning of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum RunStart {
    /// From the beginning.
    New,
    /// At the point where an earlier run ended.
    Resume {
        /// What that run left undone; its effects come first.
        interruption: Interruption,
        terms: Box<ResumeTerms>,
        tool_version: String,
    },
}

impl Driver<'_> {
    /// Runs a consultation from where it is to its end and returns every event of this run, in
    /// order.
    pub async fn run(self, consultation: &mut Consultation, start: RunStart) -> Vec<Envelope> {
        let mut run = Run::new(self, consultation.plan());
        match start {
            RunStart::New => run.queue(Input::Start),
            RunStart::Resume {
                interruption,
                terms,
                tool_version,
            } => {
                let Interruption {
                    effects,
                    lost,
                    timers,
                    last_at,
                } = interruption;
                // The clock starts at the last event at the earliest.
                run.with.clock = run.with.clock.not_before(last_at);
                run.timers = timers;
                for effect in effects {
                    run.carry_out(effect);
                }
                run.queue(Input::Resume {
                    lost,
                    terms,
                    tool_version,
                });
            }
        }
        let known = std::mem::take(&mut run.known);
        run.queue_all(known);
        loop {
            while let Some((input, permit)) = run.next_input() {
                run.permit = permit;
                for effect in consultation.handle(run.with.clock.now(), input) {
                    run.carry_out(effect);
                }
                // Returned: of a request without a purpose, or an answer that came too late.
                run.permit = None;
            }
            if consultation.state().is_terminal() {
                return run.end().await;
            }
            run.wait().await;
        }
    }
}

/// An input, with the permit of the call that it admits or ends.
type NextInput = (Input, Option<CallPermit>);

/// A run under way.
struct Run<'a> {
    with: Driver<'a>,
    member: Member,
    /// The state of the providers when the run began.
    known: Vec<Input>,
    calls: Calls,
    permits: BTreeMap<CallId, CallPermit>,
    /// The permit that came with the input being handled.
    permit: Option<CallPermit>,
    timers: BTreeSet<(Timestamp, TimerId)>,
    question: Option<BoxFuture<'a, Answer>>,
    /// Calls whose answer has begun.
    answering: BTreeSet<CallId>,
    /// Inputs that the machine has not handled yet.
    inputs: VecDeque<NextInput>,
    history: Vec<Envelope>,
    interruptible: bool,
}

impl<'a> Run<'a> {
    fn new(mut with: Driver<'a>, plan: &Plan) -> Self {
        let ids = with.providers.keys().chain(plan.in_flight.keys());
        let limits = ids.map(|id| (id.clone(), plan.in_flight(id))).collect();
        let budgets = std::mem::take(&mut with.budgets);
        let by_plan = plan.models.keys().filter(|model| plan.is_by_plan(model));
        let by_plan = by_plan.map(|model| model.provider.clone()).collect();
        let (member, known) = with.dispatcher.join(limits, &by_plan, budgets);
        Self {
            with,
            member,
            known,
            calls: Calls::new(),
            permits: BTreeMap::new(),
            permit: None,
            timers: BTreeSet::new(),
            question: None,
            answering: BTreeSet::new(),
            inputs: VecDeque::new(),
            history: Vec::new(),
            interruptible: true,
        }
    }

    fn queue(&mut self, input: Input) {
        self.inputs.push_back((input, None));
    }

    fn queue_all(&mut self, inputs: impl IntoIterator<Item = Input>) {
        for input in inputs {
            self.queue(input);
        }
    }

    fn carry_out(&mut self, effect: Effect) {
        match effect {
            Effect::Question(asked) => self.question = Some(ask(self.with.person, *asked)),
            // An answer that is typed now is dropped.
            Effect::Withdraw => self.question = None,
            Effect::Request(request) => {
                let key = request.key.clone();
                if let Some(answer) = self.member.request(*request) {
                    self.queue_answer(key, answer);
                }
            }
            Effect::Ask(ask) => self.start(*ask),
            Effect::Cancel(call) => {
                self.calls.cancel(call);
                self.permits.remove(&call);
            }
            Effect::SetTimer { timer, at } => drop(self.timers.insert((at, timer))),
            Effect::Emit(envelope) => {
                if let Event::Call(CallEvent::Finished(finished)) = &envelope.event
                    && let Some(permit) = self.permit.take()
                {
                    permit.settle(finished.counted());
                }
                publish(&mut self.with.subscribers, &envelope);
                self.history.push(*envelope);
            }
        }
    }

    /// Without a permit nothing goes out: no ceiling has its worst case.
    fn start(&mut self, ask: Ask) {
        let provider = &ask.model.provider;
        let permit = self.permit.take_if(|permit| permit.admits(provider));
        let provider = permit.and_then(|mut permit| {
            permit.begin();
            self.permits.insert(ask.call, permit);
            self.with.dispatcher.begin_checks(self.with.providers);
            self.with.providers.get(provider).cloned()
        });
        self.calls.start(provider, ask);
    }

    fn queue_answer(&mut self, key: RequestKey, answer: RequestAnswer) {
        self.inputs.push_back(match answer {
            Ok(permit) => {
                let (provider, granted) = (permit.provider().clone(), permit.granted());
                let input = Input::Admitted {
                    key,
                    provider,
                    granted,
                };
                (input, Some(permit))
            }
            Err(reason) => (Input::NotAdmitted { key, reason }, None),
        });
    }

    /// Answers that have arrived come first: any other input might cancel their calls, and they are
    /// paid for.
    fn next_input(&mut self) -> Option<NextInput> {
        let earlier = std::mem::take(&mut self.inputs);
        while self.inputs.is_empty()
            && let Some(update) = self.calls.next().now_or_never()
        {
            self.call_updated(update);
        }
        self.inputs.extend(earlier);
        self.inputs.pop_front()
    }

    /// A question to the person stays open meanwhile.
    async fn wait(&mut self) {
        let next_timer = self.timers.first().copied();
        tokio::select! {
            biased;
            interrupt = self.with.interrupts.recv(), if self.interruptible => {
                self.interruptible = interrupt.is_some();
                if interrupt.is_some() {
                    self.queue(Input::Interrupted);
                }
            }
            notice = self.member.next() => match notice {
                Notice::Decided(key, answer) => self.queue_answer(key, answer),
                Notice::Input(input) => self.queue(*input),
            },
            update = self.calls.next() => self.call_updated(update),
            answer = answer(&mut self.question) => {
                self.question = None;
                self.queue(Input::Answered(answer));
            }
            timer = fire(&self.with.clock, next_timer) => {
                self.timers.pop_first();
                self.queue(Input::TimerFired { timer });
            }
        }
    }

    fn call_updated(&mut self, update: CallUpdate) {
        match update {
            CallUpdate::Finished(call, answer, outcome) => {
                let mut permit = self.permits.remove(&call);
                let mut updates = Vec::new();
                if let Some(permit) = &mut permit {
                    // The helper's failures say nothing about its provider.
                    let changes = permit.finish(&outcome, !answer.is_for_helper());
                    updates = changes.updates;
                    self.queue_all(changes.health.map(Input::HealthChanged));
                }
                let input = Input::Replied {
                    call,
                    outcome,
                    updates,
                };
                self.inputs.push_back((input, permit));
            }
            CallUpdate::Delta(call, delta) => {
                for subscriber in &mut self.with.subscribers {
                    subscriber.delta(call, &delta);
                }
                if delta.shows_answer() && self.answering.insert(call) {
                    self.queue(Input::FirstToken { call });
                }
            }
        }
    }

    /// Drops all calls in flight, and waits until every connection is closed.
    async fn end(mut self) -> Vec<Envelope> {
        drop(self.question);
        drop(self.inputs);
        self.calls.tasks.shutdown().await;
        drop(self.calls);
        drop(self.permits);
        self.member.leave().await;
        self.history
    }
}

/// Drops a subscriber that fails, and reports the failure once to the others.
fn publish(subscribers: &mut Vec<&mut dyn Subscriber>, envelope: &Envelope) {
    let mut troubles = Vec::new();
    subscribers.retain_mut(|subscriber| match subscriber.event(envelope) {
        Ok(()) => true,
        Err(failed) => {
            troubles.push(failed);
            false
        }
    });
    for trouble in &troubles {
        for subscriber in subscribers.iter_mut() {
            subscriber.trouble(&trouble.to_string());
        }
    }
}

fn ask(person: &dyn Person, question: Question) -> BoxFuture<'_, Answer> {
    Box::pin(async move { person.ask(&question).await })
}

/// Waits for ever when nothing was asked.
async fn answer(question: &mut Option<BoxFuture<'_, Answer>>) -> Answer {
    match question {
        Some(answer) => answer.await,
        None => std::future::pending().await,
    }
}

/// Waits for ever when there is no timer. Never fires early.
async fn fire(clock: &Clock, timer: Option<(Timestamp, TimerId)>) -> TimerId {
    match timer {
        Some((at, timer)) => {
            tokio::time::sleep_until(clock.instant(at)).await;
            timer
        }
        None => std::future::pending().await,
    }
}
