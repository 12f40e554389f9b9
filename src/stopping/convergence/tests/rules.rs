//! The rules that both rule sets have, with the examples and edge cases of the criteria reference.

use super::*;

fn both() -> [Criteria; 2] {
    [balanced(), balanced().in_strict_seed()]
}

#[test]
fn stability_needs_two_comparisons() {
    for criteria in both() {
        let decided = play_counts(&criteria, &[7, 7, 7]);
        assert_eq!(decided, "- - question_stability");
    }
}

#[test]
fn a_change_begins_the_count_of_comparisons_again() {
    for criteria in both() {
        let measures = [7, 7, 6, 6].map(open);
        let counts = [0, 1, 2, 3].map(|end| stable_count(&criteria, &measures[..=end]));
        assert_eq!(counts, [0, 1, 0, 1]);
        assert_eq!(stable_count(&criteria, &[]), 0);
        assert_eq!(play(&criteria, &measures), "- - - -");
    }
}

#[test]
fn few_questions_stop_after_the_minimum() {
    for criteria in both() {
        assert_eq!(play_counts(&criteria, &[3, 3]), "- low_questions");
        assert_eq!(play_counts(&criteria, &[9, 4]), "- -");
        assert_eq!(play_counts(&criteria, &[9, 3]), "- low_questions");
    }
}

#[test]
fn all_questions_resolved_early_end_the_loop() {
    for criteria in both() {
        assert_eq!(play_counts(&criteria, &[5, 0]), "- low_questions");
        let evaluation = last(&criteria, &[5, 0].map(open));
        assert_eq!(evaluation.class(), Some(Class::Converged));
        assert_eq!(message(&evaluation), "no question is open");
    }
}

#[test]
fn a_ratio_must_be_exceeded() {
    for criteria in both() {
        let after =
            |high, medium, open| play(&criteria, &[self::open(9), items(high, medium, open)]);
        assert_eq!(after(16, 0, 4), "- -", "4/5 does not exceed 0.80");
        assert_eq!(after(17, 0, 4), "- high_confidence");
        assert_eq!(after(13, 4, 5), "- -");
    }
}

#[test]
fn a_ratio_that_drops_lets_the_loop_continue() {
    for criteria in both() {
        let measures = [items(40, 1, 4), items(15, 4, 6), items(41, 4, 5)];
        assert_eq!(play(&criteria, &measures), "- - high_confidence");
    }
}

#[test]
fn a_share_of_no_items_is_unknown() {
    for criteria in both() {
        let evaluation = last(&criteria, &[open(9), items(0, 0, 0)]);
        let rule = evaluation.rule("high_confidence").unwrap();
        assert_eq!(
            rule.outcome,
            crate::stopping::evaluation::RuleOutcome::Unknown
        );
    }
}

#[test]
fn a_loop_without_success_ends_at_the_maximum() {
    for criteria in both() {
        let decided = play_counts(&criteria, &[9, 8, 7, 6, 5]);
        assert_eq!(decided, "- - - - maximum_iterations");
        let evaluation = last(&criteria, &[9, 8, 7, 6, 5].map(open));
        assert_eq!(evaluation.class(), Some(Class::Exhausted));
        assert_eq!(message(&evaluation), "all 5 iterations are used up");
    }
}

#[test]
fn presets_stop_at_their_own_thresholds() {
    let cases = [
        (Preset::Conservative, "- - - - -"),
        (Preset::Balanced, "- - - low_questions low_questions"),
        (
            Preset::Aggressive,
            "- - low_questions low_questions low_questions",
        ),
    ];
    for (preset, expected) in cases {
        let decided = play_counts(&preset.criteria(), &[7, 6, 5, 3, 3]);
        assert_eq!(decided, expected, "{preset:?}");
    }
}

#[test]
fn the_aggressive_preset_can_stop_after_one_iteration() {
    let criteria = Preset::Aggressive.criteria();
    assert_eq!(play_counts(&criteria, &[5]), "low_questions");
    assert_eq!(play(&criteria, &[items(71, 20, 9)]), "high_confidence");
}

#[test]
fn details_show_what_was_compared_and_counted() {
    let [first, second] = [items(9, 4, 7), items(13, 4, 5)];
    for (measures, rule, expected) in [
        (
            vec![first.clone()],
            QUESTION_STABILITY,
            "Previous: none, Current: 7",
        ),
        (
            vec![first.clone(), second.clone()],
            QUESTION_STABILITY,
            "Previous: 7, Current: 5, Changed: YES",
        ),
        (
            vec![open(7), open(7)],
            QUESTION_STABILITY,
            "Previous: 7, Current: 7, Changed: NO",
        ),
        (
            vec![unread(), open(7)],
            QUESTION_STABILITY,
            "Previous: unknown, Current: 7",
        ),
        (
            vec![first, second],
            HIGH_CONFIDENCE,
            "High: 13, Medium: 4, Open: 5",
        ),
    ] {
        assert_eq!(detail(&balanced(), &measures, rule), expected);
    }
}

#[test]
fn messages_state_the_reason_in_words() {
    let criteria = balanced();
    let of = |measures: &[DocumentMeasure]| message(&last(&criteria, measures));
    assert_eq!(
        of(&[7, 7, 7].map(open)),
        "the open questions did not change in 2 comparisons in a row"
    );
    assert_eq!(of(&[7, 3].map(open)), "3 questions are open");
    assert_eq!(of(&[7, 1].map(open)), "1 question is open");
    assert_eq!(
        of(&[open(7), items(46, 4, 4)]),
        "46 of 54 items are of high confidence"
    );
    let by_count = Criteria {
        stable_by: StableBy::Count,
        stable_comparisons: 1,
        ..criteria
    };
    assert_eq!(
        message(&last(&by_count, &[7, 7].map(open))),
        "the number of open questions did not change in 1 comparison"
    );
}
