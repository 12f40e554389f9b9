//! The guards that object to an early end.

use super::*;

#[test]
fn each_guard_objects_by_itself() {
    let fewer = |supporters| {
        let mut evidence = agreed();
        evidence.points[0].supporters = supporters;
        evidence
    };
    let cases = [
        (
            "families",
            AgreementEvidence {
                families: 1,
                ..agreed()
            },
        ),
        (
            "troubled_seats",
            AgreementEvidence {
                troubled: 1,
                ..agreed()
            },
        ),
        ("support", fewer(2)),
        (
            "high_tensions",
            AgreementEvidence {
                tensions: 2,
                high_tensions: 1,
                ..agreed()
            },
        ),
        ("rubber_stamp", copied()),
    ];
    for (name, evidence) in cases {
        assert_eq!(objecting(&evidence), [name]);
        let evaluation = evaluate(&TerminationRule::usual(), &evidence);
        assert!(evaluation.stated_is_met() && !evaluation.stops(), "{name}");
    }
}

#[test]
fn a_single_remaining_expert_is_no_agreement() {
    let mut evidence = AgreementEvidence {
        answered: 1,
        families: 1,
        troubled: 2,
        ..agreed()
    };
    evidence.statements.truncate(1);
    evidence
        .points
        .iter_mut()
        .for_each(|point| point.supporters = 1);
    assert_eq!(
        objecting(&evidence),
        ["answers", "families", "troubled_seats"]
    );
    assert_eq!(
        outcome(&evidence, "rubber_stamp"),
        RuleOutcome::NotApplicable
    );
}

#[test]
fn all_experts_must_support_only_the_strongest_point() {
    let mut evidence = agreed();
    evidence.points[1].supporters = 1;
    assert_eq!(outcome(&evidence, "support"), RuleOutcome::Held);
    evidence.points[1].confidence = stated(0.96);
    let evaluation = evaluate(&TerminationRule::usual(), &evidence);
    assert_eq!(
        evaluation.rule("support").unwrap().in_words(),
        "experts behind the strongest point: 1 of 3 (at least 3 of 3)"
    );
}
