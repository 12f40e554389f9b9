//! One task, one ordered history: takes whatever happens next, hands it to the machine, and does what the machine wants done.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use tokio::sync::mpsc;

use crate::consultation::Consultation;
use crate::consultation::event::Envelope;
use crate::consultation::plan::Control;
use crate::consultation::protocol::{Answer, Effect, Input, Question, TimerId};
use crate::domain::ids::{CallId, ProviderId};
use crate::domain::time::Timestamp;

use super::calls::{Calls, News};
use super::clock::Clock;
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
#[derive(Debug)]
pub enum Begin {
    Anew,
    /// From where its log left it.
    Again {
        /// What was still to be done.
        effects: Vec<Effect>,
        timers: BTreeSet<(Timestamp, TimerId)>,
        lost: Vec<CallId>,
        control: Box<Control>,
        tool_version: String,
    },
}

impl Driver<'_> {
    /// Runs a consultation that has not begun.
    pub async fn run(self, consultation: &mut Consultation) -> Vec<Envelope> {
        self.run_from(consultation, Begin::Anew).await
    }

    /// Runs a consultation from where it is to its end and returns every event of this run, in order.
    pub async fn run_from(mut self, consultation: &mut Consultation, begin: Begin) -> Vec<Envelope> {
        let mut calls = Calls::new();
        let (mut effects, mut timers, first) = match begin {
            Begin::Anew => (Vec::new(), BTreeSet::new(), Input::Start),
            Begin::Again { effects, timers, lost, control, tool_version } => {
                (effects, timers, Input::Resume { lost, control, tool_version })
            }
        };
        let mut question: Option<BoxFuture<'_, Answer>> = None;
        let mut answering: BTreeSet<CallId> = BTreeSet::new();
        let mut inputs = VecDeque::from([first]);
        let mut history = Vec::new();
        let mut interruptible = true;

        loop {
            loop {
                for effect in std::mem::take(&mut effects) {
                    match effect {
                        Effect::Question(asked) => question = Some(ask(self.person, *asked)),
                        Effect::Withdraw => question = None,
                        Effect::Ask(ask) => calls.start(self.providers.get(&ask.model.provider).cloned(), *ask),
                        Effect::Cancel(call) => calls.cancel(call),
                        Effect::SetTimer { timer, at } => drop(timers.insert((at, timer))),
                        Effect::Emit(envelope) => {
                            tell(&mut self.subscribers, &envelope);
                            history.push(*envelope);
                        }
                    }
                }
                let Some(input) = inputs.pop_front() else { break };
                effects = consultation.handle(self.clock.now(), input);
            }
            if consultation.state().is_terminal() {
                break;
            }
            let next_timer = timers.first().copied();
            let input = tokio::select! {
                biased;
                interrupt = self.interrupts.recv(), if interruptible => {
                    interruptible = interrupt.is_some();
                    interrupt.map(|()| Input::Interrupted)
                }
                news = calls.next() => match news {
                    News::Finished(call, outcome) => Some(Input::Replied { call, outcome }),
                    News::Delta(call, delta) => {
                        for subscriber in &mut self.subscribers {
                            subscriber.delta(call, &delta);
                        }
                        let first = delta != Delta::Connected && answering.insert(call);
                        first.then_some(Input::FirstToken { call })
                    }
                },
                answer = answer(&mut question) => {
                    question = None;
                    Some(Input::Answered(answer))
                }
                timer = fire(&self.clock, next_timer) => {
                    timers.pop_first();
                    Some(Input::TimerFired { timer })
                }
            };
            inputs.extend(input);
        }
        calls.shut_down().await;
        history
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
