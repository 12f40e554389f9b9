//! Resumed runs: pending effects, lost calls, timers and the clock.

use std::collections::BTreeSet;
use std::time::Duration;

use conclave::consultation::Consultation;
use conclave::consultation::event::{
    Answer, CallEvent, CallStarted, Envelope, Event, HealthEvent, RoundEvent, StateName,
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

use super::scripted_providers::{ScriptedCall, ScriptedUser, Stage, no_interrupts};
use crate::support::script::{failure_with_hint, good, plan};
use crate::support::timeout::in_virtual_time;

const SECOND: Duration = Duration::from_secs(1);

fn stage() -> Stage {
    ["anthropic", "openai", "google"]
        .into_iter()
        .fold(Stage::new(), |stage, name| {
            stage.provider(name, |call| (SECOND, good(call.ask)))
        })
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
async fn resume(
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
    let driver = Driver {
        clock: Clock::starting(clock),
        dispatcher: Dispatcher::new(Clock::starting(clock), PoolRules::default()),
        budgets: Vec::new(),
        providers: stage.providers(),
        subscribers: vec![&mut received],
        person: &ScriptedUser::at_once(Answer::Yes),
        interrupts: no_interrupts(),
    };
    let run = driver.run(&mut consultation, begin);
    let history = in_virtual_time("the end of the run", run).await;
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
        assert_eq!(
            consultation.state(),
            StateName::Complete,
            "cut before {cut}"
        );
        let step = rest
            .iter()
            .skip(1)
            .position(|envelope| envelope.cause.is_some())
            .map_or(rest.len(), |at| at + 1);
        assert_eq!(history[..step], rest[..step], "cut before {cut}");
        let all: Vec<CallId> = calls(log).into_iter().chain(calls(&history)).collect();
        assert_eq!(
            all,
            calls(&whole),
            "cut before {cut}: no call is missing or repeated"
        );
        assert_eq!(stage.attempts().len(), calls(rest).len());
    }
}

#[tokio::test(start_paused = true)]
async fn resume_after_any_event_completes_and_repeats_only_lost_calls() {
    let stage = || {
        let answers = |call: ScriptedCall<'_>| (40 * SECOND, good(call.ask));
        let check = |nth: usize| {
            (
                SECOND,
                if nth.is_multiple_of(2) {
                    Err(Failure::new(FailureClass::Overload, "no"))
                } else {
                    Ok(())
                },
            )
        };
        ["anthropic", "openai", "google"]
            .into_iter()
            .fold(Stage::new(), |stage, name| {
                stage.checked_provider(name, answers, check)
            })
    };
    let whole = stage().play(plan()).await;
    assert!(
        whole
            .iter()
            .any(|envelope| matches!(envelope.event, Event::Health(HealthEvent::StatusUpdated(_))))
    );
    for cut in 1..whole.len() {
        let log = &whole[..cut];
        let (consultation, received, history) = resume(&stage(), log, log.last().unwrap().at).await;
        assert_eq!(
            consultation.state(),
            StateName::Complete,
            "cut before {cut}"
        );
        assert_eq!(received, history, "cut before {cut}");
        let both = [log, &history].concat();
        assert!(
            both.iter()
                .map(|envelope| envelope.seq)
                .eq(1..=both.len() as u64),
            "cut before {cut}"
        );
        assert!(
            replay(&both).is_ok_and(|replayed| replayed.interruption.effects.is_empty()
                && replayed.interruption.lost.is_empty()),
            "cut before {cut}"
        );
        let lost = replay(log).unwrap().interruption.lost.len();
        assert_eq!(
            calls(&both).len(),
            calls(&whole).len() + lost,
            "cut before {cut}: only lost calls are repeated"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn event_times_never_go_back() {
    let whole = stage().play(plan()).await;
    let (log, _) = whole.split_at(cut_points(&whole)[2]);
    let last = log.last().unwrap().at;
    assert!(last > Timestamp(1_000));
    let (_, _, history) = resume(&stage(), log, Timestamp(0)).await;
    let moments: Vec<Timestamp> = log
        .iter()
        .chain(&history)
        .map(|envelope| envelope.at)
        .collect();
    assert!(moments.is_sorted(), "{moments:?}");
    let later = last.after(3_600 * SECOND);
    let (_, _, history) = resume(&stage(), log, later).await;
    let finished = history
        .iter()
        .find(|envelope| matches!(envelope.event, Event::Call(CallEvent::Finished(_))))
        .unwrap();
    assert_eq!(
        finished.at,
        later.after(SECOND),
        "a clock that is ahead stays ahead"
    );
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
        Stage::new()
            .provider("anthropic", move |call| {
                if limits && call.nth == 1 {
                    (
                        Duration::ZERO,
                        failure_with_hint(
                            FailureClass::RateLimit,
                            "too many requests",
                            20 * SECOND,
                        ),
                    )
                } else {
                    (SECOND, good(call.ask))
                }
            })
            .provider("openai", |call| (SECOND, good(call.ask)))
            .provider("google", |call| (SECOND, good(call.ask)))
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
    assert_eq!(replay(log).unwrap().interruption.lost, Vec::new());
    assert_eq!(
        replay(log)
            .unwrap()
            .interruption
            .timers
            .iter()
            .map(|(at, _)| *at)
            .collect::<BTreeSet<_>>(),
        BTreeSet::from([Timestamp(20_000)])
    );
    let resumed_stage = stage(false);
    let (consultation, _, _) = resume(&resumed_stage, log, Timestamp(5_000)).await;
    assert_eq!(consultation.state(), StateName::Complete);
    assert_eq!(
        resumed_stage.attempts_at("anthropic")[0].began,
        15 * SECOND,
        "the timer fires at its time"
    );
}
