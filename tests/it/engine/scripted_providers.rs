//! Scripted providers that record the times of all calls and checks.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use conclave::consultation::Consultation;
use conclave::consultation::event::{Answer, Envelope, StateName};
use conclave::consultation::machine::Question;
use conclave::consultation::plan::Plan;
use conclave::consultation::protocol::answer::AnswerKind;
use conclave::consultation::protocol::call::{Ask, Failure, Outcome};
use conclave::consultation::transcript::Transcript;
use conclave::domain::ids::ProviderId;
use conclave::domain::time::Timestamp;
use conclave::engine::clock::Clock;
use conclave::engine::dispatcher::Dispatcher;
use conclave::engine::dispatcher::budget::SharedBudget;
use conclave::engine::dispatcher::pool::PoolRules;
use conclave::engine::driver::{Driver, RunStart};
use conclave::engine::ports::{BoxFuture, Delta, OnDelta, Person, Provider, Providers, Subscriber};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep};

use crate::support::script::good;
use crate::support::timeout::in_virtual_time;

/// A call as the provider saw it, with times since the start of the run.
#[derive(Clone, Debug)]
pub(super) struct Attempt {
    pub(super) provider: String,
    pub(super) answer: AnswerKind,
    pub(super) began: Duration,
    /// `None` if the call was dropped.
    pub(super) ended: Option<Duration>,
    pub(super) failed: bool,
}

/// A call to a scripted provider.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScriptedCall<'a> {
    pub(super) ask: &'a Ask,
    /// The number of the call, counted from 1 for each provider.
    pub(super) nth: usize,
    /// The time since the start of the run.
    pub(super) at: Duration,
}

/// Returns the duration and outcome of a call.
type Script = Box<dyn Fn(ScriptedCall<'_>) -> (Duration, Outcome) + Send + Sync>;

/// Returns the duration and result of the nth check, counted from 1.
type CheckScript = Box<dyn Fn(usize) -> (Duration, Result<(), Failure>) + Send + Sync>;

/// A health check as the provider saw it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Check {
    pub(super) provider: String,
    pub(super) began: Duration,
    /// When it finished or was dropped.
    pub(super) ended: Option<Duration>,
    pub(super) dropped: bool,
}

struct ScriptedProvider {
    name: String,
    script: Script,
    check: Option<CheckScript>,
    began: Instant,
    attempts: Arc<Mutex<Vec<Attempt>>>,
    checks: Arc<Mutex<Vec<Check>>>,
}

impl std::fmt::Debug for ScriptedProvider {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name)
    }
}

impl Provider for ScriptedProvider {
    fn ask<'a>(&'a self, ask: &'a Ask, on: OnDelta<'a>) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            let began = self.began.elapsed();
            let (at, nth) = {
                let mut attempts = self.attempts.lock().unwrap();
                let provider = self.name.clone();
                attempts.push(Attempt {
                    provider,
                    answer: ask.answer,
                    began,
                    ended: None,
                    failed: false,
                });
                let own = attempts.iter().filter(|one| one.provider == self.name);
                (attempts.len() - 1, own.count())
            };
            on(Delta::Connected);
            let at_start = ScriptedCall {
                ask,
                nth,
                at: began,
            };
            let (takes, outcome) = (self.script)(at_start);
            if !takes.is_zero() {
                sleep(takes).await;
            }
            let attempt = &mut self.attempts.lock().unwrap()[at];
            (attempt.ended, attempt.failed) = (Some(self.began.elapsed()), outcome.is_err());
            outcome
        })
    }

    fn check(&self) -> Option<BoxFuture<'_, Result<(), Failure>>> {
        let script = self.check.as_ref()?;
        Some(Box::pin(async move {
            let mut recorder = CheckRecorder {
                provider: self,
                at: 0,
                dropped: true,
            };
            let nth = {
                let mut checks = self.checks.lock().unwrap();
                checks.push(Check {
                    provider: self.name.clone(),
                    began: self.began.elapsed(),
                    ended: None,
                    dropped: false,
                });
                recorder.at = checks.len() - 1;
                let own = checks.iter().filter(|one| one.provider == self.name);
                own.count()
            };
            let (takes, result) = script(nth);
            sleep(takes).await;
            recorder.dropped = false;
            result
        }))
    }
}

/// Records the end of a check, also when it is dropped.
struct CheckRecorder<'a> {
    provider: &'a ScriptedProvider,
    at: usize,
    dropped: bool,
}

impl Drop for CheckRecorder<'_> {
    fn drop(&mut self) {
        let check = &mut self.provider.checks.lock().unwrap()[self.at];
        (check.ended, check.dropped) = (Some(self.provider.began.elapsed()), self.dropped);
    }
}

/// Scripted providers by name, with a common clock.
pub(super) struct Stage {
    pub(super) began: Instant,
    providers: Providers,
    attempts: Arc<Mutex<Vec<Attempt>>>,
    checks: Arc<Mutex<Vec<Check>>>,
}

impl Stage {
    pub(super) fn new() -> Self {
        Self {
            began: Instant::now(),
            providers: BTreeMap::new(),
            attempts: Arc::default(),
            checks: Arc::default(),
        }
    }

    /// Starts the three vendors of the plans, which answer after this time.
    pub(super) fn answering(after: Duration) -> Self {
        ["anthropic", "openai", "google"]
            .into_iter()
            .fold(Self::new(), |stage, name| {
                stage.provider(name, move |call| (after, good(call.ask)))
            })
    }

    /// Adds a provider, or replaces it.
    pub(super) fn provider(
        self,
        name: &str,
        script: impl Fn(ScriptedCall<'_>) -> (Duration, Outcome) + Send + Sync + 'static,
    ) -> Self {
        self.with(name, Box::new(script), None)
    }

    /// Adds a provider with health checks.
    pub(super) fn checked_provider(
        self,
        name: &str,
        script: impl Fn(ScriptedCall<'_>) -> (Duration, Outcome) + Send + Sync + 'static,
        check: impl Fn(usize) -> (Duration, Result<(), Failure>) + Send + Sync + 'static,
    ) -> Self {
        self.with(name, Box::new(script), Some(Box::new(check)))
    }

    fn with(mut self, name: &str, script: Script, check: Option<CheckScript>) -> Self {
        let (attempts, checks) = (Arc::clone(&self.attempts), Arc::clone(&self.checks));
        let scripted = ScriptedProvider {
            name: name.to_owned(),
            script,
            check,
            began: self.began,
            attempts,
            checks,
        };
        self.providers
            .insert(ProviderId::new(name), Arc::new(scripted));
        self
    }

    pub(super) fn providers(&self) -> &Providers {
        &self.providers
    }

    /// Returns all checks so far, in the order of their start.
    pub(super) fn checks(&self) -> Vec<Check> {
        self.checks.lock().unwrap().clone()
    }

    /// Returns all calls so far, in the order of their start.
    pub(super) fn attempts(&self) -> Vec<Attempt> {
        self.attempts.lock().unwrap().clone()
    }

    /// Returns the calls to one provider.
    pub(super) fn attempts_at(&self, provider: &str) -> Vec<Attempt> {
        self.attempts()
            .into_iter()
            .filter(|attempt| attempt.provider == provider)
            .collect()
    }

    pub(super) async fn play(&self, plan: Plan) -> Vec<Envelope> {
        self.play_for(plan, Vec::new()).await
    }

    pub(super) async fn play_for<'a>(
        &'a self,
        plan: Plan,
        subscribers: Vec<&'a mut dyn Subscriber>,
    ) -> Vec<Envelope> {
        run(plan, &self.providers, subscribers, no_interrupts()).await
    }

    /// Runs a consultation and interrupts it after this time.
    pub(super) async fn play_interrupted(&self, plan: Plan, after: Duration) -> Vec<Envelope> {
        let (interrupt, interrupts) = mpsc::unbounded_channel();
        let run = run(plan, &self.providers, Vec::new(), interrupts);
        tokio::join!(run, interrupted_after(after, interrupt)).0
    }
}

/// Gives this answer to every question after this time.
#[derive(Debug)]
pub(super) struct ScriptedUser {
    answer: Answer,
    after: Duration,
}

pub(super) const YES: ScriptedUser = ScriptedUser {
    answer: Answer::Yes,
    after: Duration::ZERO,
};

impl ScriptedUser {
    pub(super) fn after(after: Duration, answer: Answer) -> Self {
        Self { answer, after }
    }
}

impl Person for ScriptedUser {
    fn ask<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Answer> {
        Box::pin(async {
            if !self.after.is_zero() {
                sleep(self.after).await;
            }
            self.answer
        })
    }
}

/// Returns a driver with a process of its own, which starts now.
pub(super) fn driver<'a>(providers: &'a Providers, person: &'a dyn Person) -> Driver<'a> {
    let clock = Clock::starting(Timestamp(0));
    Driver {
        clock,
        providers,
        dispatcher: Dispatcher::new(clock, PoolRules::default()),
        budgets: Vec::new(),
        subscribers: Vec::new(),
        person,
        interrupts: no_interrupts(),
    }
}

/// Drives a consultation to its end.
pub(super) async fn drive(
    driver: Driver<'_>,
    consultation: &mut Consultation,
    start: RunStart,
) -> Vec<Envelope> {
    in_virtual_time("the end of the run", driver.run(consultation, start)).await
}

pub(super) async fn run<'a>(
    plan: Plan,
    providers: &'a Providers,
    subscribers: Vec<&'a mut dyn Subscriber>,
    interrupts: mpsc::UnboundedReceiver<()>,
) -> Vec<Envelope> {
    let driver = driver(providers, &YES);
    let driver = Driver {
        dispatcher: Dispatcher::new(driver.clock, PoolRules::seeded(plan.seed)),
        subscribers,
        interrupts,
        ..driver
    };
    drive(driver, &mut Consultation::new(plan), RunStart::New).await
}

/// Runs a consultation beside others of the process.
pub(super) async fn run_beside(
    dispatcher: Dispatcher,
    budgets: Vec<Arc<dyn SharedBudget>>,
    plan: Plan,
    providers: &Providers,
    interrupts: mpsc::UnboundedReceiver<()>,
) -> Vec<Envelope> {
    let driver = Driver {
        clock: *dispatcher.clock(),
        dispatcher,
        budgets,
        interrupts,
        ..driver(providers, &YES)
    };
    drive(driver, &mut Consultation::new(plan), RunStart::New).await
}

pub(super) fn no_interrupts() -> mpsc::UnboundedReceiver<()> {
    mpsc::unbounded_channel().1
}

pub(super) async fn interrupted_after(after: Duration, interrupt: mpsc::UnboundedSender<()>) {
    sleep(after).await;
    interrupt.send(()).unwrap();
}

pub(super) fn state(history: &[Envelope]) -> StateName {
    Transcript::fold(history).unwrap().state
}

/// Returns the highest number of simultaneous calls.
pub(super) fn most_at_once(attempts: &[Attempt]) -> usize {
    let at_once = |moment: Duration| {
        let in_flight =
            |one: &&Attempt| one.began <= moment && one.ended.is_none_or(|ended| ended > moment);
        attempts.iter().filter(in_flight).count()
    };
    let moments = attempts.iter().map(|attempt| attempt.began);
    moments.map(at_once).max().unwrap_or(0)
}
