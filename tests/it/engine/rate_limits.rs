//! Rate limits with large panels: simultaneous calls, backoff and recovery.

use std::time::Duration;

use conclave::consultation::event::{CallEvent, Envelope, Event, RoundEvent, StateName};
use conclave::consultation::protocol::call::{FailureClass, Outcome};
use conclave::consultation::transcript::Transcript;
use conclave::domain::ids::ModelRef;

use super::scripted_providers::{Attempt, Stage, most_at_once, state};
use crate::support::script::{crowd, failure, failure_with_hint, good};

const SECOND: Duration = Duration::from_secs(1);
const REFUSED_AFTER: Duration = Duration::from_millis(50);
const ANSWERED_AFTER: Duration = Duration::from_millis(100);

fn rate_limited(hint: Option<Duration>) -> Outcome {
    match hint {
        Some(hint) => failure_with_hint(FailureClass::RateLimit, "too many requests", hint),
        None => failure(FailureClass::RateLimit, "too many requests"),
    }
}

/// Starts providers of which the experts' one rejects everything before `recovers`; another one
/// judges.
fn rate_limited_until(recovers: Duration, hint: Option<Duration>) -> Stage {
    Stage::new()
        .provider("anthropic", move |call| {
            if call.at < recovers {
                (REFUSED_AFTER, rate_limited(hint))
            } else {
                (ANSWERED_AFTER, good(call.ask))
            }
        })
        .provider("openai", |call| (ANSWERED_AFTER, good(call.ask)))
}

/// Asserts that no call starts between a rejection and the end of its hint.
fn assert_left_alone(attempts: &[Attempt], hint: Duration) {
    for refused in attempts.iter().filter(|attempt| attempt.failed) {
        let from = refused.ended.unwrap();
        let early = attempts
            .iter()
            .find(|attempt| attempt.began >= from && attempt.began < from + hint);
        assert!(early.is_none(), "{early:?} after {refused:?}");
    }
}

fn end(attempts: &[Attempt]) -> Duration {
    attempts
        .iter()
        .filter_map(|attempt| attempt.ended)
        .max()
        .unwrap()
}

fn round(stage: &Stage, provider: &str, number: u8) -> Vec<Attempt> {
    stage
        .attempts_at(provider)
        .into_iter()
        .filter(|attempt| attempt.answer.round() == number)
        .collect()
}

#[tokio::test(start_paused = true)]
async fn crowd_recovers_quickly_without_a_retry_storm() {
    let (recovers, hint) = (10 * SECOND, 2 * SECOND);
    let stage = rate_limited_until(recovers, Some(hint));
    let transcript = Transcript::fold(&stage.play(crowd(64)).await).unwrap();
    assert_eq!(transcript.state, StateName::Complete);
    assert_eq!(transcript.failures.len(), 0);
    let first = round(&stage, "anthropic", 1);
    assert_eq!(most_at_once(&stage.attempts_at("anthropic")), 4);
    assert_left_alone(&first, hint);
    // Four calls before the first rejection, then one at a time, each 2 s after the previous
    // rejection.
    let begun = |failed: bool| {
        let chosen = first.iter().filter(move |attempt| attempt.failed == failed);
        chosen.map(|attempt| attempt.began.as_millis())
    };
    let refused: Vec<u128> = begun(true).collect();
    assert_eq!(refused, [0, 0, 0, 0, 2_050, 4_100, 6_150, 8_200]);
    // Only rejected calls are repeated.
    assert_eq!(first.len(), 64 + refused.len());
    // After the first success two calls go out, then three, then four.
    let answered: Vec<u128> = begun(false).take(10).collect();
    let (two, three) = ([10_350; 2], [10_450; 4]);
    assert_eq!(
        answered,
        [&[10_250][..], &two, &three, &[10_550; 3]].concat()
    );
    let last = end(&first);
    assert!(
        last <= recovers + hint + REFUSED_AFTER + ANSWERED_AFTER * 18,
        "{last:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn crowd_without_a_hint_backs_off_together() {
    let recovers = 5 * SECOND;
    let stage = rate_limited_until(recovers, None);
    let transcript = Transcript::fold(&stage.play(crowd(64)).await).unwrap();
    assert_eq!(transcript.state, StateName::Complete);
    let first = round(&stage, "anthropic", 1);
    assert_eq!(most_at_once(&first), 4);
    let refused: Vec<&Attempt> = first.iter().filter(|attempt| attempt.failed).collect();
    for pair in refused[3..].windows(2) {
        // After the first four, one at a time.
        assert!(pair[1].began >= pair[0].ended.unwrap(), "{pair:?}");
    }
    let count = refused.len();
    assert!(first.len() <= 64 + count, "{count} refused");
    assert!(count < 40, "{count} refused");
    // Rejected calls queue behind the others.
    assert_eq!(transcript.failures.len(), 0);
    // The longest wait plus the time for the crowd.
    let last = end(&first);
    assert!(
        last <= recovers + 30 * SECOND + ANSWERED_AFTER * 18,
        "{last:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn provider_that_never_recovers_fails_after_two_minutes() {
    let hint = 2 * SECOND;
    let stage = rate_limited_until(Duration::MAX, Some(hint));
    let history = stage.play(crowd(64)).await;
    let transcript = Transcript::fold(&history).unwrap();
    assert_eq!(transcript.state, StateName::Aborted);
    assert_eq!(transcript.failures.len(), 64);
    let attempts = stage.attempts();
    assert_left_alone(&attempts, hint);
    // The first four calls go out at once, the others one after another, and none after 120 s. The
    // last rejected call fails when its own wait is over.
    assert_eq!(attempts.len(), 4 + 59);
    assert_eq!(history.last().unwrap().at.0, 50 + 59 * 2_050 + 2_000);
    let last = &transcript.failures.last().unwrap().error.message;
    let words = "`anthropic` has refused every call for 123 s";
    assert!(last.ends_with(words), "{last}");
}

#[tokio::test(start_paused = true)]
async fn long_backoff_fails_the_crowd_without_another_call() {
    let stage = rate_limited_until(Duration::MAX, Some(31 * SECOND));
    let history = stage.play(crowd(64)).await;
    let transcript = Transcript::fold(&history).unwrap();
    assert_eq!(transcript.state, StateName::Aborted);
    assert_eq!(transcript.failures.len(), 64);
    assert_eq!(stage.attempts().len(), 4);
    assert_eq!(history.last().unwrap().at.0, 50);
}

#[tokio::test(start_paused = true)]
async fn backoff_of_round_1_delays_the_judge_of_round_2() {
    let mut plan = crowd(1);
    let mut other = plan.panel.seats[0].clone();
    other.id = conclave::domain::ids::SeatId::new("other");
    other.model = ModelRef::new("openai", "gpt-6.1-sol");
    plan.panel.seats.push(other);
    plan.panel.judges.truncate(1);
    let stage = Stage::answering(ANSWERED_AFTER).provider("openai", |call| {
        if call.nth <= 3 {
            (Duration::ZERO, rate_limited(Some(5 * SECOND)))
        } else {
            (ANSWERED_AFTER, good(call.ask))
        }
    });
    let history = stage.play(plan).await;
    assert_eq!(state(&history), StateName::Complete);
    let attempts = stage.attempts_at("openai").into_iter();
    let begun: Vec<_> = attempts
        .map(|one| (one.answer.round(), one.began.as_secs()))
        .collect();
    assert_eq!(begun[..4], [(1, 0), (1, 5), (1, 10), (2, 15)]);
    // Round 2 starts when the expert fails, and its judge waits.
    let is_round_2 = |one: &&Envelope| {
        matches!(
            one.event,
            Event::Round(RoundEvent::Started { round_number: 2 })
        )
    };
    assert_eq!(history.iter().find(is_round_2).unwrap().at.0, 10_000);
}

#[tokio::test(start_paused = true)]
async fn interrupt_during_a_backoff_ends_at_once() {
    for after in [60, 5_000, 20_049].map(Duration::from_millis) {
        let stage = rate_limited_until(Duration::MAX, Some(20 * SECOND));
        let history = stage.play_interrupted(crowd(64), after).await;
        assert_eq!(state(&history), StateName::Aborted);
        assert_eq!(stage.began.elapsed(), after);
        let attempts = stage.attempts();
        assert_eq!(attempts.len(), 4);
        assert!(attempts.iter().all(|attempt| attempt.ended.is_some()));
    }
}

#[tokio::test(start_paused = true)]
async fn interrupt_cancels_the_trial_call_after_a_backoff() {
    let stage = Stage::new().provider("anthropic", |call| {
        if call.nth <= 4 {
            (REFUSED_AFTER, rate_limited(Some(SECOND)))
        } else {
            (60 * SECOND, good(call.ask))
        }
    });
    let after = 3 * SECOND;
    let history = stage.play_interrupted(crowd(64), after).await;
    assert_eq!(stage.began.elapsed(), after);
    let mut attempts = stage.attempts();
    attempts.retain(|attempt| attempt.ended.is_none());
    assert_eq!(attempts.len(), 1, "{attempts:?}");
    assert_eq!(attempts[0].began, Duration::from_millis(1_050));
    let is_cancelled =
        |one: &&Envelope| matches!(one.event, Event::Call(CallEvent::Cancelled { .. }));
    assert_eq!(history.iter().filter(is_cancelled).count(), 1);
}

#[tokio::test(start_paused = true)]
async fn backoff_of_one_provider_does_not_delay_another() {
    let plan = || {
        let mut plan = crowd(20);
        for seat in plan.panel.seats.iter_mut().skip(1).step_by(2) {
            seat.model = ModelRef::new("google", "gemini-4-argon");
        }
        plan
    };
    let times = async |rests: bool| {
        let stage = Stage::answering(ANSWERED_AFTER).provider("anthropic", move |call| {
            if rests && call.at < 20 * SECOND {
                (REFUSED_AFTER, rate_limited(Some(20 * SECOND)))
            } else {
                (ANSWERED_AFTER, good(call.ask))
            }
        });
        let history = stage.play(plan()).await;
        assert_eq!(Transcript::fold(&history).unwrap().failures.len(), 0);
        let attempts = round(&stage, "google", 1).into_iter();
        let begun = attempts.map(|attempt| attempt.began.as_millis());
        begun.collect::<Vec<_>>()
    };
    let alone = times(false).await;
    assert_eq!(alone, [0, 0, 0, 0, 100, 100, 100, 100, 200, 200]);
    assert_eq!(times(true).await, alone);
}
