//! Providers that answer by a script and keep the times of everything that they were asked.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use conclave::consultation::Consultation;
use conclave::consultation::answer::AnswerKind;
use conclave::consultation::call::{Ask, Outcome};
use conclave::consultation::event::Envelope;
use conclave::consultation::plan::Plan;
use conclave::consultation::protocol::{Answer, Question};
use conclave::domain::ids::ProviderId;
use conclave::domain::time::Timestamp;
use conclave::engine::clock::Clock;
use conclave::engine::driver::{Begin, Driver, Providers};
use conclave::engine::ports::{BoxFuture, Delta, Person, Provider, Subscriber};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep};

/// One call as its provider saw it, in time since the beginning of the run.
#[derive(Clone, Debug)]
pub(super) struct Attempt {
    pub(super) provider: String,
    pub(super) answer: AnswerKind,
    pub(super) began: Duration,
    /// `None` when the call was dropped.
    pub(super) ended: Option<Duration>,
    pub(super) failed: bool,
}

/// Where a provider is in its script when it is asked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked<'a> {
    pub(super) ask: &'a Ask,
    /// Counted from 1, by provider.
    pub(super) nth: usize,
    /// Since the beginning of the run.
    pub(super) at: Duration,
}

/// How long a call takes and what it brings.
type Script = Box<dyn Fn(Asked<'_>) -> (Duration, Outcome) + Send + Sync>;

struct Scripted {
    name: String,
    script: Script,
    began: Instant,
    attempts: Arc<Mutex<Vec<Attempt>>>,
}

impl std::fmt::Debug for Scripted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name)
    }
}

impl Provider for Scripted {
    fn ask<'a>(&'a self, ask: &'a Ask, _: &'a mut (dyn FnMut(Delta) + Send)) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            let began = self.began.elapsed();
            let (at, nth) = {
                let mut attempts = self.attempts.lock().unwrap();
                let provider = self.name.clone();
                attempts.push(Attempt { provider, answer: ask.answer, began, ended: None, failed: false });
                (attempts.len() - 1, attempts.iter().filter(|attempt| attempt.provider == self.name).count())
            };
            let (takes, outcome) = (self.script)(Asked { ask, nth, at: began });
            if !takes.is_zero() {
                sleep(takes).await;
            }
            let attempt = &mut self.attempts.lock().unwrap()[at];
            (attempt.ended, attempt.failed) = (Some(self.began.elapsed()), outcome.is_err());
            outcome
        })
    }
}

/// Providers by name, all on one clock.
pub(super) struct Stage {
    pub(super) began: Instant,
    providers: Providers,
    attempts: Arc<Mutex<Vec<Attempt>>>,
}

impl Stage {
    pub(super) fn new() -> Self {
        Self { began: Instant::now(), providers: BTreeMap::new(), attempts: Arc::default() }
    }

    pub(super) fn provider(mut self, name: &str, script: impl Fn(Asked<'_>) -> (Duration, Outcome) + Send + Sync + 'static) -> Self {
        let (name, attempts) = (name.to_owned(), Arc::clone(&self.attempts));
        let scripted = Scripted { name: name.clone(), script: Box::new(script), began: self.began, attempts };
        self.providers.insert(ProviderId::new(name), Arc::new(scripted));
        self
    }

    /// Every call so far, in the order in which they went out.
    pub(super) fn attempts(&self) -> Vec<Attempt> {
        self.attempts.lock().unwrap().clone()
    }

    /// The calls to one provider.
    pub(super) fn attempts_at(&self, provider: &str) -> Vec<Attempt> {
        self.attempts().into_iter().filter(|attempt| attempt.provider == provider).collect()
    }

    pub(super) async fn play(&self, plan: Plan) -> Vec<Envelope> {
        run(plan, &self.providers, Vec::new(), no_interrupts()).await
    }

    /// Asks for an end after this time.
    pub(super) async fn play_interrupted(&self, plan: Plan, after: Duration) -> Vec<Envelope> {
        let (interrupt, interrupts) = mpsc::unbounded_channel();
        let (history, ()) = tokio::join!(run(plan, &self.providers, Vec::new(), interrupts), async {
            sleep(after).await;
            interrupt.send(()).unwrap();
        });
        history
    }
}

#[derive(Debug)]
pub(super) struct Says(pub(super) Answer);

impl Person for Says {
    fn ask<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Answer> {
        Box::pin(std::future::ready(self.0))
    }
}

pub(super) async fn run<'a>(
    plan: Plan,
    providers: &'a Providers,
    subscribers: Vec<&'a mut dyn Subscriber>,
    interrupts: mpsc::UnboundedReceiver<()>,
) -> Vec<Envelope> {
    let mut consultation = Consultation::new(plan);
    let driver = Driver { clock: Clock::starting(Timestamp(0)), providers, subscribers, person: &Says(Answer::Yes), interrupts };
    driver.run(&mut consultation, Begin::New).await
}

pub(super) fn no_interrupts() -> mpsc::UnboundedReceiver<()> {
    mpsc::unbounded_channel().1
}
