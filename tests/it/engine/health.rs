//! Health checks: their times, their reports, and that nothing waits for them.

use std::time::Duration;

use conclave::consultation::Consultation;
use conclave::consultation::event::{Answer, Envelope, Event, HealthEvent, StateName};
use conclave::consultation::protocol::call::{Failure, FailureClass};
use conclave::domain::cost::money::MicroUsd;
use conclave::engine::dispatcher::checks::{FIRST, INTERVAL};
use conclave::engine::driver::RunStart;

use super::scripted_providers::{Check, ScriptedCall, ScriptedUser, Stage, drive, driver, state};
use crate::support::script::{good, plan};

const SECOND: Duration = Duration::from_secs(1);

/// Starts providers whose experts answer after 100 s and whose judge answers after 5 s.
fn slow_stage(check: Duration) -> Stage {
    let script = |call: ScriptedCall<'_>| {
        let of_experts = call.ask.answer.round() % 2 == 1;
        (if of_experts { 100 } else { 5 } * SECOND, good(call.ask))
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
    assert_eq!(state(&history), StateName::Complete);
    let elapsed = stage.began.elapsed();
    let expected: Vec<Duration> = (0..100)
        .map(|nth| FIRST + INTERVAL * nth)
        .take_while(|at| *at < elapsed)
        .collect();
    assert!(expected.len() > 6, "{elapsed:?}");
    for provider in ["anthropic", "google"] {
        assert_eq!(began(&stage.checks(), provider), expected, "{provider}");
    }
    assert!(
        began(&stage.checks(), "openai").is_empty(),
        "it has no free check"
    );
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
            let second = envelope.at.0 / 1_000;
            Some(format!(
                "{second} {} {:?}{none}",
                update.provider, update.status
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
    let is_start = |envelope: &&Envelope| {
        matches!(
            envelope.event,
            Event::Health(HealthEvent::CheckStarted { .. })
        )
    };
    let started = history.iter().filter(is_start).count();
    assert_eq!(started, stage.checks().len());
}

#[tokio::test(start_paused = true)]
async fn hanging_checks_delay_neither_the_end_nor_an_interrupt() {
    let with_checks = || {
        let check = |_| (3_600 * SECOND, Ok(()));
        let answer = |call: ScriptedCall<'_>| (SECOND, good(call.ask));
        Stage::new()
            .checked_provider("anthropic", answer, check)
            .checked_provider("openai", answer, check)
            .checked_provider("google", answer, check)
    };
    let assert_dropped = |stage: &Stage, at: Duration| {
        assert_eq!(stage.began.elapsed(), at);
        assert_eq!(stage.checks().len(), 3, "{:?}", stage.checks());
        for check in stage.checks() {
            assert!(check.dropped, "{check:?}");
            assert_eq!(check.ended, Some(at), "{check:?}");
        }
    };
    let stage = with_checks();
    let history = stage.play(plan()).await;
    assert_eq!(state(&history), StateName::Complete);
    assert_dropped(&stage, 5 * SECOND);

    let stage = with_checks();
    let history = stage.play_interrupted(plan(), SECOND / 2).await;
    assert_eq!(state(&history), StateName::Aborted);
    assert_dropped(&stage, SECOND / 2);
}

#[tokio::test(start_paused = true)]
async fn providers_are_neither_checked_nor_called_before_consent() {
    let stage = slow_stage(SECOND);
    let mut plan = plan();
    plan.control.consent.always_allow_under = MicroUsd::ZERO;
    let mut consultation = Consultation::new(plan);
    let person = ScriptedUser::after(60 * SECOND, Answer::No);
    let driver = driver(stage.providers(), &person);
    drive(driver, &mut consultation, RunStart::New).await;
    assert_eq!(consultation.state(), StateName::Aborted);
    assert_eq!(stage.began.elapsed(), 60 * SECOND);
    assert_eq!(stage.checks(), Vec::new());
    assert_eq!(stage.attempts().len(), 0, "nor called");
}
