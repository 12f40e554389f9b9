//! What the corrected rules do otherwise than the criteria reference.

use super::*;

#[test]
fn success_on_the_last_iteration_has_converged() {
    let counts = [9, 8, 7, 6, 3];
    let decided = play_counts(&balanced(), &counts);
    assert_eq!(decided, "- - - - low_questions");
    let evaluation = last(&balanced(), &counts.map(open));
    assert_eq!(evaluation.class(), Some(Class::Converged));
}

#[test]
fn other_questions_in_the_same_number_are_a_change() {
    let measures = ["abcde", "fghij", "klmno"].map(asking);
    assert_eq!(play(&balanced(), &measures), "- - -");
    let by_count = Criteria {
        stable_by: StableBy::Count,
        ..balanced()
    };
    assert_eq!(play(&by_count, &measures), "- - question_stability");
}

#[test]
fn churn_is_reported_whatever_is_compared() {
    let measures = ["abcde", "abcfg"].map(asking);
    let stability = QUESTION_STABILITY;
    assert_eq!(
        detail(&balanced(), &measures, stability),
        "Previous: 5, Current: 5, Changed: YES (churn: 2 of 5 are others)"
    );
    let by_count = Criteria {
        stable_by: StableBy::Count,
        ..balanced()
    };
    assert_eq!(
        detail(&by_count, &measures, stability),
        "Previous: 5, Current: 5, Changed: NO (churn: 2 of 5 are others)"
    );
}

#[test]
fn documents_without_items_fire_nothing_but_the_maximum() {
    for empty in [unread(), items(0, 0, 0)] {
        let measures = vec![empty; 5];
        assert_eq!(play(&balanced(), &measures), "- - - - maximum_iterations");
    }
}

#[test]
fn an_unread_document_equals_no_other() {
    let measures = [open(7), unread(), open(7), open(7)];
    let counts = [1, 2, 3].map(|end| stable_count(&balanced(), &measures[..=end]));
    assert_eq!(counts, [0, 0, 1]);
    assert_eq!(play(&balanced(), &measures), "- - - -");
}

#[test]
fn open_blockers_hold_back_few_questions() {
    let blocked = |open_blockers| {
        let measure = DocumentMeasure {
            open_blockers,
            ..open(2)
        };
        play(&balanced(), &[open(9), measure])
    };
    assert_eq!(blocked(0), "- low_questions");
    assert_eq!(blocked(1), "- -");
}

#[test]
fn open_blockers_hold_back_no_other_success() {
    let blocked = |measure: DocumentMeasure| DocumentMeasure {
        open_blockers: 1,
        ..measure
    };
    let measures = [open(7), open(7), open(7)].map(blocked);
    assert_eq!(play(&balanced(), &measures), "- - question_stability");
    let measures = [open(9), items(50, 2, 1)].map(blocked);
    assert_eq!(play(&balanced(), &measures), "- high_confidence");
}

#[test]
fn evidence_is_counted_where_it_is_required() {
    let measure = DocumentMeasure {
        counts: Some(ItemCounts {
            high: 18,
            sourced_high: 10,
            medium: 0,
            open: 4,
        }),
        ..open(4)
    };
    let measures = [open(9), measure];
    assert_eq!(play(&balanced(), &measures), "- high_confidence");
    let evidence = Criteria {
        require_evidence: true,
        ..balanced()
    };
    assert_eq!(play(&evidence, &measures), "- -");
    assert_eq!(
        detail(&evidence, &measures, HIGH_CONFIDENCE),
        "High: 18 (10 with a source), Medium: 0, Open: 4"
    );
}

#[test]
fn questions_that_alternate_between_two_sets_stall() {
    let measures = ["abcde", "abcdef", "abcde", "abcdef"].map(asking);
    // It comes before the maximum, which is reached as well.
    let criteria = Criteria {
        max_iterations: 4,
        ..balanced()
    };
    assert_eq!(play(&criteria, &measures), "- - - oscillation");
    let evaluation = last(&balanced(), &measures);
    assert_eq!(evaluation.class(), Some(Class::Stalled));
    assert_eq!(
        message(&evaluation),
        "the open questions alternate between two sets"
    );
}

#[test]
fn numbers_that_alternate_with_other_questions_do_not_stall() {
    let measures = ["abcde", "abcdef", "abcdg", "abcdef"].map(asking);
    assert_eq!(play(&balanced(), &measures), "- - - -");
    let unread = [
        asking("abcde"),
        asking("abcdef"),
        unread(),
        asking("abcdef"),
    ];
    assert_eq!(play(&balanced(), &unread), "- - - -");
}

#[test]
fn the_same_questions_all_the_time_do_not_alternate() {
    let criteria = Criteria {
        stable_comparisons: 4,
        ..balanced()
    };
    let decided = play_counts(&criteria, &[7, 7, 7, 7]);
    assert_eq!(decided, "- - - -");
}

fn deferred(questions: usize, deferred: u64) -> DocumentMeasure {
    DocumentMeasure {
        deferred,
        ..open(questions)
    }
}

#[test]
fn questions_that_all_wait_for_a_person_need_that_person() {
    let measures = [deferred(5, 4), deferred(5, 5)];
    assert_eq!(play(&balanced(), &measures), "- nothing_to_ask");
    let evaluation = last(&balanced(), &measures);
    assert_eq!(evaluation.class(), Some(Class::NeedsHuman));
    assert_eq!(
        message(&evaluation),
        "all 5 open questions wait for a person"
    );
}

#[test]
fn few_deferred_questions_have_converged() {
    assert_eq!(
        play(&balanced(), &[deferred(2, 2), deferred(2, 2)]),
        "- low_questions"
    );
}

#[test]
fn a_deferred_blocker_needs_a_person() {
    let blocked = DocumentMeasure {
        open_blockers: 1,
        ..deferred(1, 1)
    };
    let measures = [open(5), blocked];
    assert_eq!(play(&balanced(), &measures), "- nothing_to_ask");
    assert_eq!(
        message(&last(&balanced(), &measures)),
        "the one open question waits for a person"
    );
}

/// A document whose panel left so many of its questions without a readable answer.
fn unanswered(questions: &str, unanswered: u64) -> DocumentMeasure {
    DocumentMeasure {
        unanswered,
        ..asking(questions)
    }
}

#[test]
fn questions_without_an_answer_are_not_unchanged() {
    let outage = vec![unanswered("abcde", 4); 5];
    assert_eq!(play(&balanced(), &outage), "- - - - maximum_iterations");
    assert_eq!(stable_count(&balanced(), &outage), 0);
    let strict = balanced().in_strict_seed();
    assert_eq!(play(&strict, &outage[..3]), "- - question_stability");
    let mut after_it = outage[..2].to_vec();
    after_it.extend(vec![asking("abcde"); 3]);
    let decided = play(&balanced(), &after_it);
    assert_eq!(decided, "- - - - question_stability");
}

#[test]
fn questions_without_an_answer_are_named_in_the_comparison() {
    let stability = QUESTION_STABILITY;
    let measures = [
        unanswered("abcde", 4),
        unanswered("abcde", 3),
        asking("abcde"),
    ];
    assert_eq!(
        detail(&balanced(), &measures[..2], stability),
        "Previous: 5, Current: 5, Changed: UNKNOWN (no readable answer: 3 of 5)"
    );
    assert_eq!(
        detail(&balanced(), &measures, stability),
        "Previous: 5, Current: 5, Changed: UNKNOWN (no readable answer before: 3 of 5)"
    );
    assert_eq!(
        detail(&balanced().in_strict_seed(), &measures, stability),
        "Previous: 5, Current: 5, Changed: NO"
    );
}

#[test]
fn questions_without_an_answer_do_not_alternate() {
    let alternating = ["abcde", "fghij", "abcde", "fghij"];
    let decided = play(&balanced(), &alternating.map(asking));
    assert_eq!(decided, "- - - oscillation");
    for at in 0..4 {
        let mut measures = alternating.map(asking);
        measures[at].unanswered = 1;
        assert_eq!(play(&balanced(), &measures), "- - - -");
    }
}
