//! The presets, and which thresholds are accepted.

use super::*;

fn refused(change: impl FnOnce(&mut Criteria)) -> String {
    let mut criteria = balanced();
    change(&mut criteria);
    match criteria.validate(Preset::Balanced) {
        Ok(()) => "accepted".to_owned(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn presets_are_those_of_the_criteria_reference() {
    let table = Preset::ALL.map(|preset| {
        let criteria = preset.criteria();
        format!(
            "{preset:?} {} {} {} {} {:.2}",
            criteria.min_iterations,
            criteria.max_iterations,
            criteria.stable_comparisons,
            criteria.max_open_questions,
            criteria.high_confidence_ratio.value(),
        )
    });
    let expected = [
        "Conservative 3 7 3 2 0.90",
        "Balanced 2 5 2 3 0.80",
        "Aggressive 1 3 2 5 0.70",
    ];
    assert_eq!(table, expected);
    assert_eq!(Preset::default(), Preset::Balanced);
}

#[test]
fn every_preset_is_valid_under_both_rule_sets() {
    for preset in Preset::ALL {
        let criteria = preset.criteria();
        assert_eq!(criteria.validate(preset), Ok(()), "{preset:?}");
        let strict = criteria.in_strict_seed();
        assert_eq!(strict.validate(preset), Ok(()), "{preset:?}");
    }
}

#[test]
fn criteria_that_cannot_be_met_are_refused() {
    type Row = (fn(&mut Criteria), &'static str);
    let table: [Row; 13] = [
        (
            |of| of.max_iterations = 0,
            "`--max-iterations` is 0: a loop has at least one iteration",
        ),
        (
            |of| of.max_iterations = 101,
            "`--max-iterations` is 101: a loop needs a cap; the most is 100",
        ),
        (
            |of| of.min_iterations = 0,
            "`--min-iterations` is 0: every loop has one iteration; the least is 1",
        ),
        (
            |of| of.min_iterations = 6,
            "`--min-iterations` is 6: it can never be reached, because `--max-iterations` is 5",
        ),
        (|of| of.min_iterations = 5, "accepted"),
        (
            |of| of.stable_comparisons = 0,
            "`--stable` is 0: every iteration would reach it; the least is 1",
        ),
        (
            |of| of.stable_comparisons = 5,
            "`--stable` is 5: it can never be reached, because `--max-iterations` is 5",
        ),
        (|of| of.stable_comparisons = 4, "accepted"),
        (
            |of| of.high_confidence_ratio = ratio(1.0),
            "`--ratio` is 1: no share exceeds it; it must be below 1",
        ),
        (|of| of.high_confidence_ratio = ratio(0.99), "accepted"),
        (|of| of.max_open_questions = 0, "accepted"),
        (
            |of| of.rule_set = RuleSet::StrictSeed,
            "`--stable-by` is set: the rules of `--strict-seed` compare numbers of questions",
        ),
        (
            |of| {
                *of = of.in_strict_seed();
                of.require_evidence = true;
            },
            "`--require-evidence` is set: the rules of `--strict-seed` count every item",
        ),
    ];
    for (change, expected) in table {
        assert_eq!(refused(change), expected);
    }
}

#[test]
fn the_stability_of_the_preset_may_lie_beyond_a_lower_maximum() {
    let two = |criteria: &mut Criteria| criteria.max_iterations = 2;
    assert_eq!(refused(two), "accepted");
    let mut criteria = balanced();
    two(&mut criteria);
    let error = criteria.validate(Preset::Conservative).unwrap_err();
    assert_eq!(error.setting, "--stable", "2 is not what that preset has");
}
