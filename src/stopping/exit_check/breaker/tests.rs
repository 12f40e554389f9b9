use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::stopping::circuit::state::Permit;

const RULE: BreakerRule = BreakerRule {
    no_progress_turns: 3,
    same_error_turns: 5,
    cooldown: Duration::from_secs(30 * 60),
    permit: Duration::from_secs(60 * 60),
};

fn at(minutes: i64) -> Timestamp {
    Timestamp(minutes * 60_000)
}

fn run(name: &str) -> LoopRunId {
    LoopRunId(name.to_owned())
}

fn errors(names: &[&str]) -> Vec<ErrorSignature> {
    let signature = |name: &&str| ErrorSignature((*name).to_owned());
    names.iter().map(signature).collect()
}

/// Records a turn: `+` makes progress, `-` none, `?` is unknown.
fn record(breaker: &mut LoopBreaker, turn: char, now: Timestamp) {
    let progress = match turn {
        '+' => TurnProgress::Made,
        '-' => TurnProgress::None,
        _ => TurnProgress::Unknown,
    };
    breaker.record(&RULE, progress, &[], now);
}

/// Records one turn a minute, from minute 1 on.
fn after(turns: &str) -> LoopBreaker {
    let mut breaker = LoopBreaker::new(run("a"), at(0));
    for (minute, turn) in (1..).zip(turns.chars()) {
        record(&mut breaker, turn, at(minute));
    }
    breaker
}

/// Returns the state in a few words; moments are minutes.
fn words(breaker: &LoopBreaker, minute: i64) -> String {
    let minutes = |moment: Timestamp| moment.0 / 60_000;
    match breaker.state(at(minute)) {
        BreakerState::Closed {
            no_progress_turns,
            same_error_turns,
            ..
        } => format!("closed {no_progress_turns} {same_error_turns}"),
        BreakerState::Open { since, until, why } => {
            format!("open {}-{}: {why}", minutes(since), minutes(until))
        }
        BreakerState::HalfOpen {
            probe_until, why, ..
        } => {
            let probe = probe_until.map_or(String::new(), |until| format!(" {}", minutes(until)));
            format!("half-open{probe}: {why}")
        }
    }
}

#[test]
fn the_default_rule_has_the_windows_of_the_seeds() {
    assert_eq!(BreakerRule::default(), RULE);
}

#[test]
fn transitions_follow_the_table() {
    // Turns, one a minute from minute 1 on; the minute of the reading; the state.
    let table = [
        ("", 0, "closed 0 0"),
        ("--", 2, "closed 2 0"),
        ("--+", 3, "closed 0 0"),
        ("--+--", 5, "closed 2 0"),
        ("-?-?", 4, "closed 2 0"),
        ("???????", 7, "closed 0 0"),
        ("---", 3, "open 3-33: 3 turns in a row made no progress"),
        ("-?-?-", 5, "open 5-35: 3 turns in a row made no progress"),
        ("---", 32, "open 3-33: 3 turns in a row made no progress"),
        ("---+", 4, "open 3-33: 3 turns in a row made no progress"),
        ("----", 4, "open 3-33: 3 turns in a row made no progress"),
        ("---", 33, "half-open: 3 turns in a row made no progress"),
        ("---", 1000, "half-open: 3 turns in a row made no progress"),
    ];
    for (turns, minute, expected) in table {
        assert_eq!(
            words(&after(turns), minute),
            expected,
            "{turns} at {minute}"
        );
    }
}

#[test]
fn the_turn_after_the_rest_is_the_probe() {
    // The probe at minute 40 and what follows, one a minute; the minute of the reading; the state.
    let table = [
        ("+", 40, "closed 0 0"),
        (
            "-",
            40,
            "open 40-70: the probe turn made no progress either",
        ),
        ("-", 70, "half-open: the probe turn made no progress either"),
        ("?", 40, "half-open 100: 3 turns in a row made no progress"),
        ("?", 100, "half-open: 3 turns in a row made no progress"),
        ("?+", 41, "closed 0 0"),
        (
            "?-",
            41,
            "open 41-71: the probe turn made no progress either",
        ),
        ("??", 41, "half-open 100: 3 turns in a row made no progress"),
        ("+--", 42, "closed 2 0"),
        ("+---", 43, "open 43-73: 3 turns in a row made no progress"),
    ];
    for (probes, minute, expected) in table {
        let mut breaker = after("---");
        for (minute, turn) in (40..).zip(probes.chars()) {
            record(&mut breaker, turn, at(minute));
        }
        assert_eq!(words(&breaker, minute), expected, "{probes} at {minute}");
    }
}

#[test]
fn the_same_error_in_five_turns_in_a_row_opens_the_breaker() {
    let mut breaker = after("");
    for minute in 1..=4 {
        let seen = errors(&["timeout", "missing file"]);
        breaker.record(&RULE, TurnProgress::Unknown, &seen, at(minute));
    }
    assert_eq!(words(&breaker, 4), "closed 0 4");
    let mut other = breaker.clone();
    other.record(&RULE, TurnProgress::Unknown, &errors(&["other"]), at(5));
    assert_eq!(words(&other, 5), "closed 0 1");
    breaker.record(&RULE, TurnProgress::Unknown, &errors(&["timeout"]), at(5));
    assert_eq!(
        words(&breaker, 5),
        "open 5-35: 5 turns in a row had the same error: timeout"
    );
}

#[test]
fn an_open_breaker_rests_on_in_the_next_run() {
    let mut breaker = after("---");
    breaker.begin_run(run("b"), at(4));
    assert_eq!(
        words(&breaker, 4),
        "open 3-33: 3 turns in a row made no progress"
    );
    breaker.reset(at(5));
    assert_eq!(words(&breaker, 5), "closed 0 0");
}

#[test]
fn a_clock_that_goes_backwards_does_not_lengthen_the_rest() {
    let mut breaker = after("---");
    assert_eq!(
        words(&breaker, -1000),
        "open -1000--970: 3 turns in a row made no progress"
    );
    assert!(breaker.is_ahead_of(at(-1000)));
    breaker.observe(at(-1000));
    assert!(!breaker.is_ahead_of(at(-1000)));
    assert_eq!(
        breaker.permit(at(-971)),
        Permit::Refused { until: at(-970) }
    );
    assert_eq!(breaker.permit(at(-970)), Permit::Probe);
}

#[test]
fn what_has_rested_stays_rested_when_the_clock_goes_backwards() {
    let mut breaker = after("---");
    breaker.observe(at(23));
    breaker.observe(at(13));
    assert_eq!(breaker.permit(at(22)), Permit::Refused { until: at(23) });
    assert_eq!(breaker.permit(at(23)), Permit::Probe);
}

#[test]
fn turns_count_when_the_clock_goes_backwards() {
    let mut breaker = after("--");
    record(&mut breaker, '-', at(-500));
    assert_eq!(
        words(&breaker, -500),
        "open -500--470: 3 turns in a row made no progress"
    );
}

#[derive(Clone, Debug)]
enum BreakerStep {
    /// The clock moves by this many seconds, forwards or backwards.
    Clock(i64),
    Turn(TurnProgress, Vec<ErrorSignature>),
    Observation,
    Run,
    Reset,
}

fn step() -> impl Strategy<Value = BreakerStep> {
    let progress = prop_oneof![
        1 => Just(TurnProgress::Made),
        4 => Just(TurnProgress::None),
        2 => Just(TurnProgress::Unknown),
    ];
    let errors =
        prop::sample::subsequence(vec!["a", "b", "c"], 0..=2).prop_map(|names| errors(&names));
    prop_oneof![
        3 => (0..5_000i64).prop_map(BreakerStep::Clock),
        1 => (-1_000_000..0i64).prop_map(BreakerStep::Clock),
        6 => (progress, errors).prop_map(|(progress, errors)| BreakerStep::Turn(progress, errors)),
        1 => Just(BreakerStep::Observation),
        1 => Just(BreakerStep::Run),
        1 => Just(BreakerStep::Reset),
    ]
}

/// Returns the time until the breaker gives a permit.
fn wait(breaker: &LoopBreaker, now: Timestamp) -> Duration {
    match breaker.permit(now) {
        Permit::Granted | Permit::Probe => Duration::ZERO,
        Permit::Refused { until } => until.since(now),
    }
}

proptest! {
    #[test]
    fn the_breaker_never_sticks(steps in prop::collection::vec(step(), 0..100)) {
        let (mut breaker, mut now) = (LoopBreaker::new(run("a"), at(0)), at(0));
        for step in steps {
            let before = wait(&breaker, now);
            match step {
                BreakerStep::Clock(seconds) => {
                    now = Timestamp(now.0 + seconds * 1_000);
                    let seen = wait(&breaker, breaker.seen);
                    prop_assert!(wait(&breaker, now) <= seen, "time never lengthens a rest");
                }
                BreakerStep::Turn(progress, errors) => {
                    breaker.record(&RULE, progress, &errors, now);
                }
                BreakerStep::Observation => {
                    breaker.observe(now);
                    prop_assert_eq!(
                        wait(&breaker, now),
                        before,
                        "reading the clock changes nothing"
                    );
                }
                BreakerStep::Run => breaker.begin_run(run("b"), now),
                BreakerStep::Reset => {
                    breaker.reset(now);
                    prop_assert_eq!(breaker.permit(now), Permit::Granted);
                }
            }
            prop_assert!(wait(&breaker, now) <= RULE.cooldown.max(RULE.permit));
            let rested = now.after(RULE.cooldown + RULE.permit);
            let mut observed = breaker.clone();
            observed.observe(now);
            prop_assert_eq!(
                wait(&observed, rested),
                Duration::ZERO,
                "it reaches a permit"
            );
            let stored = serde_json::to_string(&breaker).unwrap();
            prop_assert_eq!(
                &serde_json::from_str::<LoopBreaker>(&stored).unwrap(),
                &breaker
            );
        }
    }

    #[test]
    fn unknown_turns_without_errors_change_no_closed_breaker(
        turns in 0..50usize,
        failures in 0..3usize,
    ) {
        let mut breaker = after(&"-".repeat(failures));
        let before = words(&breaker, 10);
        for minute in 10..10 + i64::try_from(turns).unwrap() {
            record(&mut breaker, '?', at(minute));
        }
        prop_assert_eq!(words(&breaker, 100), before);
    }
}
