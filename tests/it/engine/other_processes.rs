//! What a process does with what others tell it: backoffs and circuits of providers, its part of a
//! limit, and that nothing may go out.

use std::time::Duration;

use conclave::consultation::event::{ProviderEvent, StateName};
use conclave::consultation::protocol::call::FailureClass;
use conclave::domain::ids::ProviderId;
use conclave::domain::time::Timestamp;
use conclave::engine::clock::Clock;
use conclave::engine::dispatcher::Dispatcher;
use conclave::engine::dispatcher::pool::PoolRules;
use conclave::stopping::circuit::state::{CircuitState, WhyOpen};

use super::scripted_providers::{Stage, most_at_once, no_interrupts, run_beside, state};
use crate::support::script::{failure_with_hint, good, plan};

const ANSWER: Duration = Duration::from_millis(100);
const HOLD: Duration = Duration::from_secs(3);

fn dispatcher() -> Dispatcher {
    Dispatcher::new(Clock::starting(Timestamp(0)), PoolRules::default())
}

async fn run(stage: &Stage, dispatcher: &Dispatcher) -> StateName {
    let (dispatcher, providers) = (dispatcher.clone(), stage.providers());
    let history = run_beside(dispatcher, Vec::new(), plan(), providers, no_interrupts()).await;
    state(&history)
}

#[tokio::test(start_paused = true)]
async fn backoff_of_one_process_holds_another_that_learns_of_it_and_keeps_it_to_itself() {
    let refusing = Stage::answering(ANSWER).provider("google", |call| {
        let limited = failure_with_hint(FailureClass::RateLimit, "slow down", HOLD);
        let outcome = if call.at < ANSWER {
            limited
        } else {
            good(call.ask)
        };
        (ANSWER, outcome)
    });
    let (first, second) = (dispatcher(), dispatcher());
    let mut seen = first.changes();
    let mut own = second.changes();
    assert_eq!(run(&refusing, &first).await, StateName::Complete);
    let held = seen.try_recv().unwrap();
    assert!(matches!(held, ProviderEvent::Held { .. }), "{held:?}");
    second.learn(&held);
    let stage = Stage::answering(ANSWER);
    assert_eq!(run(&stage, &second).await, StateName::Complete);
    let attempts = stage.attempts_at("google");
    assert!(attempts.iter().all(|attempt| attempt.began >= HOLD));
    assert!(own.try_recv().is_err());
}

#[tokio::test(start_paused = true)]
async fn circuit_of_another_process_is_open_until_that_says_that_it_closed() {
    let dispatcher = dispatcher();
    let provider = ProviderId::new("google");
    let change = |circuit| ProviderEvent::CircuitChanged {
        provider: provider.clone(),
        circuit,
        wait_ms: None,
    };
    let join = || dispatcher.join([(provider.clone(), 4)].into(), &[].into(), Vec::new());
    let until = dispatcher.clock().now().after(HOLD);
    let why = WhyOpen::Consecutive { failures: 3 };
    dispatcher.learn(&change(CircuitState::Open { until, why }));
    assert_eq!(join().1.len(), 1);
    dispatcher.learn(&change(CircuitState::Closed));
    assert_eq!(join().1.len(), 0);
}

#[tokio::test(start_paused = true)]
async fn limit_is_divided_among_the_processes_that_share_it() {
    // Of a limit of four, the first of three has two, each of the others one, as has any of many.
    for (part, most) in [
        ((0, 3), 2),
        ((1, 3), 1),
        ((2, 3), 1),
        ((7, 9), 1),
        ((0, 1), 4),
    ] {
        let (stage, dispatcher) = (Stage::answering(ANSWER), dispatcher());
        dispatcher.divide(&ProviderId::new("google"), part);
        let runs = (0..6).map(|_| run(&stage, &dispatcher));
        futures_util::future::join_all(runs).await;
        assert_eq!(most_at_once(&stage.attempts_at("google")), most, "{part:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn nothing_goes_out_while_calls_are_paused() {
    let (stage, dispatcher) = (Stage::answering(ANSWER), dispatcher());
    dispatcher.pause(true);
    let go_on = async {
        tokio::time::sleep(HOLD).await;
        assert_eq!(stage.attempts().len(), 0);
        dispatcher.pause(false);
    };
    let (ended, ()) = tokio::join!(run(&stage, &dispatcher), go_on);
    assert_eq!(ended, StateName::Complete);
}
