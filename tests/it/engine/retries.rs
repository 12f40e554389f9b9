//! Retry times for every failure class, exact to the millisecond.

use std::collections::BTreeSet;
use std::time::Duration;

use conclave::consultation::event::{
    CallEvent, ConsultationEvent, Envelope, Event, ProviderEvent, StateName,
};
use conclave::consultation::plan::Plan;
use conclave::consultation::protocol::call::{Failure, FailureClass};
use conclave::domain::cost::tokens::Usage;

use super::scripted_providers::{Attempt, ScriptedCall, Stage, state};
use crate::support::script::{good, plan};

const NOTHING: Duration = Duration::ZERO;

/// All classes, so that a new class must be added to the tests.
const CLASSES: [FailureClass; 16] = [
    FailureClass::Auth,
    FailureClass::Billing,
    FailureClass::Quota,
    FailureClass::ModelMissing,
    FailureClass::BadRequest,
    FailureClass::Context,
    FailureClass::Policy,
    FailureClass::Unsupported,
    FailureClass::RateLimit,
    FailureClass::Overload,
    FailureClass::Transport,
    FailureClass::Timeout,
    FailureClass::Interrupted,
    FailureClass::Empty,
    FailureClass::Malformed,
    FailureClass::Internal,
];

/// Returns the number of attempts while a failure of this class persists, and whether there are
/// waits between them.
fn expected_attempts(class: FailureClass, has_hint: bool) -> (usize, bool) {
    match class {
        // A plan is asked again only at the time that it names.
        FailureClass::Quota if has_hint => (3, true),
        FailureClass::RateLimit
        | FailureClass::Overload
        | FailureClass::Transport
        | FailureClass::Timeout => (3, true),
        // Nothing was generated, perhaps because of a cold start.
        FailureClass::Empty => (2, true),
        // All request forms of the provider, without waits.
        FailureClass::Unsupported => (9, false),
        FailureClass::Auth
        | FailureClass::Billing
        | FailureClass::Quota
        | FailureClass::ModelMissing
        | FailureClass::BadRequest
        | FailureClass::Context
        | FailureClass::Policy
        | FailureClass::Interrupted
        | FailureClass::Malformed
        | FailureClass::Internal => (1, false),
    }
}

fn failure_with(class: FailureClass, hint: Option<Duration>) -> Failure {
    Failure {
        retry_after: hint,
        ..Failure::new(class, "no")
    }
}

/// Returns a plan in which the Security Expert alone depends on Anthropic.
fn plan_with_seed(seed: u64) -> Plan {
    let mut plan = plan();
    plan.panel.judges.truncate(1);
    Plan { seed, ..plan }
}

/// Runs a consultation in which Anthropic always fails and the others answer at once.
async fn run_with_failure(seed: u64, failure: Failure) -> (Vec<Attempt>, Vec<Envelope>) {
    let fails = move |_: ScriptedCall<'_>| (NOTHING, Err(failure.clone()));
    let stage = Stage::answering(NOTHING).provider("anthropic", fails);
    let history = stage.play(plan_with_seed(seed)).await;
    assert_eq!(state(&history), StateName::Complete, "the others answer");
    (stage.attempts_at("anthropic"), history)
}

fn began(attempts: &[Attempt]) -> Vec<Duration> {
    attempts.iter().map(|attempt| attempt.began).collect()
}

fn gaps(attempts: &[Attempt]) -> Vec<Duration> {
    began(attempts)
        .windows(2)
        .map(|pair| pair[1].saturating_sub(pair[0]))
        .collect()
}

/// Returns the logged waits between attempts.
fn logged_waits(history: &[Envelope]) -> Vec<Duration> {
    let wait = |envelope: &Envelope| match envelope.event {
        Event::Call(CallEvent::Retried { wait_ms, .. }) => Some(Duration::from_millis(wait_ms)),
        _ => None,
    };
    history.iter().filter_map(wait).collect()
}

#[tokio::test(start_paused = true)]
async fn retries_follow_the_hint_exactly_for_every_failure_class() {
    let hint = Duration::from_millis(1_500);
    for class in CLASSES {
        let (count, waits) = expected_attempts(class, true);
        let (attempts, history) = run_with_failure(7, failure_with(class, Some(hint))).await;
        let step = if waits { hint } else { NOTHING };
        let expected: Vec<Duration> = (0..count)
            .map(|nth| step * u32::try_from(nth).unwrap())
            .collect();
        assert_eq!(began(&attempts), expected, "{class:?}");
        let waits = vec![step; count - 1];
        assert_eq!(logged_waits(&history), waits, "{class:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn waits_without_a_hint_are_at_most_one_and_two_seconds() {
    for class in CLASSES {
        let (count, waits) = expected_attempts(class, false);
        for seed in if waits { 0..3 } else { 7..8 } {
            let (attempts, history) = run_with_failure(seed, failure_with(class, None)).await;
            let gaps = gaps(&attempts);
            assert_eq!(attempts.len(), count, "{class:?}");
            assert_eq!(logged_waits(&history), gaps, "{class:?}");
            let longest = if waits { [1, 2] } else { [0, 0] };
            for (gap, longest) in gaps.iter().zip(longest.map(Duration::from_secs)) {
                assert!(*gap <= longest, "{class:?} {gaps:?}");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn waits_without_a_hint_use_their_whole_range() {
    let mut quarters = [BTreeSet::new(), BTreeSet::new()];
    for seed in 0..32 {
        let busy = failure_with(FailureClass::Overload, None);
        let gaps = gaps(&run_with_failure(seed, busy).await.0);
        for (nth, gap) in gaps.into_iter().enumerate() {
            quarters[nth].insert((gap.as_millis() * 4 / (1_000 << nth)).min(3));
        }
    }
    assert_eq!(quarters.map(|quarters| quarters.len()), [4, 4]);
}

#[tokio::test(start_paused = true)]
async fn retry_times_depend_only_on_the_seed() {
    let busy = || failure_with(FailureClass::Overload, None);
    let mut seen = BTreeSet::new();
    for seed in [1, 2, 77, u64::MAX] {
        let first = gaps(&run_with_failure(seed, busy()).await.0);
        let second = gaps(&run_with_failure(seed, busy()).await.0);
        assert_eq!(first, second, "seed {seed}");
        assert_ne!(first[0] * 2, first[1], "each wait has its own jitter");
        assert!(seen.insert(first), "seed {seed}");
    }
}

#[tokio::test(start_paused = true)]
async fn hints_are_rounded_up_to_the_millisecond() {
    let hints = [
        (NOTHING, 0),
        (Duration::from_nanos(1), 1),
        (Duration::from_secs_f64(0.0004), 1),
        (Duration::from_millis(1), 1),
        (Duration::from_nanos(1_000_001), 2),
        (Duration::from_secs_f64(7.0005), 7_001),
        (Duration::new(29, 999_000_001), 30_000),
        (Duration::from_secs(30), 30_000),
    ];
    for class in [FailureClass::RateLimit, FailureClass::Overload] {
        for (hint, wait_ms) in hints {
            let (attempts, history) = run_with_failure(7, failure_with(class, Some(hint))).await;
            let wait = Duration::from_millis(wait_ms);
            assert!(wait >= hint);
            assert_eq!(gaps(&attempts), [wait, wait], "{class:?} {hint:?}");
            assert_eq!(logged_waits(&history), [wait, wait], "{class:?} {hint:?}");
            for envelope in &history {
                if let Event::Provider(ProviderEvent::Held { wait_ms, .. }) = envelope.event {
                    assert_eq!(Duration::from_millis(wait_ms), wait, "{class:?} {hint:?}");
                }
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn runs_that_start_between_milliseconds_do_not_retry_early() {
    for offset in [1, 300, 999].map(Duration::from_micros) {
        tokio::time::advance(offset).await;
        for hint in [1, 400, 1_000, 50_001].map(Duration::from_micros) {
            let failure = failure_with(FailureClass::RateLimit, Some(hint));
            let (attempts, _) = run_with_failure(7, failure).await;
            for gap in gaps(&attempts) {
                assert!(gap >= hint, "{hint:?} {gap:?}");
                assert!(gap < hint + Duration::from_millis(3), "{hint:?} {gap:?}");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn hints_beyond_half_a_minute_prevent_retries() {
    for class in [
        FailureClass::RateLimit,
        FailureClass::Overload,
        FailureClass::Transport,
        FailureClass::Empty,
    ] {
        for hint in [
            Duration::new(30, 1),
            Duration::from_secs(31),
            Duration::from_secs(86_400),
            Duration::MAX,
        ] {
            let (attempts, history) = run_with_failure(7, failure_with(class, Some(hint))).await;
            assert_eq!(began(&attempts), [NOTHING], "{class:?} {hint:?}");
            let end = history.last().unwrap().at;
            assert_eq!(end.0, 0, "{class:?} {hint:?}: there is no wait");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn empty_answers_with_paid_thinking_are_not_retried() {
    let usage = Usage {
        output: 900,
        ..Usage::default()
    };
    let failure = Failure {
        usage: Some(Box::new(usage)),
        ..failure_with(FailureClass::Empty, None)
    };
    let (attempts, _) = run_with_failure(7, failure).await;
    assert_eq!(attempts.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn waits_start_at_the_failure() {
    let (takes, hint) = (Duration::from_millis(400), Duration::from_millis(250));
    let stage = Stage::answering(NOTHING).provider("anthropic", move |_| {
        (takes, Err(failure_with(FailureClass::Overload, Some(hint))))
    });
    stage.play(plan_with_seed(7)).await;
    let expected = [0, 650, 1_300].map(Duration::from_millis);
    assert_eq!(began(&stage.attempts_at("anthropic")), expected);
}

#[tokio::test(start_paused = true)]
async fn each_answer_and_each_model_has_its_own_retries() {
    let busy = || {
        Err(failure_with(
            FailureClass::Overload,
            Some(Duration::from_secs(1)),
        ))
    };
    // Every answer comes after two failures; the first judge's model never answers the synthesis.
    let stage = Stage::answering(NOTHING)
        .provider("anthropic", move |call| {
            let answers = call.nth % 3 == 0;
            (NOTHING, if answers { good(call.ask) } else { busy() })
        })
        .provider("openai", move |call| {
            let answers = call.ask.answer.round() != 2 && call.nth % 3 == 0;
            (NOTHING, if answers { good(call.ask) } else { busy() })
        });
    let mut plan = plan();
    plan.in_flight.clear();
    let history = stage.play(plan).await;
    assert_eq!(
        state(&history),
        StateName::Complete,
        "{:?}",
        stage.attempts()
    );
    let at = |provider: &str, round| {
        let attempts = stage.attempts_at(provider).into_iter();
        attempts
            .filter(|attempt| attempt.answer.round() == round)
            .count()
    };
    assert_eq!(at("anthropic", 1), 3);
    assert_eq!(at("openai", 1), 3);
    assert_eq!(at("google", 1), 1);
    // The fallback judge has its own retries.
    assert_eq!(at("openai", 2), 3);
    assert_eq!(at("anthropic", 2), 3);
}

#[tokio::test(start_paused = true)]
async fn fallback_judge_takes_over_during_a_long_backoff() {
    let long = || {
        Err(failure_with(
            FailureClass::RateLimit,
            Some(Duration::from_secs(45)),
        ))
    };
    let stage = Stage::answering(NOTHING).provider("openai", move |call| {
        let fails = call.ask.answer.round() == 2;
        (NOTHING, if fails { long() } else { good(call.ask) })
    });
    let history = stage.play(plan()).await;
    assert_eq!(state(&history), StateName::Complete);
    assert_eq!(history.last().unwrap().at.0, 0, "there is no wait");
    // The provider gets no call during its backoff.
    let attempts = stage.attempts_at("openai").into_iter();
    let rounds: Vec<u8> = attempts.map(|attempt| attempt.answer.round()).collect();
    assert_eq!(rounds, [1, 2]);
    // One substitution lasts for the rest of the run.
    let substitutes = history.iter().filter_map(|envelope| match &envelope.event {
        Event::Consultation(ConsultationEvent::ProviderSubstituted(substitution)) => {
            Some(substitution.substitute.to_string())
        }
        _ => None,
    });
    let substitutes: Vec<String> = substitutes.collect();
    assert_eq!(substitutes, ["anthropic:claude-sonnet-5-5"]);
}
