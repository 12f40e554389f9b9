//! Samples of evidence, and the rule on stated confidence.

mod calibrated;
mod guards;
mod rubber_stamp;

use super::*;
use crate::stopping::evaluation::Decision;

fn stated(value: f64) -> Option<Confidence> {
    let stated = Confidence::new(value);
    assert!(stated.is_some());
    stated
}

fn points(stated: &[Option<f64>]) -> Vec<Point> {
    stated
        .iter()
        .map(|value| Point {
            confidence: value.and_then(Confidence::new),
            supporters: 3,
        })
        .collect()
}

fn rule(threshold: f64) -> TerminationRule {
    TerminationRule {
        threshold: Confidence::new(threshold).unwrap(),
        ..TerminationRule::usual()
    }
}

/// Three experts of three families that agree in different words.
fn agreed() -> AgreementEvidence {
    let said = |text: &str| Statement {
        confidence: stated(0.9),
        text: text.to_owned(),
    };
    AgreementEvidence {
        points: points(&[Some(0.95), Some(0.93)]),
        answered: 3,
        families: 3,
        troubled: 0,
        uninformative_judge: false,
        tensions: 0,
        high_tensions: 0,
        statements: vec![
            said("Use PostgreSQL, since writes come from many services at once."),
            said("A server is needed: several processes write, and SQLite locks the file."),
            said("Concurrent writers rule an embedded store out, so take Postgres."),
        ],
    }
}

/// All three in the same words.
fn copied() -> AgreementEvidence {
    let mut evidence = agreed();
    for statement in &mut evidence.statements {
        statement.text = "Use PostgreSQL, since writes come from many services at once and SQLite locks its file.".to_owned();
    }
    evidence
}

fn outcome(evidence: &AgreementEvidence, name: &str) -> RuleOutcome {
    evaluate(&TerminationRule::usual(), evidence)
        .rule(name)
        .unwrap()
        .outcome
}

/// Returns the names of the guards that object.
fn objecting(evidence: &AgreementEvidence) -> Vec<String> {
    evaluate(&TerminationRule::usual(), evidence)
        .unmet_guards()
        .map(|rule| rule.name.clone())
        .collect()
}

#[test]
fn a_debate_ends_if_the_threshold_is_met_and_every_guard_holds() {
    let evaluation = evaluate(&TerminationRule::usual(), &agreed());
    let rules = evaluation.rules.iter();
    let names: Vec<&str> = rules.map(|rule| rule.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "stated_confidence",
            "answers",
            "families",
            "troubled_seats",
            "support",
            "high_tensions",
            "rubber_stamp"
        ]
    );
    assert_eq!(
        evaluation.decision,
        Decision::Stop {
            class: Class::Converged,
            rule: "stated_confidence".into(),
            value: Some(Value::Share {
                part: 1_880_000,
                of: 2_000_000
            }),
            threshold: Value::Share {
                part: 900_000,
                of: 1_000_000
            },
            message: "stated confidence 0.94 (at least 0.90), and no guard objects".into(),
        }
    );
    assert!(evaluation.stops());
    assert!(evaluation.stated_is_met());
}

#[test]
fn a_threshold_that_is_met_exactly_is_met() {
    let exact: [(&[f64], f64); 9] = [
        (&[0.0157, 0.0143], 0.015),
        (&[0.95, 0.85], 0.9),
        (&[0.9, 0.8], 0.85),
        (&[0.7, 0.8, 0.9], 0.8),
        (&[0.1, 0.2, 0.3], 0.2),
        (&[0.93, 0.89, 0.88], 0.9),
        (&[1.0, 0.4], 0.7),
        (&[1.0], 1.0),
        (&[0.0], 0.0),
    ];
    for (values, threshold) in exact {
        let points = points(&values.iter().copied().map(Some).collect::<Vec<_>>());
        let evaluation = evaluate(&rule(threshold), &AgreementEvidence { points, ..agreed() });
        assert!(
            evaluation.stated_is_met() && evaluation.stops(),
            "{values:?} {threshold}"
        );
    }
}

#[test]
fn every_mean_of_two_percentages_meets_only_itself() {
    for (one, other) in
        (0..=100_u32).flat_map(|one| (one..=100).step_by(7).map(move |other| (one, other)))
    {
        let at = |hundredths: u32| Some(f64::from(hundredths) / 100.0);
        let evidence = AgreementEvidence {
            points: points(&[at(one), at(other)]),
            ..agreed()
        };
        let mean = f64::from(one + other) / 200.0;
        let meets = |mean| evaluate(&rule(mean), &evidence).stated_is_met();
        assert!(meets(mean), "{one} {other}");
        let stated = stated_confidence(&evidence.points).map(Confidence::value);
        assert_eq!(stated, Some(mean), "{one} {other}");
        assert!(
            mean + 0.0001 > 1.0 || !meets(mean + 0.0001),
            "{one} {other}"
        );
    }
}

#[test]
fn a_debate_continues_below_the_threshold() {
    let evidence = AgreementEvidence {
        points: points(&[Some(0.95), Some(0.84)]),
        ..agreed()
    };
    let evaluation = evaluate(&TerminationRule::usual(), &evidence);
    assert_eq!(evaluation.decision, Decision::Continue);
    assert!(!evaluation.stated_is_met());
    assert_eq!(evaluation.unmet_guards().count(), 0);
    let stated = evaluation.rule("stated_confidence").unwrap();
    assert_eq!(
        stated.in_words(),
        "mean confidence of what is agreed: 0.895 (at least 0.900)",
        "and it does not look like 0.90"
    );
}

#[test]
fn a_debate_without_points_of_agreement_continues() {
    let evidence = AgreementEvidence {
        points: vec![],
        ..agreed()
    };
    assert_eq!(stated_confidence(&[]).map(Confidence::value), Some(0.0));
    assert_eq!(outcome(&evidence, STATED), RuleOutcome::Held);
    assert_eq!(outcome(&evidence, "support"), RuleOutcome::Unknown);
    assert_eq!(objecting(&evidence), ["support"]);
    assert!(
        !evaluate(&rule(0.0), &evidence).stops(),
        "even where any confidence would do"
    );
    assert_eq!(calibrated(&TerminationRule::usual(), &evidence), None);
}

#[test]
fn points_without_a_stated_confidence_are_left_out() {
    let some = AgreementEvidence {
        points: points(&[Some(0.95), None]),
        ..agreed()
    };
    assert_eq!(outcome(&some, STATED), RuleOutcome::Fired);
    assert_eq!(stated_confidence(&some.points), stated(0.95));
    let none = AgreementEvidence {
        points: points(&[None, None]),
        ..agreed()
    };
    assert_eq!(outcome(&none, STATED), RuleOutcome::Unknown);
    assert_eq!(stated_confidence(&none.points), None);
    assert!(!evaluate(&rule(0.0), &none).stops());
}

#[test]
fn the_strongest_point_is_the_first_with_the_highest_confidence() {
    let at = |values: &[Option<f64>]| {
        let points = points(values);
        points
            .iter()
            .position(|point| leading(&points).is_some_and(|it| std::ptr::eq(it, point)))
    };
    assert_eq!(at(&[Some(0.8), Some(0.9), Some(0.9)]), Some(1));
    assert_eq!(
        at(&[None, Some(0.0)]),
        Some(1),
        "an unstated confidence is below any"
    );
    assert_eq!((at(&[None, None]), at(&[])), (Some(0), None));
}
