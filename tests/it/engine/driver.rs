//! The driver: concurrent calls, interrupts, panics and failing subscribers.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use conclave::consultation::Consultation;
use conclave::consultation::event::{Answer, CallEvent, Envelope, Event, StateName};
use conclave::consultation::protocol::call::{Ask, FailureClass};
use conclave::consultation::transcript::Transcript;
use conclave::domain::ids::ProviderId;
use conclave::domain::money::MicroUsd;
use conclave::domain::time::Timestamp;
use conclave::engine::clock::Clock;
use conclave::engine::dispatcher::Dispatcher;
use conclave::engine::dispatcher::pool::PoolRules;
use conclave::engine::driver::{Driver, RunStart};
use conclave::engine::ports::{BoxFuture, Delta, Provider, Providers, Subscriber, SubscriberError};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep};

use super::scripted_providers::{ScriptedUser, no_interrupts, run};
use crate::support::script::{failure, good, plan};
use crate::support::timeout::in_virtual_time;

/// The calls to the fake providers.
#[derive(Debug, Default)]
struct FakeCalls {
    log: Mutex<Vec<(String, Instant)>>,
    dropped: AtomicUsize,
    calls: AtomicUsize,
}

#[derive(Debug, Clone, Copy)]
enum Behaviour {
    Takes(u64),
    Panics,
    OverloadedOnce,
}

#[derive(Debug)]
struct FakeProvider {
    fake: Arc<FakeCalls>,
    behaviour: Behaviour,
}

struct CountsDrops<'a>(&'a AtomicUsize);

impl Drop for CountsDrops<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl Provider for FakeProvider {
    fn ask<'a>(
        &'a self,
        ask: &'a Ask,
        on: &'a mut (dyn FnMut(Delta) + Send),
    ) -> BoxFuture<'a, conclave::consultation::protocol::call::Outcome> {
        Box::pin(async move {
            let number = self.fake.calls.fetch_add(1, Ordering::SeqCst);
            self.fake
                .log
                .lock()
                .unwrap()
                .push((ask.model.to_string(), Instant::now()));
            let guard = CountsDrops(&self.fake.dropped);
            on(Delta::Connected);
            match self.behaviour {
                Behaviour::Takes(ms) => sleep(Duration::from_millis(ms)).await,
                Behaviour::Panics => panic!("a bug in a codec"),
                Behaviour::OverloadedOnce if number == 0 => {
                    return failure(FailureClass::Overload, "overloaded");
                }
                Behaviour::OverloadedOnce => {}
            }
            on(Delta::Text("{".to_owned()));
            std::mem::forget(guard);
            good(ask)
        })
    }
}

fn providers(behaviours: [(&str, Behaviour); 3]) -> (Providers, Arc<FakeCalls>) {
    let fake = Arc::new(FakeCalls::default());
    let providers = behaviours.into_iter().map(|(name, behaviour)| {
        let provider: Arc<dyn Provider> = Arc::new(FakeProvider {
            fake: fake.clone(),
            behaviour,
        });
        (ProviderId::new(name), provider)
    });
    (providers.collect::<BTreeMap<_, _>>(), fake)
}

fn three_providers(behaviour: Behaviour) -> (Providers, Arc<FakeCalls>) {
    providers([
        ("anthropic", behaviour),
        ("openai", Behaviour::Takes(100)),
        ("google", Behaviour::Takes(100)),
    ])
}

#[tokio::test(start_paused = true)]
async fn round_1_takes_as_long_as_its_slowest_expert() {
    let (providers, fake) = providers([
        ("anthropic", Behaviour::Takes(1_000)),
        ("openai", Behaviour::Takes(1_500)),
        ("google", Behaviour::Takes(2_000)),
    ]);
    let history = run(plan(), &providers, Vec::new(), no_interrupts()).await;
    let transcript = Transcript::fold(&history).unwrap();
    assert_eq!(transcript.state, StateName::Complete);
    assert_eq!(transcript.rounds[0], (1, Duration::from_secs(2)));
    let log = fake.log.lock().unwrap();
    assert!(
        log[..3].iter().all(|(_, at)| *at == log[0].1),
        "all three go out at once"
    );
    assert_eq!(log.len(), 9);
}

/// Answers, and interrupts the run in the same instant.
#[derive(Debug)]
struct InterruptingProvider(mpsc::UnboundedSender<()>);

impl Provider for InterruptingProvider {
    fn ask<'a>(
        &'a self,
        ask: &'a Ask,
        _: &'a mut (dyn FnMut(Delta) + Send),
    ) -> BoxFuture<'a, conclave::consultation::protocol::call::Outcome> {
        Box::pin(async move {
            self.0.send(()).unwrap();
            good(ask)
        })
    }
}

#[tokio::test(start_paused = true)]
async fn answers_that_arrive_with_an_interrupt_are_kept() {
    let (interrupt, interrupts) = mpsc::unbounded_channel();
    let provider: Arc<dyn Provider> = Arc::new(InterruptingProvider(interrupt));
    let names = ["anthropic", "openai", "google"];
    let providers = names.map(|name| (ProviderId::new(name), provider.clone()));
    let history = run(plan(), &BTreeMap::from(providers), Vec::new(), interrupts).await;
    let transcript = Transcript::fold(&history).unwrap();
    assert_eq!(transcript.state, StateName::Aborted);
    assert_eq!(transcript.calls.len(), 3);
    assert_eq!(transcript.artifacts.len(), 3);
}

#[tokio::test(start_paused = true)]
async fn interrupt_drops_the_connections_at_once() {
    let (providers, fake) = three_providers(Behaviour::Takes(60_000));
    let (interrupt, interrupts) = mpsc::unbounded_channel();
    let began = Instant::now();
    let (history, ()) = tokio::join!(run(plan(), &providers, Vec::new(), interrupts), async {
        sleep(Duration::from_millis(50)).await;
        interrupt.send(()).unwrap();
    });
    assert_eq!(began.elapsed(), Duration::from_millis(50));
    assert_eq!(fake.dropped.load(Ordering::SeqCst), 3);
    assert_eq!(
        Transcript::fold(&history).unwrap().state,
        StateName::Aborted
    );
}

#[tokio::test(start_paused = true)]
async fn panicking_call_becomes_a_failed_seat() {
    let (providers, _) = three_providers(Behaviour::Panics);
    let mut plan = plan();
    plan.panel.judges.truncate(1);
    let transcript =
        Transcript::fold(&run(plan, &providers, Vec::new(), no_interrupts()).await).unwrap();
    assert_eq!(transcript.state, StateName::Complete);
    assert_eq!(
        transcript.failures[0].error.class,
        Some(FailureClass::Internal)
    );
}

#[tokio::test(start_paused = true)]
async fn retry_waits_and_then_succeeds() {
    let (providers, fake) = three_providers(Behaviour::OverloadedOnce);
    let history = run(plan(), &providers, Vec::new(), no_interrupts()).await;
    let transcript = Transcript::fold(&history).unwrap();
    assert!(transcript.degradations().is_empty());
    assert_eq!(fake.calls.load(Ordering::SeqCst), 10);
    let waited = history.iter().find_map(|envelope| match envelope.event {
        Event::Call(CallEvent::Retried { wait_ms, .. }) => Some(Duration::from_millis(wait_ms)),
        _ => None,
    });
    let anthropic: Vec<Instant> = fake
        .log
        .lock()
        .unwrap()
        .iter()
        .filter(|(model, _)| model.starts_with("anthropic"))
        .map(|(_, at)| *at)
        .collect();
    assert!(
        anthropic[1] - anthropic[0] >= waited.unwrap(),
        "the retry comes too early"
    );
}

#[tokio::test(start_paused = true)]
async fn consent_is_asked_before_any_call() {
    let (providers, fake) = three_providers(Behaviour::Takes(1));
    let mut plan = plan();
    plan.control.consent.always_allow_under = MicroUsd::ZERO;
    let mut consultation = Consultation::new(plan);
    let driver = Driver {
        clock: Clock::starting(Timestamp(0)),
        providers: &providers,
        dispatcher: Dispatcher::new(Clock::starting(Timestamp(0)), PoolRules::default()),
        budgets: Vec::new(),
        subscribers: Vec::new(),
        person: &ScriptedUser::at_once(Answer::No),
        interrupts: no_interrupts(),
    };
    let run = driver.run(&mut consultation, RunStart::New);
    in_virtual_time("the end of the run", run).await;
    assert_eq!(consultation.state(), StateName::Aborted);
    assert_eq!(fake.calls.load(Ordering::SeqCst), 0);
}

#[derive(Debug, Default)]
struct Listener {
    received: usize,
    deltas: usize,
    fails_at: Option<usize>,
    troubles: Vec<String>,
}

impl Subscriber for Listener {
    fn event(&mut self, _: &Envelope) -> Result<(), SubscriberError> {
        self.received += 1;
        if Some(self.received) == self.fails_at {
            Err(SubscriberError("the disk is full".to_owned()))
        } else {
            Ok(())
        }
    }

    fn delta(&mut self, _: conclave::domain::ids::CallId, _: &Delta) {
        self.deltas += 1;
    }

    fn trouble(&mut self, what: &str) {
        self.troubles.push(what.to_owned());
    }
}

#[tokio::test(start_paused = true)]
async fn failing_subscriber_is_reported_once_and_does_no_harm() {
    let (providers, _) = three_providers(Behaviour::Takes(1));
    let mut failing = Listener {
        fails_at: Some(5),
        ..Listener::default()
    };
    let mut other = Listener::default();
    let history = run(
        plan(),
        &providers,
        vec![&mut failing, &mut other],
        no_interrupts(),
    )
    .await;
    assert_eq!(failing.received, 5);
    assert_eq!(other.troubles, ["the disk is full"]);
    assert_eq!(other.received, history.len());
    assert_eq!(other.deltas, 18);
    assert_eq!(
        Transcript::fold(&history).unwrap().state,
        StateName::Complete
    );
}
