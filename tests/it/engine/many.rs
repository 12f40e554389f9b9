//! Many consultations in one process: one limit a provider, one backoff, one circuit, one ceiling,
//! and a journal each.

use std::sync::Arc;
use std::time::Duration;

use conclave::consultation::event::{
    AbortReason, CallEvent, Envelope, Event, ProviderEvent, StateName,
};
use conclave::consultation::machine::replay::replay;
use conclave::consultation::plan::Plan;
use conclave::consultation::protocol::call::FailureClass;
use conclave::consultation::transcript::Transcript;
use conclave::domain::cost::money::MicroUsd;
use conclave::domain::ids::{ConsultationId, ModelRef, ProviderId, SeatId};
use conclave::domain::time::Timestamp;
use conclave::engine::clock::Clock;
use conclave::engine::dispatcher::Dispatcher;
use conclave::engine::dispatcher::budget::{SharedBudget, SharedCeiling};
use conclave::engine::dispatcher::pool::PoolRules;
use conclave::stopping::circuit::state::CircuitState;
use futures_util::future::join_all;
use tokio::sync::mpsc;

use super::scripted_providers::{
    ScriptedCall, Stage, interrupted_after, most_at_once, no_interrupts, run_beside, state,
};
use crate::support::script::{failure, failure_with_hint, good, plan};

const MANY: usize = 20;
const ANSWER: Duration = Duration::from_millis(100);
const VENDORS: [&str; 3] = ["anthropic", "openai", "google"];

fn dispatcher() -> Dispatcher {
    Dispatcher::new(Clock::starting(Timestamp(0)), PoolRules::default())
}

/// A consultation of its own id.
fn numbered(number: usize) -> Plan {
    let mut plan = plan();
    plan.id = ConsultationId::from_unique(&format!("01MANY{number:02}"));
    plan
}

fn many() -> Vec<Plan> {
    (0..MANY).map(numbered).collect()
}

async fn run_one(stage: &Stage, dispatcher: &Dispatcher, plan: Plan) -> Vec<Envelope> {
    let interrupts = no_interrupts();
    run_interruptible(stage, dispatcher, plan, interrupts).await
}

async fn run_interruptible(
    stage: &Stage,
    dispatcher: &Dispatcher,
    plan: Plan,
    interrupts: mpsc::UnboundedReceiver<()>,
) -> Vec<Envelope> {
    let (dispatcher, providers) = (dispatcher.clone(), stage.providers());
    run_beside(dispatcher, Vec::new(), plan, providers, interrupts).await
}

/// All of them at once, in one process, under the same ceilings.
async fn run_all(
    stage: &Stage,
    plans: Vec<Plan>,
    budgets: &[Arc<dyn SharedBudget>],
) -> Vec<Vec<Envelope>> {
    let dispatcher = dispatcher();
    let run = |plan| {
        let (dispatcher, budgets) = (dispatcher.clone(), budgets.to_vec());
        let (providers, interrupts) = (stage.providers(), no_interrupts());
        run_beside(dispatcher, budgets, plan, providers, interrupts)
    };
    join_all(plans.into_iter().map(run)).await
}

fn assert_replays(histories: &[Vec<Envelope>]) {
    for history in histories {
        let replayed = replay(history).unwrap();
        assert_eq!(replayed.consultation.state(), state(history));
        assert_eq!(replayed.interruption.effects, []);
    }
}

/// Every vendor answers, but Google refuses every connection.
fn without_google() -> Stage {
    Stage::answering(ANSWER).provider("google", |_| {
        (
            ANSWER,
            failure(FailureClass::Transport, "connection refused"),
        )
    })
}

fn with_fallback(mut plan: Plan) -> Plan {
    let fallback = ModelRef::new("anthropic", "claude-haiku");
    plan.fallbacks
        .insert(SeatId::new("pragmatic"), vec![fallback]);
    plan
}

fn is_hold(envelope: &Envelope) -> bool {
    matches!(envelope.event, Event::Provider(ProviderEvent::Held { .. }))
}

/// When the first circuit opened.
fn opened(history: &[Envelope]) -> Option<Timestamp> {
    let is_open = |envelope: &&Envelope| {
        let Event::Provider(ProviderEvent::CircuitChanged { circuit, .. }) = &envelope.event else {
            return false;
        };
        matches!(circuit, CircuitState::Open { .. })
    };
    history.iter().find(is_open).map(|envelope| envelope.at)
}

fn cost_of(envelope: &Envelope) -> MicroUsd {
    match &envelope.event {
        Event::Call(CallEvent::Finished(finished)) => finished.cost.known,
        _ => MicroUsd::ZERO,
    }
}

#[tokio::test(start_paused = true)]
async fn twenty_consultations_keep_to_one_limit_a_provider() {
    let stage = Stage::answering(ANSWER);
    let histories = run_all(&stage, many(), &[]).await;
    for history in &histories {
        assert_eq!(state(history), StateName::Complete);
    }
    assert_eq!(stage.attempts().len(), MANY * 9);
    for vendor in VENDORS {
        assert_eq!(most_at_once(&stage.attempts_at(vendor)), 4, "{vendor}");
    }
    assert_replays(&histories);
    // They take turns: three calls of twenty go to three providers, four at a time each.
    let first_rounds = ANSWER * u32::try_from(MANY / 4).unwrap();
    for history in &histories {
        let is_answer =
            |envelope: &&Envelope| matches!(envelope.event, Event::Call(CallEvent::Finished(_)));
        let first_answer = history.iter().find(is_answer).unwrap().at;
        assert!(first_answer.since(Timestamp(0)) <= first_rounds);
    }
}

#[tokio::test(start_paused = true)]
async fn one_retry_after_holds_all_to_the_millisecond() {
    let hint = Duration::from_millis(3_217);
    let limited = move |call: ScriptedCall<'_>| {
        if call.nth == 10 {
            let outcome = failure_with_hint(FailureClass::RateLimit, "slow down", hint);
            (Duration::from_millis(37), outcome)
        } else {
            (ANSWER, good(call.ask))
        }
    };
    let stage = Stage::answering(ANSWER).provider("anthropic", limited);
    let histories = run_all(&stage, many(), &[]).await;
    let attempts = stage.attempts_at("anthropic");
    let refused = attempts.iter().find(|attempt| attempt.failed).unwrap();
    let from = refused.ended.unwrap();
    let began = attempts.iter().map(|attempt| attempt.began);
    let next = began.filter(|began| *began >= from).min();
    assert_eq!(next, Some(from + hint), "not one earlier, and one at once");
    for history in &histories {
        assert_eq!(state(history), StateName::Complete);
        let holds = history.iter().filter(|envelope| is_hold(envelope));
        assert_eq!(holds.count(), 1);
    }
    assert_replays(&histories);
}

#[tokio::test(start_paused = true)]
async fn one_circuit_opens_for_all() {
    let stage = without_google();
    let plans = many().into_iter().map(with_fallback).collect();
    let histories = run_all(&stage, plans, &[]).await;
    let moments: Vec<_> = histories.iter().map(|history| opened(history)).collect();
    assert!(moments[0].is_some());
    assert_eq!(moments, vec![moments[0]; MANY], "all learn of it at once");
    // The third failure in a row opens it. Six calls have begun by then, and each is retried twice.
    let calls = stage.attempts_at("google").len();
    assert!(calls <= 18, "{calls} calls to a provider that is down");
    for history in &histories {
        assert_eq!(state(history), StateName::Complete);
    }
    assert_replays(&histories);
}

#[tokio::test(start_paused = true)]
async fn a_later_consultation_knows_of_the_open_circuit() {
    let stage = without_google();
    let dispatcher = dispatcher();
    for number in 0..2 {
        let plan = with_fallback(numbered(number));
        let history = run_one(&stage, &dispatcher, plan).await;
        assert_eq!(state(&history), StateName::Complete);
        assert!(opened(&history).is_some());
    }
    let calls = stage.attempts_at("google").len();
    assert_eq!(calls, 3, "the second does not even try it");
}

#[tokio::test(start_paused = true)]
async fn a_shared_ceiling_is_kept_to() {
    let stage = Stage::answering(ANSWER);
    let ceiling: Arc<dyn SharedBudget> =
        Arc::new(SharedCeiling::new("suite budget", MicroUsd(1_000_000)));
    let histories = run_all(&stage, many(), &[Arc::clone(&ceiling)]).await;
    let spent: MicroUsd = histories.iter().flatten().map(cost_of).sum();
    assert!(spent <= ceiling.limit(), "{spent} of {}", ceiling.limit());
    assert_eq!(spent, ceiling.spent(), "to the micro-dollar");
    assert_replays(&histories);
}

#[tokio::test(start_paused = true)]
async fn a_reached_shared_ceiling_is_named() {
    let stage = Stage::answering(ANSWER);
    let ceiling: Arc<dyn SharedBudget> =
        Arc::new(SharedCeiling::new("suite budget", MicroUsd(60_000)));
    let histories = run_all(&stage, many(), &[Arc::clone(&ceiling)]).await;
    assert!(ceiling.spent() <= ceiling.limit());
    let aborts: Vec<_> = histories
        .iter()
        .filter_map(|history| Transcript::fold(history).unwrap().abort)
        .collect();
    assert!(!aborts.is_empty());
    for abort in &aborts {
        assert_eq!(abort.reason, AbortReason::CostCeiling);
        let start = "The suite budget of $0.06 does not pay";
        assert!(abort.message.starts_with(start), "{}", abort.message);
    }
    assert_replays(&histories);
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_consultation_leaves_the_others_alone() {
    let stage = Stage::answering(ANSWER);
    let dispatcher = dispatcher();
    let run = |number| run_one(&stage, &dispatcher, numbered(number));
    // Dropped with its calls in flight and its requests waiting.
    let cancelled = tokio::time::timeout(Duration::from_millis(150), join_all((0..10).map(run)));
    let (cancelled, others) = tokio::join!(cancelled, join_all((10..20).map(run)));
    assert!(cancelled.is_err(), "they were under way");
    for history in &others {
        assert_eq!(state(history), StateName::Complete);
    }
    assert_replays(&others);
    let mut attempts = stage.attempts_at("openai");
    attempts.retain(|attempt| attempt.ended.is_some());
    assert_eq!(most_at_once(&attempts), 4);
    let later = run(20).await;
    assert_eq!(state(&later), StateName::Complete, "places are free again");
}

#[tokio::test(start_paused = true)]
async fn an_interrupted_consultation_aborts_alone() {
    let stage = Stage::answering(ANSWER);
    let dispatcher = dispatcher();
    let (interrupt, interrupts) = mpsc::unbounded_channel();
    let (interrupted, other, ()) = tokio::join!(
        run_interruptible(&stage, &dispatcher, numbered(0), interrupts),
        run_one(&stage, &dispatcher, numbered(1)),
        interrupted_after(Duration::from_millis(150), interrupt)
    );
    assert_eq!(state(&interrupted), StateName::Aborted);
    assert_eq!(state(&other), StateName::Complete);
}

#[tokio::test(start_paused = true)]
async fn a_request_that_turns_to_another_provider_does_not_wait_for_the_first() {
    let hint = Duration::from_secs(600);
    let limited = move |_: ScriptedCall<'_>| {
        let outcome = failure_with_hint(FailureClass::RateLimit, "slow down", hint);
        (ANSWER, outcome)
    };
    let stage = Stage::answering(ANSWER).provider("google", limited);
    let mut plan = with_fallback(numbered(0));
    // The second call waits for the first to end, and then turns to the fallback.
    plan.in_flight.insert(ProviderId::new("google"), 1);
    let mut second = plan.panel.seats[2].clone();
    second.id = SeatId::new("skeptic");
    let fallback = ModelRef::new("anthropic", "claude-haiku");
    plan.fallbacks.insert(second.id.clone(), vec![fallback]);
    plan.panel.seats.push(second);
    let history = run_one(&stage, &dispatcher(), plan).await;
    assert_eq!(state(&history), StateName::Complete);
    assert_eq!(stage.attempts_at("google").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn providers_that_all_fail_end_a_consultation_soon() {
    let mut stage = Stage::new();
    for vendor in ["anthropic", "openai", "google", "mistral"] {
        let check = |_| (ANSWER, Ok(()));
        let fails = |_: ScriptedCall<'_>| (ANSWER, failure(FailureClass::Overload, "overloaded"));
        stage = stage.checked_provider(vendor, fails, check);
    }
    let mut plan = numbered(0);
    for seat in plan.panel.seats.clone() {
        let fallback = ModelRef::new("mistral", "mistral-large-4");
        plan.fallbacks.insert(seat.id, vec![fallback]);
    }
    let dispatcher = dispatcher();
    let run = run_one(&stage, &dispatcher, plan);
    let history = tokio::time::timeout(Duration::from_secs(60), run).await;
    assert_eq!(state(&history.expect("an end")), StateName::Aborted);
}
