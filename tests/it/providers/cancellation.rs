//! Calls and checks that the driver drops, over real connections: how soon the server sees its
//! connection closed.

use std::time::{Duration, Instant};

use conclave::consultation::Consultation;
use conclave::consultation::event::StateName;
use conclave::consultation::plan::Plan;
use conclave::consultation::policy::hedging::HedgeRule;
use conclave::domain::time::Timestamp;
use conclave::engine::clock::Clock;
use conclave::engine::dispatcher::Dispatcher;
use conclave::engine::dispatcher::pool::PoolRules;
use conclave::engine::driver::{Driver, RunStart};
use conclave::engine::ports::Provider;
use tokio::sync::mpsc;

use super::many::{NoPerson, providers};
use super::{VENDORS, cloud, settled, usual};
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

fn closed(requests: &[RecordedRequest]) -> bool {
    requests.iter().all(|request| request.finished.is_some())
}

/// Runs a consultation until `seen` ends, which interrupts it.
async fn run_until(server: &ProviderServer, plan: Plan, seen: impl Future<Output = ()>) -> Instant {
    let providers = providers(server);
    let mut consultation = Consultation::new(plan);
    let (interrupt, interrupts) = mpsc::unbounded_channel();
    let clock = Clock::starting(Timestamp(0));
    let driver = Driver {
        clock,
        providers: &providers,
        dispatcher: Dispatcher::new(clock, PoolRules::default()),
        budgets: Vec::new(),
        subscribers: Vec::new(),
        person: &NoPerson,
        interrupts,
    };
    let run = driver.run(&mut consultation, RunStart::New);
    let end = async {
        seen.await;
        let interrupted = now();
        interrupt.send(()).unwrap();
        interrupted
    };
    let both = async { tokio::join!(run, end) };
    let (_, interrupted) = in_time("the end of the run", both).await;
    assert_eq!(consultation.state(), StateName::Aborted);
    interrupted
}

#[tokio::test]
async fn an_interrupt_closes_all_connections_at_once() {
    let server = ProviderServer::start();
    server.on(On::any(), Answer::text("never to be finished").stall());
    let check = Answer::http(200, "application/json", "[1, 2, 3, 4]").stall();
    server.on_free(On::any(), check);
    let all_asked = server.sees("everyone is asked", |server| {
        (server.requests().len(), server.free_requests().len()) == (3, 3)
    });
    let interrupted = run_until(&server, plan(), all_asked).await;
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
    let loser_is_closed = server.sees("the loser is closed", |server| {
        let requests = server.requests_to(Vendor::Anthropic);
        requests.iter().any(|request| request.finished.is_some())
    });
    // That is all there is to see.
    run_until(&server, plan, loser_is_closed).await;
    let loser = server.requests_to(Vendor::Anthropic).swap_remove(0);
    let winner = server.requests_to(Vendor::OpenAi).swap_remove(1);
    let (end, start) = (loser.finished.unwrap(), winner.finished.unwrap());
    let took = end.saturating_duration_since(start);
    assert!(took < AT_ONCE, "{took:?}");
    assert!(!loser.complete && winner.complete);
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
        for (at, vendor) in VENDORS.into_iter().enumerate() {
            let (cloud, ask) = (cloud(vendor, &server), usual(vendor));
            let mut on = |_| {};
            let mut call = cloud.ask(&ask, &mut on);
            tokio::select! {
                outcome = &mut call => panic!("the server stalls, and yet: {outcome:?}"),
                () = server.sees("it is asked", |server| server.requests().len() == at + 1) => {}
            }
            let dropped = now();
            drop(call);
            settled(&server).await;
            let request = server.requests().swap_remove(at);
            let took = request.finished.unwrap().saturating_duration_since(dropped);
            assert!(took < AT_ONCE, "{stage}: {took:?} {request:?}");
            assert!(!request.complete, "{stage}: {request:?}");
        }
    }
}
