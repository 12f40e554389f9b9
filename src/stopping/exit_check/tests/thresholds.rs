//! Which thresholds are accepted, and how a wrong one is reported.

use super::*;

fn refused(change: impl FnOnce(&mut ExitThresholds)) -> String {
    let mut thresholds = ExitThresholds::default();
    change(&mut thresholds);
    match thresholds.validate() {
        Ok(()) => "accepted".to_owned(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn defaults_are_those_of_the_original_and_a_cap() {
    let thresholds = ExitThresholds::default();
    assert_eq!(thresholds.min_confidence, 70);
    assert_eq!(thresholds.min_completion, 80);
    assert_eq!(thresholds.max_errors, 5);
    assert_eq!(thresholds.stagnation_turns, 3);
    assert_eq!(thresholds.max_turns, 100);
    assert_eq!(thresholds.validate(), Ok(()));
}

#[test]
fn thresholds_that_never_matter_or_are_never_reached_are_refused() {
    type Row = (fn(&mut ExitThresholds), &'static str);
    let table: [Row; 11] = [
        (
            |of| of.min_confidence = 0,
            "`min_confidence` is 0: no confidence is lower, so it would never fire",
        ),
        (
            |of| of.min_confidence = 101,
            "`min_confidence` is 101: every confidence is lower; the most is 100",
        ),
        (
            |of| of.min_completion = 0,
            "`min_completion` is 0: every checklist reaches it; the least is 1",
        ),
        (
            |of| of.min_completion = 101,
            "`min_completion` is 101: no checklist reaches it; the most is 100",
        ),
        (
            |of| of.max_errors = 50,
            "`max_errors` is 50: a turn never has more; at most 50 errors are recorded, \
             so the most is 49",
        ),
        (
            |of| of.max_turns = 0,
            "`max_turns` is 0: a run has at least one turn",
        ),
        (
            |of| of.max_turns = 10_001,
            "`max_turns` is 10001: a loop needs a cap; the most is 10000",
        ),
        (
            |of| of.completion_claims = 1,
            "`completion_claims` is 1: a claim in words needs a second one; the least is 2",
        ),
        (
            |of| of.stagnation_turns = 0,
            "`stagnation_turns` is 0: every turn would reach it; the least is 1",
        ),
        (
            |of| of.stagnation_turns = 100,
            "`stagnation_turns` is 100: it can never be reached, because `max_turns` is 100",
        ),
        // A low cap needs no other setting.
        (|of| of.max_turns = 1, "accepted"),
    ];
    for (change, expected) in table {
        assert_eq!(refused(change), expected);
    }
}

#[test]
fn the_name_of_the_original_script_is_read() {
    let json = r#"{"min_confidence":80,"stagnation_loops":2}"#;
    let expected = ExitThresholds {
        min_confidence: 80,
        stagnation_turns: 2,
        ..ExitThresholds::default()
    };
    assert_eq!(
        serde_json::from_str::<ExitThresholds>(json).unwrap(),
        expected
    );
}
