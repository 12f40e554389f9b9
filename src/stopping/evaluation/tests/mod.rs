mod properties;

use std::cmp::Ordering;

use crate::domain::answer::confidence::Confidence;

use super::*;

const SUCCESS: RuleKind = RuleKind::Success;

fn measured(kind: RuleKind, name: &str, value: Option<u64>, bound: Bound, threshold: u64) -> Rule {
    Rule::new(kind, name, "what is counted").measured(
        value.map(Value::Count),
        bound,
        Value::Count(threshold),
    )
}

fn success(name: &str, value: u64) -> Rule {
    measured(SUCCESS, name, Some(value), Bound::AtLeast, 3)
}

fn limit(value: u64) -> Rule {
    let kind = RuleKind::Limit;
    measured(kind, "iterations", Some(value), Bound::LessThan, 5)
}

fn guard(value: Option<u64>) -> Rule {
    measured(RuleKind::Guard, "minimum", value, Bound::AtLeast, 2)
}

/// The class and the rule that decided.
fn decided(checks: Checks) -> Option<(Class, String)> {
    match checks.evaluation().decision {
        Decision::Continue => None,
        Decision::Stop { class, rule, .. } => Some((class, rule)),
    }
}

fn ending(checks: Checks, rule: Rule, class: Class) -> Checks {
    checks.with(rule, Some(class))
}

#[test]
fn successes_fire_within_their_bound_and_limits_and_guards_outside() {
    use RuleOutcome::{Fired, Held};
    let cases = [
        (Bound::AtLeast, [Held, Fired, Fired]),
        (Bound::MoreThan, [Held, Held, Fired]),
        (Bound::AtMost, [Fired, Fired, Held]),
        (Bound::LessThan, [Fired, Held, Held]),
    ];
    for (bound, expected) in cases {
        let found =
            |kind| [2, 3, 4].map(|value| measured(kind, "x", Some(value), bound, 3).outcome);
        assert_eq!(found(SUCCESS), expected, "{bound:?}");
        let opposite = expected.map(|outcome| if outcome == Fired { Held } else { Fired });
        assert_eq!(found(RuleKind::Limit), opposite, "{bound:?}");
        assert_eq!(found(RuleKind::Guard), opposite, "{bound:?}");
    }
}

#[test]
fn share_of_nothing_neither_fires_nor_holds() {
    let nothing = Value::share(0, 0);
    let rule = Rule::new(SUCCESS, "x", "");
    let rule = rule.measured(Some(nothing.clone()), Bound::AtLeast, nothing);
    assert_eq!(rule.outcome, RuleOutcome::Unknown);
}

#[test]
fn the_first_rule_that_fires_decides() {
    let three = [("a", 2), ("b", 3), ("c", 4)];
    let checks = three
        .into_iter()
        .fold(Checks::default(), |checks, (name, value)| {
            ending(checks, success(name, value), Class::Done)
        });
    assert_eq!(decided(checks), Some((Class::Done, "b".to_owned())));
}

#[test]
fn a_guard_blocks_a_success_but_no_limit() {
    let with = |guard: Rule, iterations| {
        let checks = ending(Checks::default(), success("stable", 3), Class::Converged);
        let checks = checks.with(guard, None);
        decided(ending(checks, limit(iterations), Class::Exhausted)).map(|(class, _)| class)
    };
    assert_eq!(with(guard(Some(2)), 4), Some(Class::Converged));
    assert_eq!(with(guard(Some(1)), 4), None);
    assert_eq!(
        with(guard(None), 4),
        None,
        "an unknown value does not satisfy a guard"
    );
    let mut other = guard(Some(1));
    other.clear();
    assert_eq!(with(other, 4), Some(Class::Converged));
    assert_eq!(with(guard(Some(1)), 5), Some(Class::Exhausted));
}

#[test]
fn objecting_guards_are_listed_in_order() {
    let failed = measured(RuleKind::Guard, "failed", Some(1), Bound::AtMost, 0);
    let fine = measured(RuleKind::Guard, "fine", Some(0), Bound::AtMost, 0);
    let evaluation = ending(Checks::default(), success("done", 0), Class::Done)
        .with(failed, None)
        .with(fine, None)
        .with(guard(None), None)
        .evaluation();
    let unmet = evaluation.unmet_guards();
    let unmet: Vec<&str> = unmet.map(|rule| rule.name.as_str()).collect();
    assert_eq!(unmet, ["failed", "minimum"]);
    assert!(!evaluation.stops());
    assert!(evaluation.rule("fine").is_some());
    assert!(evaluation.rule("other").is_none());
}

#[test]
fn a_guard_blocks_only_the_successes_that_it_names() {
    let with = |guarded: &[&str]| {
        let checks = ending(Checks::default(), success("first", 3), Class::Done);
        let checks = ending(checks, success("second", 3), Class::Converged);
        decided(checks.with(guard(Some(1)).guarding(guarded), None)).map(|(_, rule)| rule)
    };
    assert_eq!(with(&["first"]).as_deref(), Some("second"));
    assert_eq!(with(&["second"]).as_deref(), Some("first"));
    assert_eq!(with(&["first", "second"]), None);
    assert_eq!(with(&[]), None, "without names, every success");
}

#[test]
fn the_stated_order_decides_between_a_success_and_a_limit() {
    let checks = ending(Checks::default(), success("all", 0), Class::Done);
    let checks = ending(checks, limit(5), Class::Exhausted);
    let checks = ending(checks, success("stable", 3), Class::Converged);
    assert_eq!(
        decided(checks),
        Some((Class::Exhausted, "iterations".to_owned()))
    );
}

#[test]
fn values_compare_exactly_within_their_kind() {
    let ratio = |numerator, denominator| Value::Ratio {
        numerator,
        denominator,
    };
    let word = Value::word;
    for (one, other, order) in [
        (ratio(3, 2), Value::Count(1), Some(Ordering::Greater)),
        (ratio(2, 4), Value::share(1, 2), Some(Ordering::Equal)),
        // A quotient of nothing, and words, which have no order.
        (ratio(1, 0), ratio(1, 0), None),
        (word("a"), word("a"), None),
    ] {
        assert_eq!(one.compared(&other), order, "{one:?} {other:?}");
    }
    assert_eq!(word("a").equals(&word("a")), Some(true));
    assert_eq!(word("a").equals(&word("b")), Some(false));
    assert_eq!(word("1").equals(&Value::Count(1)), None);
}

#[test]
fn bounds_that_make_no_sense_for_a_value_are_unknown() {
    let (open, count) = (|| Value::word("open"), Value::Count);
    for (value, bound, threshold, expected) in [
        (open(), Bound::AtLeast, open(), RuleOutcome::Unknown),
        (open(), Bound::Is, count(1), RuleOutcome::Unknown),
        (open(), Bound::Is, open(), RuleOutcome::Fired),
        (open(), Bound::IsNot, open(), RuleOutcome::Held),
        (count(2), Bound::IsNot, count(1), RuleOutcome::Fired),
    ] {
        let rule = Rule::new(SUCCESS, "x", "");
        let rule = rule.measured(Some(value), bound, threshold);
        assert_eq!(rule.outcome, expected, "{rule:?}");
    }
}

#[test]
fn values_of_old_logs_are_read_as_before() {
    let value = |json: &str| serde_json::from_str::<Value>(json).unwrap();
    assert_eq!(value("3"), Value::Count(3));
    assert_eq!(value(r#"{"part":2,"of":3}"#), Value::share(2, 3));
    assert_eq!(value(r#""open""#), Value::word("open"));
    let rule: Rule = serde_json::from_str(
        r#"{"name":"answers","kind":"guard","metric":"experts","value":3,
            "bound":"at_least","threshold":2,"outcome":"held"}"#,
    )
    .unwrap();
    assert_eq!(rule.guards, [""; 0]);
    assert_eq!(rule.value, Some(Value::Count(3)));
}

#[test]
fn numbers_are_formatted_like_their_threshold() {
    let decimal = |value| Value::decimal(Confidence::new(value).unwrap());
    let in_words = |value, threshold| {
        let rule = Rule::new(SUCCESS, "x", "share");
        rule.measured(value, Bound::MoreThan, threshold).in_words()
    };
    let cases = [
        ((13, 20), "share: 0.65 (more than 0.80)"),
        ((4, 5), "share: 0.80 (more than 0.80)"),
        ((7_999, 10_000), "share: 0.7999 (more than 0.8000)"),
        (
            (79_999_999, 100_000_000),
            "share: 0.800000 (more than 0.800000)",
        ),
    ];
    for ((part, of), words) in cases {
        let value = Value::share(part, of);
        assert_eq!(in_words(Some(value), decimal(0.8)), words);
    }
    let unknown = in_words(None, decimal(0.8));
    assert_eq!(unknown, "share: unknown (more than 0.80)");
    let shares = in_words(Some(Value::share(2, 3)), Value::share(3, 3));
    assert_eq!(shares, "share: 2 of 3 (more than 3 of 3)");
    let counts = in_words(Some(Value::Count(1)), Value::Count(2));
    assert_eq!(counts, "share: 1 (more than 2)");
}

#[test]
fn the_serialized_evaluation_is_self_contained() {
    let evaluation = ending(Checks::default(), success("stable", 3), Class::NeedsHuman)
        .with(guard(None), None)
        .evaluation();
    let rule = |name: &str, kind: &str, value: serde_json::Value, threshold: u64, outcome: &str| {
        serde_json::json!({
            "name": name, "kind": kind, "metric": "what is counted", "value": value,
            "bound": "at_least", "threshold": threshold, "outcome": outcome,
        })
    };
    let expected = serde_json::json!({
        "rules": [
            rule("stable", "success", 3.into(), 3, "fired"),
            rule("minimum", "guard", serde_json::Value::Null, 2, "unknown"),
        ],
        "decision": "continue",
    });
    assert_eq!(serde_json::to_value(&evaluation).unwrap(), expected);
    let stopped = ending(Checks::default(), success("stable", 3), Class::NeedsHuman).evaluation();
    assert_eq!(
        serde_json::to_value(&stopped.decision).unwrap(),
        serde_json::json!({
            "stop": {
                "class": "needs_human",
                "rule": "stable",
                "value": 3,
                "threshold": 3,
                "message": "",
            },
        })
    );
}
