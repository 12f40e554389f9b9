//! One task, one ordered history: takes whatever happens next, hands it to the machine, and does
//! what the machine wants done.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use tokio::sync::mpsc;

use crate::consultation::Consultation;
use crate::consultation::event::Envelope;
use crate::consultation::machine::replay::Replayed;
use crate::consultation::plan::Control;
use crate::consultation::protocol::{Answer, Effect, Input, Question, TimerId};
use crate::domain::ids::{CallId, ProviderId};
use crate::domain::time::Timestamp;

use super::calls::{Calls, News};
use super::clock::Clock;
use super::health::Monitor;
use super::ports::{BoxFuture, Delta, Person, Provider, Subscriber};

/// The models that can be asked, by provider.
pub type Providers = BTreeMap<ProviderId, Arc<dyn Provider>>;

/// What the driver works with besides the machine.
#[derive(Debug)]
pub struct Driver<'a> {
    pub clock: Clock,
    pub providers: &'a Providers,
    pub subscribers: Vec<&'a mut dyn Subscriber>,
    pub person: &'a dyn Person,
    /// One message for each Ctrl-C or request to end.
    pub interrupts: mpsc::UnboundedReceiver<()>,
}

/// How a run begins.
#[derive(Clone, Debug, PartialEq)]
pub enum RunStart {
    /// From the beginning.
    New,
    /// Where an earlier run left off.
    Again {
        /// What was still to be done in the earlier run's last step: done before anything else.
        effects: Vec<Effect>,
        /// Those that had not run out.
        timers: BTreeSet<(Timestamp, TimerId)>,
        /// Calls that had gone out and will never answer.
        lost: Vec<CallId>,
        /// The earlier run's last moment: time goes on from there at the earliest.
        last_at: Timestamp,
        control: Box<Control>,
        tool_version: String,
    },
}

impl RunStart {
    /// A consultation as its log left it, and how to go on with it.
    pub fn again(
        replayed: Replayed,
        control: Control,
        tool_version: impl Into<String>,
    ) -> (Consultation, Self) {
        let Replayed {
            consultation,
            effects,
            lost,
            timers,
            last_at,
        } = replayed;
        (
            consultation,
            Self::Again {
                effects,
                timers,
                lost,
                last_at,
                control: Box::new(control),
                tool_version: tool_version.into(),
            },
        )
    }
}

impl Driver<'_> {
    /// Runs a consultation from where it is to its end and returns every event of this run, in
    /// order.
    pub async fn run(self, consultation: &mut Consultation, begin: RunStart) -> Vec<Envelope> {
        let mut run = Run::new(self);
        match begin {
            RunStart::New => run.inputs.push_back(Input::Start),
            RunStart::Again {
                effects,
                timers,
                lost,
                last_at,
                control,
                tool_version,
            } => {
                run.with.clock = run.with.clock.not_before(last_at);
                run.timers = timers;
                for effect in effects {
                    run.carry_out(effect);
                }
                run.inputs.push_back(Input::Resume {
                    lost,
                    control,
                    tool_version,
                });
            }
        }
        loop {
            while let Some(input) = run.inputs.pop_front() {
                for effect in consultation.handle(run.with.clock.now(), input) {
                    run.carry_out(effect);
                }
            }
            if consultation.state().is_terminal() {
                return run.end().await;
            }
            run.wait().await;
        }
    }
}

/// A run under way.
struct Run<'a> {
    with: Driver<'a>,
    calls: Calls,
    monitor: Monitor,
    timers: BTreeSet<(Timestamp, TimerId)>,
    question: Option<BoxFuture<'a, Answer>>,
    /// Calls that have shown a sign of an answer.
    answering: BTreeSet<CallId>,
    /// What has happened and is not yet handed to the machine.
    inputs: VecDeque<Input>,
    history: Vec<Envelope>,
    any_call: bool,
    interruptible: bool,
}

impl<'a> Run<'a> {
    fn new(with: Driver<'a>) -> Self {
        Self {
            with,
            calls: Calls::new(),
            monitor: Monitor::new(),
            timers: BTreeSet::new(),
            question: None,
            answering: BTreeSet::new(),
            inputs: VecDeque::new(),
            history: Vec::new(),
            any_call: false,
            interruptible: true,
        }
    }

    fn carry_out(&mut self, effect: Effect) {
        match effect {
            Effect::Question(asked) => self.question = Some(ask(self.with.person, *asked)),
            // Dropped unanswered: an answer that is being typed, or is there but was not yet looked
            // for, goes nowhere.
            Effect::Withdraw => self.question = None,
            Effect::Ask(ask) => {
                self.any_call = true;
                self.calls
                    .start(self.with.providers.get(&ask.model.provider).cloned(), *ask);
            }
            Effect::Cancel(call) => self.calls.cancel(call),
            Effect::SetTimer { timer, at } => drop(self.timers.insert((at, timer))),
            Effect::Emit(envelope) => {
                tell(&mut self.with.subscribers, &envelope);
                self.history.push(*envelope);
            }
        }
    }

    /// Waits until something has happened. What is asked of the person stays open meanwhile.
    async fn wait(&mut self) {
        if self.any_call {
            // Not before anything may be asked at all.
            self.monitor.begin(self.with.providers);
        }
        let next_timer = self.timers.first().copied();
        tokio::select! {
            biased;
            interrupt = self.with.interrupts.recv(), if self.interruptible => {
                self.interruptible = interrupt.is_some();
                self.inputs.extend(interrupt.map(|()| Input::Interrupted));
            }
            news = self.calls.next() => self.hear(news),
            answer = answer(&mut self.question) => {
                self.question = None;
                self.inputs.push_back(Input::Answered(answer));
            }
            timer = fire(&self.with.clock, next_timer) => {
                self.timers.pop_first();
                self.inputs.push_back(Input::TimerFired { timer });
            }
            told = self.monitor.next() => self.inputs.push_back(told),
        }
    }

    fn hear(&mut self, news: News) {
        match news {
            News::Finished(call, provider, outcome) => {
                // What a failure says of its provider is known before it is decided what to do
                // about the failure.
                self.inputs.extend(self.monitor.called(&provider, &outcome));
                self.inputs.push_back(Input::Replied { call, outcome });
            }
            News::Delta(call, delta) => {
                for subscriber in &mut self.with.subscribers {
                    subscriber.delta(call, &delta);
                }
                if delta != Delta::Connected && self.answering.insert(call) {
                    self.inputs.push_back(Input::FirstToken { call });
                }
            }
        }
    }

    /// Drops all that is under way, and waits until every connection is closed.
    async fn end(self) -> Vec<Envelope> {
        drop(self.question);
        tokio::join!(self.calls.shut_down(), self.monitor.shut_down());
        self.history
    }
}

/// Tells everyone; who fails is dropped, and the others are told why, once.
fn tell(subscribers: &mut Vec<&mut dyn Subscriber>, envelope: &Envelope) {
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

/// Waits for the person's answer; for ever when nothing was asked.
async fn answer(question: &mut Option<BoxFuture<'_, Answer>>) -> Answer {
    match question {
        Some(answer) => answer.await,
        None => std::future::pending().await,
    }
}

/// Waits for the earliest timer; for ever when there is none. Never fires early.
async fn fire(clock: &Clock, timer: Option<(Timestamp, TimerId)>) -> TimerId {
    match timer {
        Some((at, timer)) => {
            tokio::time::sleep_until(clock.instant(at)).await;
            timer
        }
        None => std::future::pending().await,
    }
}
