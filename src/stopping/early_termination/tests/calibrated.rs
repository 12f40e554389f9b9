//! The calibrated probability of the strongest point.

use super::*;
use crate::domain::answer::confidence::{Basis, Calibrated};

/// Returns the evidence of so many experts, with so many behind the strongest point.
fn supported(supporters: usize, answered: usize) -> AgreementEvidence {
    let mut evidence = agreed();
    evidence.points[0].supporters = supporters;
    AgreementEvidence {
        answered,
        ..evidence
    }
}

#[test]
fn agreement_of_few_or_none_is_not_calibrated() {
    for (supporters, answered) in [(0, 0), (1, 1), (2, 2), (0, 3)] {
        let evidence = supported(supporters, answered);
        assert_eq!(calibrated(&TerminationRule::usual(), &evidence), None);
    }
}

#[test]
fn the_probability_states_its_basis() {
    let found = calibrated(&TerminationRule::usual(), &supported(2, 3)).unwrap();
    let basis = Basis::Panels {
        supporters: 2,
        answered: 3,
    };
    assert_eq!(
        (found.probability, found.basis),
        (agreement::probability(2, 3).unwrap(), basis)
    );
    let kept = serde_json::to_string(&found).unwrap();
    assert!(
        kept.contains(r#""basis":{"panels":{"supporters":2,"answered":3}}"#),
        "{kept}"
    );
    assert_eq!(serde_json::from_str::<Calibrated>(&kept).unwrap(), found);
}

#[test]
fn stated_confidence_has_no_part_in_it() {
    let mut evidence = agreed();
    let before = calibrated(&TerminationRule::usual(), &evidence);
    evidence.statements[0].confidence = None;
    evidence.statements[1].confidence = stated(0.1);
    evidence.points[0].confidence = stated(1.0);
    assert_eq!(calibrated(&TerminationRule::usual(), &evidence), before);
}

#[test]
fn fifty_graded_answers_replace_what_was_measured() {
    let levels = |high: usize| {
        let level = |agreement, count, mean_right| Level {
            agreement,
            count,
            mean_right,
        };
        TerminationRule {
            experience: vec![level(1.0, high, 0.9), level(0.5, 20, 0.4)],
            ..TerminationRule::usual()
        }
    };
    assert!(matches!(
        calibrated(&levels(29), &agreed()).unwrap().basis,
        Basis::Panels { .. }
    ));
    let found = calibrated(&levels(30), &agreed()).unwrap();
    assert_eq!(
        found.basis,
        Basis::Experience {
            graded: 50,
            agreement: 1.0
        }
    );
    let less = calibrated(&levels(30), &supported(2, 3)).unwrap();
    assert_eq!(
        less.basis,
        Basis::Experience {
            graded: 50,
            agreement: 2.0 / 3.0
        }
    );
    assert!(
        less.probability < 0.5 && found.probability > 0.8,
        "{less:?} {found:?}"
    );
    assert_eq!(
        calibrated(&levels(30), &supported(1, 1)),
        None,
        "a single answer agrees with nothing"
    );
}
