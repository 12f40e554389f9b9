//! Health checks: their times, their reports, and that nothing waits for them.

use std::time::Duration;

use conclave::consultation::Consultation;
use conclave::consultation::event::{Answer, Envelope, Event, HealthEvent, StateName};
use conclave::consultation::protocol::call::{Failure, FailureClass};
use conclave::consultation::transcript::Transcript;
use conclave::domain::money::MicroUsd;
use conclave::domain::time::Timestamp;
use conclave::engine::clock::Clock;
use conclave::engine::dispatcher::Dispatcher;
use conclave::engine::dispatcher::checks::{FIRST, INTERVAL};
use conclave::engine::dispatcher::pool::PoolRules;
use conclave::engine::driver::{Driver, RunStart};

use super::scripted_providers::{Check, ScriptedCall, ScriptedUser, Stage, no_interrupts};
use crate::support::script::{good, plan};
use crate::support::timeout::in_virtual_time;

const SECOND: Duration = Duration::from_secs(1);

fn answers_after(
    takes: Duration,
) -> impl Fn(ScriptedCall<'_>) -> (Duration, conclave::consultation::protocol::call::Outcome)
+ Send
+ Sync
+ 'static {
    move |call| (takes, good(call.ask))
}

/// Starts providers whose experts answer after 100 s and whose judge answers after 5 s.
fn slow_stage(check: Duration) -> Stage {
    let script = |call: ScriptedCall<'_>| {
        (
            if call.ask.answer.round() % 2 == 1 {
                100 * SECOND
            } else {
                5 * SECOND
            },
            good(call.ask),
        )
    };
    Stage::new()
        .checked_provider("anthropic", script, move |_| (check, Ok(())))
        .checked_provider("google", script, move |_| {
            (check, Err(Failure::new(FailureClass::Overload, "no")))
        })
        .provider("openai", script)
}

fn began(checks: &[Check], provider: &str) -> Vec<Duration> {
    checks
        .iter()
        .filter(|check| check.provider == provider)
        .map(|check| check.began)
        .collect()
}

#[tokio::test(start_paused = true)]
async fn providers_are_checked_after_the_first_call_and_every_half_minute() {
    let stage = slow_stage(SECOND);
    let history = stage.play(plan()).await;
    assert_eq!(
        Transcript::fold(&history).unwrap().state,
        StateName::Complete
    );
    let elapsed = stage.began.elapsed();
    let expected: Vec<Duration> = (0..100)
        .map(|nth| FIRST + INTERVAL * nth)
        .take_while(|at| *at < elapsed)
        .collect();
    assert!(expected.len() > 6, "{elapsed:?}");
    for provider in ["anthropic", "google"] {
        assert_eq!(began(&stage.checks(), provider), expected, "{provider}");
    }
    assert_eq!(began(&stage.checks(), "openai"), [], "it has no free check");
    tokio::time::sleep(10 * INTERVAL).await;
    assert_eq!(
        stage.checks().len(),
        2 * expected.len(),
        "no check follows the end of the run"
    );
}

/// Returns the health updates with the second of each.
fn health_updates(history: &[Envelope]) -> Vec<String> {
    let line = |envelope: &Envelope| match &envelope.event {
        Event::Health(HealthEvent::StatusUpdated(update)) => {
            let none = if update.none_healthy {
                ", none healthy"
            } else {
                ""
            };
            Some(format!(
                "{} {} {:?}{none}",
                envelope.at.0 / 1_000,
                update.provider,
                update.status
            ))
        }
        _ => None,
    };
    history.iter().filter_map(line).collect()
}

#[tokio::test(start_paused = true)]
async fn status_changes_are_reported_once() {
    let stage = slow_stage(SECOND);
    let history = stage.play(plan()).await;
    let expected = [
        "1 anthropic Healthy",
        "1 google Degraded",
        // The third failed check. An answer of its model then ends the series, until three more
        // checks fail.
        "61 google Unhealthy",
        "100 google Degraded",
        "181 google Unhealthy",
        "205 google Degraded",
        "271 google Unhealthy",
    ];
    assert_eq!(health_updates(&history), expected);
    let started = history
        .iter()
        .filter(|envelope| {
            matches!(
                envelope.event,
                Event::Health(HealthEvent::CheckStarted { .. })
            )
        })
        .count();
    assert_eq!(started, stage.checks().len());
}

#[tokio::test(start_paused = true)]
async fn hanging_checks_delay_neither_the_end_nor_an_interrupt() {
    let hour = 3_600 * SECOND;
    let with_checks = |check: Duration| {
        Stage::new()
            .checked_provider("anthropic", answers_after(SECOND), move |_| (check, Ok(())))
            .checked_provider("openai", answers_after(SECOND), move |_| (check, Ok(())))
            .checked_provider("google", answers_after(SECOND), move |_| (check, Ok(())))
    };
    let stage = with_checks(hour);
    let history = stage.play(plan()).await;
    assert_eq!(
        Transcript::fold(&history).unwrap().state,
        StateName::Complete
    );
    assert_eq!(stage.began.elapsed(), 5 * SECOND);
    let dropped = |stage: &Stage, at| {
        stage
            .checks()
            .iter()
            .all(|check| check.dropped && check.ended == Some(at))
    };
    assert_eq!(stage.checks().len(), 3, "{:?}", stage.checks());
    assert!(dropped(&stage, 5 * SECOND), "{:?}", stage.checks());

    let stage = with_checks(hour);
    let history = stage.play_interrupted(plan(), SECOND / 2).await;
    assert_eq!(
        Transcript::fold(&history).unwrap().state,
        StateName::Aborted
    );
    assert_eq!(stage.began.elapsed(), SECOND / 2);
    assert_eq!(stage.checks().len(), 3, "{:?}", stage.checks());
    assert!(dropped(&stage, SECOND / 2), "{:?}", stage.checks());
}

#[tokio::test(start_paused = true)]
async fn providers_are_not_checked_before_consent() {
    let stage = slow_stage(SECOND);
    let mut plan = plan();
    plan.control.consent.always_allow_under = MicroUsd::ZERO;
    let mut consultation = Consultation::new(plan);
    let driver = Driver {
        clock: Clock::starting(Timestamp(0)),
        providers: stage.providers(),
        dispatcher: Dispatcher::new(Clock::starting(Timestamp(0)), PoolRules::default()),
        budgets: Vec::new(),
        subscribers: Vec::new(),
        person: &ScriptedUser::after(60 * SECOND, Answer::No),
        interrupts: no_interrupts(),
    };
    let run = driver.run(&mut consultation, RunStart::New);
    in_virtual_time("the end of the run", run).await;
    assert_eq!(consultation.state(), StateName::Aborted);
    assert_eq!(stage.began.elapsed(), 60 * SECOND);
    assert_eq!(stage.checks(), Vec::new());
}
