//! Signs of a rubber stamp.

use super::*;

#[test]
fn a_rubber_stamp_takes_all_three_signs() {
    type Row = (fn(&mut AgreementEvidence), RuleOutcome);
    let table: [Row; 9] = [
        (|_| (), RuleOutcome::Fired),
        (|of| of.tensions = 1, RuleOutcome::Held),
        // 0.85 is not above 0.85.
        (
            |of| of.statements[1].confidence = stated(0.85),
            RuleOutcome::Held,
        ),
        (
            |of| of.statements[1].confidence = stated(0.86),
            RuleOutcome::Fired,
        ),
        (
            |of| of.statements[2].text = "Another one is better.".into(),
            RuleOutcome::Held,
        ),
        // A missing confidence counts only if it decides.
        (
            |of| of.statements[0].confidence = None,
            RuleOutcome::Unknown,
        ),
        (
            |of| (of.statements[0].confidence, of.tensions) = (None, 1),
            RuleOutcome::Held,
        ),
        (
            |of| {
                of.statements[0].confidence = None;
                of.statements[1].confidence = stated(0.5);
            },
            RuleOutcome::Held,
        ),
        (
            |of| {
                of.statements[0].confidence = None;
                of.statements[1].text = "Something else.".into();
            },
            RuleOutcome::Held,
        ),
    ];
    for (at, (change, expected)) in table.into_iter().enumerate() {
        let mut evidence = copied();
        change(&mut evidence);
        assert_eq!(outcome(&evidence, "rubber_stamp"), expected, "row {at}");
        let objects = expected != RuleOutcome::Held;
        assert_eq!(
            objecting(&evidence) == ["rubber_stamp"],
            objects,
            "row {at}"
        );
    }
}

#[test]
fn texts_are_near_identical_from_six_tenths_on() {
    let like = |one: &str, other: &str| {
        let mut evidence = copied();
        evidence.statements.truncate(2);
        evidence.statements[0].text = one.into();
        evidence.statements[1].text = other.into();
        outcome(&evidence, "rubber_stamp")
    };
    assert_eq!(
        like("take the one that is old", "take the one that is new"),
        RuleOutcome::Fired,
        "three trigrams of five"
    );
    assert_eq!(
        like("take the one that was", "take the one that is"),
        RuleOutcome::Held,
        "two of four"
    );
}

#[test]
fn two_texts_are_needed_to_look_alike() {
    let mut evidence = copied();
    evidence.statements[0].text = " ".into();
    evidence.statements[1].text = String::new();
    assert_eq!(
        outcome(&evidence, "rubber_stamp"),
        RuleOutcome::NotApplicable
    );
    assert!(
        evaluate(&TerminationRule::usual(), &evidence).stops(),
        "what does not apply does not object"
    );
}

#[test]
fn a_rubber_stamp_describes_its_signs() {
    let evaluation = evaluate(&TerminationRule::usual(), &copied());
    let rule = evaluation.rule("rubber_stamp").unwrap();
    assert_eq!(
        rule.in_words(),
        "signs of a rubber stamp: 3 of 3 (less than 3 of 3)"
    );
    assert_eq!(
        rule.detail.as_deref(),
        Some("lowest stated confidence: 0.90, tensions: 0, least likeness of two answers: 1.00")
    );
}
