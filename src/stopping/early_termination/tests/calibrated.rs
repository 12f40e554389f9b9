//! The calibrated probability of the strongest point.

use super::*;
use crate::domain::answer::confidence::{Basis, Calibrated};

#[test]
fn without_answers_there_is_nothing_to_calibrate() {
    let evidence = AgreementEvidence {
        answered: 0,
        statements: vec![],
        ..agreed()
    };
    assert_eq!(calibrated(&TerminationRule::usual(), &evidence), None);
    assert!(!evaluate(&TerminationRule::usual(), &evidence).stops());
}

#[test]
fn the_pool_states_its_basis() {
    let found = calibrated(&TerminationRule::usual(), &agreed()).unwrap();
    let Basis::Pool {
        correlation,
        effective_voters,
    } = found.basis
    else {
        panic!("{found:?}")
    };
    assert!((correlation - 0.44).abs() < f64::EPSILON);
    // 3 / (1 + 2 × 0.44), and 1.27 × that as odds.
    assert!(
        (effective_voters - 1.596).abs() < 0.001 && (found.probability - 0.883).abs() < 0.001,
        "{found:?}"
    );
    let kept = serde_json::to_string(&found).unwrap();
    assert!(
        kept.contains(r#""basis":{"pool":{"correlation":0.44,"#),
        "{kept}"
    );
    assert_eq!(serde_json::from_str::<Calibrated>(&kept).unwrap(), found);
}

#[test]
fn dissent_and_missing_confidence_lower_the_probability() {
    let all = calibrated(&TerminationRule::usual(), &agreed())
        .unwrap()
        .probability;
    let mut evidence = agreed();
    evidence.statements[0].confidence = None;
    let unstated = calibrated(&TerminationRule::usual(), &evidence)
        .unwrap()
        .probability;
    let mut evidence = agreed();
    evidence.statements[0].supports_leading = false;
    let opposed = calibrated(&TerminationRule::usual(), &evidence)
        .unwrap()
        .probability;
    assert!(
        opposed < unstated && unstated < all,
        "{opposed} {unstated} {all}"
    );
}

#[test]
fn fifty_graded_answers_replace_the_pool() {
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
        Basis::Pool { .. }
    ));
    let mut evidence = agreed();
    let found = calibrated(&levels(30), &evidence).unwrap();
    assert_eq!(
        found.basis,
        Basis::Experience {
            graded: 50,
            agreement: 1.0
        }
    );
    evidence.points[0].supporters = 2;
    let less = calibrated(&levels(30), &evidence).unwrap();
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
}
