//! The faults of the criteria reference, which its strict rules keep.

use super::*;

fn strict() -> Criteria {
    balanced().in_strict_seed()
}

#[test]
fn the_maximum_hides_a_success_on_the_last_iteration() {
    let decided = play_counts(&strict(), &[9, 8, 7, 6, 3]);
    assert_eq!(decided, "- - - - maximum_iterations");
}

#[test]
fn stability_comes_before_few_questions_and_those_before_the_ratio() {
    let measure = items(90, 1, 3);
    let measures = [measure.clone(), measure.clone(), measure];
    assert_eq!(
        play(&strict(), &measures),
        "- low_questions question_stability"
    );
    let measures = [open(9), items(90, 1, 4)];
    assert_eq!(play(&strict(), &measures), "- high_confidence");
}

#[test]
fn an_empty_document_has_few_questions() {
    let empty = items(0, 0, 0);
    assert_eq!(play(&strict(), &[empty.clone(), empty]), "- low_questions");
}

#[test]
fn blockers_and_deferred_questions_do_not_matter() {
    let measure = DocumentMeasure {
        open_blockers: 1,
        deferred: 2,
        ..open(2)
    };
    assert_eq!(play(&strict(), &[open(9), measure]), "- low_questions");
    let all_deferred = DocumentMeasure {
        deferred: 6,
        ..open(6)
    };
    assert_eq!(play(&strict(), &[open(9), all_deferred]), "- -");
}

#[test]
fn only_the_rules_of_the_reference_are_evaluated() {
    let evaluation = last(&strict(), &[open(9)]);
    let names: Vec<_> = evaluation.rules.iter().map(|rule| &*rule.name).collect();
    let expected = [
        "minimum_iterations",
        "maximum_iterations",
        "question_stability",
        "low_questions",
        "high_confidence",
    ];
    assert_eq!(names, expected);
}
