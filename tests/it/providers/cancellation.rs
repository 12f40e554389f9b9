//! Calls and checks that the driver drops, over real connections: how soon the server sees its
//! connection closed.

use std::sync::Arc;
use std::time::{Duration, Instant};

use conclave::consultation::Consultation;
use conclave::consultation::event::{Answer as PersonsAnswer, StateName};
use conclave::consultation::machine::Question;
use conclave::consultation::policy::hedging::HedgeRule;
use conclave::domain::ids::ProviderId;
use conclave::domain::time::Timestamp;
use conclave::engine::clock::Clock;
use conclave::engine::dispatcher::Dispatcher;
use conclave::engine::dispatcher::pool::PoolRules;
use conclave::engine::driver::{Driver, RunStart};
use conclave::engine::ports::{BoxFuture, Person, Provider, Providers};
use tokio::sync::mpsc;

use super::{VENDORS, ask, cloud};
use crate::support::provider_server::{Answer, On, ProviderServer, RecordedRequest, Vendor};
use crate::support::script::plan;
use crate::support::timeout::in_time;

/// The longest time from dropping a call until the server sees its connection closed, on a busy
/// machine: less than the client's own limits. The calls would never end by themselves;
/// `benches/process.rs` measures the time.
const AT_ONCE: Duration = Duration::from_secs(20);
/// Longer than any test.
const FOR_EVER: Duration = Duration::from_secs(3_600);

#[expect(
    clippy::disallowed_methods,
    reason = "both ends of a connection are measured by the same clock"
)]
fn now() -> Instant {
    Instant::now()
}

#[derive(Debug)]
struct NoPerson;

impl Person for NoPerson {
    fn ask<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, PersonsAnswer> {
        Box::pin(std::future::ready(PersonsAnswer::Gone))
    }
}

fn providers(server: &ProviderServer) -> Providers {
    let provider = |vendor| -> Arc<dyn Provider> { Arc::new(cloud(vendor, server)) };
    VENDORS
        .into_iter()
        .map(|(vendor, _)| (ProviderId::new(vendor.id()), provider(vendor)))
        .collect()
}

fn closed(requests: &[RecordedRequest]) -> bool {
    requests.iter().all(|request| request.finished.is_some())
}

fn stalling() -> ProviderServer {
    let server = ProviderServer::start();
    server.on(On::any(), Answer::text("never to be finished").stall());
    server.on_free(
        On::any(),
        Answer::http(200, "application/json", "[1, 2, 3, 4]").stall(),
    );
    server
}

#[tokio::test]
async fn an_interrupt_closes_all_connections_at_once() {
    let server = stalling();
    let providers = providers(&server);
    let mut consultation = Consultation::new(plan());
    let (interrupt, interrupts) = mpsc::unbounded_channel();
    let driver = Driver {
        clock: Clock::starting(Timestamp(0)),
        providers: &providers,
        dispatcher: Dispatcher::new(Clock::starting(Timestamp(0)), PoolRules::default()),
        budgets: Vec::new(),
        subscribers: Vec::new(),
        person: &NoPerson,
        interrupts,
    };
    let run = driver.run(&mut consultation, RunStart::New);
    let end = async {
        server
            .sees("everyone is asked", |server| {
                (server.requests().len(), server.free_requests().len()) == (3, 3)
            })
            .await;
        let interrupted = now();
        interrupt.send(()).unwrap();
        interrupted
    };
    let both = async { tokio::join!(run, end) };
    let (_, interrupted) = in_time("the end of the run", both).await;
    assert_eq!(consultation.state(), StateName::Aborted);
    server
        .sees("all are closed", |server| {
            closed(&server.requests()) && closed(&server.free_requests())
        })
        .await;
    for request in server.requests().iter().chain(&server.free_requests()) {
        assert!(!request.complete, "{request:?}");
        let took = request
            .finished
            .unwrap()
            .saturating_duration_since(interrupted);
        assert!(took < AT_ONCE, "{took:?} {request:?}");
    }
}

#[tokio::test]
async fn the_losing_call_of_a_hedge_is_closed_at_once() {
    let server = ProviderServer::start();
    server.on(
        On::vendor(Vendor::Anthropic),
        Answer::text("never to be finished").delay(FOR_EVER),
    );
    let mut plan = plan();
    let [slow, backup] = [plan.panel.seats[0].clone(), plan.panel.seats[1].clone()];
    plan.fallbacks = [(slow.id, vec![backup.model])].into();
    plan.control.hedge = HedgeRule {
        after: Some(Duration::from_millis(50)),
        ..HedgeRule::default()
    };
    let (providers, mut consultation) = (providers(&server), Consultation::new(plan));
    let (interrupt, interrupts) = mpsc::unbounded_channel();
    let driver = Driver {
        clock: Clock::starting(Timestamp(0)),
        providers: &providers,
        dispatcher: Dispatcher::new(Clock::starting(Timestamp(0)), PoolRules::default()),
        budgets: Vec::new(),
        subscribers: Vec::new(),
        person: &NoPerson,
        interrupts,
    };
    let run = driver.run(&mut consultation, RunStart::New);
    let end = async {
        let is_loser = |request: &RecordedRequest| {
            request.vendor == Some(Vendor::Anthropic) && request.finished.is_some()
        };
        server
            .sees("the loser is closed", |server| {
                server.requests().iter().any(is_loser)
            })
            .await;
        // That is all there is to see.
        interrupt.send(()).unwrap();
    };
    let both = async { tokio::join!(run, end) };
    in_time("the end of the run", both).await;
    let requests = server.requests();
    let loser = requests
        .iter()
        .find(|request| request.vendor == Some(Vendor::Anthropic))
        .unwrap();
    let winner = requests
        .iter()
        .filter(|request| request.vendor == Some(Vendor::OpenAi))
        .nth(1)
        .unwrap();
    let took = loser
        .finished
        .unwrap()
        .saturating_duration_since(winner.finished.unwrap());
    assert!(
        took < AT_ONCE && !loser.complete && winner.complete,
        "{took:?}"
    );
}

#[tokio::test]
async fn a_dropped_call_closes_its_connection_at_once() {
    let text = || Answer::text("a text of several pieces").pieces(8);
    let stages = [
        ("before the head", text().delay(FOR_EVER)),
        ("before the first byte", text().silence(FOR_EVER)),
        ("half way", text().stall()),
    ];
    for (stage, answer) in stages {
        let server = ProviderServer::start();
        server.on(On::any(), answer);
        for (at, (vendor, model)) in VENDORS.into_iter().enumerate() {
            let (cloud, ask) = (cloud(vendor, &server), ask(vendor, model));
            let mut on = |_| {};
            let mut call = cloud.ask(&ask, &mut on);
            tokio::select! {
                outcome = &mut call => panic!("the server stalls, and yet: {outcome:?}"),
                () = server.sees("it is asked", |server| server.requests().len() == at + 1) => {}
            }
            let dropped = now();
            drop(call);
            server
                .sees("it is closed", |server| closed(&server.requests()))
                .await;
            let request = server.requests().swap_remove(at);
            let took = request.finished.unwrap().saturating_duration_since(dropped);
            assert!(
                took < AT_ONCE && !request.complete,
                "{stage}: {took:?} {request:?}"
            );
        }
    }
}
