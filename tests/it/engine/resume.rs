//! Resumed runs: pending effects, lost calls, timers and the clock.

use std::time::Duration;

use conclave::consultation::Consultation;
use conclave::consultation::event::{
    CallEvent, CallStarted, Envelope, Event, HealthEvent, RoundEvent, StateName,
};
use conclave::consultation::machine::replay::replay;
use conclave::consultation::protocol::call::{Failure, FailureClass};
use conclave::domain::ids::CallId;
use conclave::domain::time::Timestamp;
use conclave::engine::clock::Clock;
use conclave::engine::dispatcher::Dispatcher;
use conclave::engine::dispatcher::pool::PoolRules;
use conclave::engine::driver::{Driver, RunStart};
use conclave::engine::ports::{Subscriber, SubscriberError};

use super::scripted_providers::{ScriptedCall, Stage, YES, drive, driver};
use crate::support::script::{failure_with_hint, good, plan};

const SECOND: Duration = Duration::from_secs(1);

fn stage() -> Stage {
    Stage::answering(SECOND)
}

/// Collects all events.
#[derive(Debug, Default)]
struct Collector(Vec<Envelope>);

impl Subscriber for Collector {
    fn event(&mut self, event: &Envelope) -> Result<(), SubscriberError> {
        self.0.push(event.clone());
        Ok(())
    }
}

/// Resumes from a log on a clock that starts at this time. Returns the consultation, the events
/// that subscribers received and the history that the driver returned.
pub(super) async fn resume(
    stage: &Stage,
    log: &[Envelope],
    clock: Timestamp,
) -> (Consultation, Vec<Envelope>, Vec<Envelope>) {
    let replayed = replay(log).unwrap();
    let control = replayed.consultation.plan().control.clone();
    let mut consultation = replayed.consultation;
    let begin = RunStart::Resume {
        interruption: replayed.interruption,
        terms: Box::new(control.into()),
        tool_version: "0.0.1".to_owned(),
    };
    let mut received = Collector::default();
    let clock = Clock::starting(clock);
    let driver = Driver {
        clock,
        dispatcher: Dispatcher::new(clock, PoolRules::default()),
        subscribers: vec![&mut received],
        ..driver(stage.providers(), &YES)
    };
    let history = drive(driver, &mut consultation, begin).await;
    (consultation, received.0, history)
}

fn calls(log: &[Envelope]) -> Vec<CallId> {
    let call = |envelope: &Envelope| {
        if let Event::Call(CallEvent::Started(CallStarted { call, .. })) = envelope.event {
            Some(call)
        } else {
            None
        }
    };
    log.iter().filter_map(call).collect()
}

/// Returns the positions at which a log ends within a step before its calls: the start of each
/// round.
fn cut_points(log: &[Envelope]) -> Vec<usize> {
    let starts: Vec<usize> = (0..log.len())
        .filter(|at| matches!(log[*at].event, Event::Round(RoundEvent::Started { .. })))
        .collect();
    assert_eq!(starts.len(), 4);
    starts
}

#[tokio::test(start_paused = true)]
async fn resume_performs_the_pending_effects_exactly_once() {
    let whole = stage().play(plan()).await;
    for cut in cut_points(&whole) {
        let (log, rest) = whole.split_at(cut);
        let stage = stage();
        let (consultation, received, history) = resume(&stage, log, log.last().unwrap().at).await;
        assert_eq!(received, history);
        assert_eq!(consultation.state(), StateName::Complete, "{cut}");
        let step = rest
            .iter()
            .skip(1)
            .position(|envelope| envelope.cause.is_some())
            .map_or(rest.len(), |at| at + 1);
        assert_eq!(history[..step], rest[..step], "{cut}");
        let all = [calls(log), calls(&history)].concat();
        assert_eq!(all, calls(&whole), "{cut}: no call is missing or repeated");
        assert_eq!(stage.attempts().len(), calls(rest).len());
    }
}

#[tokio::test(start_paused = true)]
async fn resume_after_any_event_completes_and_repeats_only_lost_calls() {
    let stage = || {
        let answers = |call: ScriptedCall<'_>| (40 * SECOND, good(call.ask));
        let check = |nth: usize| {
            let overload = || Err(Failure::new(FailureClass::Overload, "no"));
            (
                SECOND,
                if nth.is_multiple_of(2) {
                    overload()
                } else {
                    Ok(())
                },
            )
        };
        Stage::new()
            .checked_provider("anthropic", answers, check)
            .checked_provider("openai", answers, check)
            .checked_provider("google", answers, check)
    };
    let whole = stage().play(plan()).await;
    let is_health = |envelope: &Envelope| {
        matches!(envelope.event, Event::Health(HealthEvent::StatusUpdated(_)))
    };
    assert!(whole.iter().any(is_health));
    // The machine is resumed after each event in its own tests.
    for cut in (1..whole.len()).step_by(3) {
        let log = &whole[..cut];
        let (consultation, received, history) = resume(&stage(), log, log.last().unwrap().at).await;
        assert_eq!(consultation.state(), StateName::Complete, "{cut}");
        assert_eq!(received, history, "{cut}");
        let both = [log, &history].concat();
        let seqs = both.iter().map(|envelope| envelope.seq);
        assert!(seqs.eq(1..=both.len() as u64), "{cut}");
        let end = replay(&both).unwrap().interruption;
        assert!(end.effects.is_empty() && end.lost.is_empty(), "{cut}");
        let lost = replay(log).unwrap().interruption.lost.len();
        assert_eq!(calls(&both).len(), calls(&whole).len() + lost, "{cut}");
    }
}

#[tokio::test(start_paused = true)]
async fn event_times_never_go_back() {
    let whole = stage().play(plan()).await;
    let (log, _) = whole.split_at(cut_points(&whole)[2]);
    let last = log.last().unwrap().at;
    assert!(last > Timestamp(1_000));
    let (_, _, history) = resume(&stage(), log, Timestamp(0)).await;
    let moments = log.iter().chain(&history).map(|envelope| envelope.at);
    assert!(moments.is_sorted(), "{history:?}");
    let later = last.after(3_600 * SECOND);
    let (_, _, history) = resume(&stage(), log, later).await;
    let is_end =
        |envelope: &&Envelope| matches!(envelope.event, Event::Call(CallEvent::Finished(_)));
    let finished = history.iter().find(is_end).unwrap();
    // A clock that is ahead stays ahead.
    assert_eq!(finished.at, later.after(SECOND));
}

#[tokio::test(start_paused = true)]
async fn clock_moves_only_forward() {
    let clock = Clock::starting(Timestamp(5_000));
    tokio::time::advance(SECOND).await;
    assert_eq!(clock.not_before(Timestamp(6_000)).now(), Timestamp(6_000));
    let moved = clock.not_before(Timestamp(9_000));
    assert_eq!(moved.now(), Timestamp(9_000));
    tokio::time::advance(SECOND).await;
    assert_eq!(clock.now(), Timestamp(7_000));
    assert_eq!(moved.now(), Timestamp(10_000));
}

#[tokio::test(start_paused = true)]
async fn timers_of_the_interrupted_run_fire_after_resume() {
    let stage = |limits: bool| {
        stage().provider("anthropic", move |call| {
            let hint = 20 * SECOND;
            if limits && call.nth == 1 {
                let outcome = failure_with_hint(FailureClass::RateLimit, "too many", hint);
                (Duration::ZERO, outcome)
            } else {
                (SECOND, good(call.ask))
            }
        })
    };
    let whole = stage(true).play(plan()).await;
    // Two experts have answered and one waits for its retry, so no call is open.
    let finished: Vec<usize> = (0..whole.len())
        .filter(|at| matches!(whole[*at].event, Event::Call(CallEvent::Finished(_))))
        .collect();
    let cut = (finished[2]..whole.len())
        .find(|at| *at > finished[2] && whole[*at].cause.is_some())
        .unwrap();
    let log = &whole[..cut];
    assert_eq!(calls(log).len(), 3);
    let interruption = replay(log).unwrap().interruption;
    assert_eq!(interruption.lost, Vec::new());
    for (at, _) in &interruption.timers {
        assert_eq!(*at, Timestamp(20_000));
    }
    let resumed = stage(false);
    let (consultation, _, _) = resume(&resumed, log, Timestamp(5_000)).await;
    assert_eq!(consultation.state(), StateName::Complete);
    // The timer fires at its time.
    assert_eq!(resumed.attempts_at("anthropic")[0].began, 15 * SECOND);
}
