//! Signs of a rubber stamp.

use super::*;

#[test]
fn a_rubber_stamp_takes_all_three_signs() {
    assert_eq!(outcome(&copied(), "rubber_stamp"), RuleOutcome::Fired);
    let with = |change: &dyn Fn(&mut AgreementEvidence)| {
        let mut evidence = copied();
        change(&mut evidence);
        outcome(&evidence, "rubber_stamp")
    };
    assert_eq!(with(&|evidence| evidence.tensions = 1), RuleOutcome::Held);
    assert_eq!(
        with(&|evidence| evidence.statements[1].confidence = stated(0.85)),
        RuleOutcome::Held,
        "0.85 is not above 0.85"
    );
    assert_eq!(
        with(&|evidence| evidence.statements[1].confidence = stated(0.86)),
        RuleOutcome::Fired
    );
    assert_eq!(
        with(&|evidence| evidence.statements[2].text = "Something else is better here.".into()),
        RuleOutcome::Held
    );
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
fn rubber_stamp_is_unknown_only_if_the_missing_confidence_decides() {
    let with = |change: &dyn Fn(&mut AgreementEvidence)| {
        let mut evidence = copied();
        evidence.statements[0].confidence = None;
        change(&mut evidence);
        outcome(&evidence, "rubber_stamp")
    };
    assert_eq!(with(&|_| ()), RuleOutcome::Unknown);
    assert_eq!(with(&|evidence| evidence.tensions = 1), RuleOutcome::Held);
    assert_eq!(
        with(&|evidence| evidence.statements[1].confidence = stated(0.5)),
        RuleOutcome::Held
    );
    assert_eq!(
        with(&|evidence| evidence.statements[1].text = "Something else.".into()),
        RuleOutcome::Held
    );
    let mut unknown = copied();
    unknown.statements[0].confidence = None;
    assert_eq!(
        objecting(&unknown),
        ["rubber_stamp"],
        "an unknown value does not satisfy a guard"
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
