//! What holds for all rules and values.

use proptest::prelude::*;

use super::*;

fn any_value() -> impl Strategy<Value = Value> {
    let number = || 0..6_u64;
    prop_oneof![
        number().prop_map(Value::Count),
        (number(), number()).prop_map(|(part, of)| Value::Share { part, of }),
        (number(), number()).prop_map(|(numerator, denominator)| Value::Ratio {
            numerator,
            denominator
        }),
        "[a-c]".prop_map(Value::Word),
    ]
}

fn any_rule() -> impl Strategy<Value = Rule> {
    let kind = prop_oneof![
        Just(RuleKind::Success),
        Just(RuleKind::Limit),
        Just(RuleKind::Guard)
    ];
    let bound = prop_oneof![
        Just(Bound::AtLeast),
        Just(Bound::MoreThan),
        Just(Bound::AtMost),
        Just(Bound::LessThan),
        Just(Bound::Is),
        Just(Bound::IsNot),
    ];
    let guards = prop::collection::vec("[a-d]", 0..3);
    let value = prop::option::of(any_value());
    (kind, "[a-d]", bound, value, any_value(), guards).prop_map(
        |(kind, name, bound, value, threshold, guards)| {
            let rule = Rule::new(kind, &name, "m").measured(value, bound, threshold);
            let guards: Vec<&str> = guards.iter().map(String::as_str).collect();
            rule.guarding(if kind == RuleKind::Guard {
                &guards
            } else {
                &[]
            })
        },
    )
}

fn with_rules(mut checks: Checks, rules: &[Rule]) -> Checks {
    for rule in rules {
        let rule = rule.clone();
        checks = match rule.kind {
            RuleKind::Success => ending(checks, rule, Class::Done),
            RuleKind::Limit => ending(checks, rule, Class::Halted),
            RuleKind::Guard => checks.with(rule, None),
        };
    }
    checks
}

proptest! {
    #[test]
    fn shares_compare_as_fractions(
        part in 0..=u64::from(u32::MAX),
        of in 1..=u64::from(u32::MAX),
        factor in 1..=1u64 << 31,
    ) {
        let value = Value::Share { part, of };
        let same = Value::Share {
            part: part * factor,
            of: of * factor,
        };
        let more = Value::Share {
            part: part * factor + 1,
            of: of * factor,
        };
        prop_assert_eq!(value.compared(&same), Some(Ordering::Equal));
        prop_assert_eq!(more.compared(&value), Some(Ordering::Greater));
        prop_assert_eq!(
            Value::Count(part).compared(&Value::Share {
                part: part * of,
                of
            }),
            Some(Ordering::Equal)
        );
    }

    #[test]
    fn an_unknown_value_never_fires(rule in any_rule()) {
        let unknown = Rule::new(rule.kind, "x", "").measured(None, rule.bound, rule.threshold);
        prop_assert_eq!(unknown.outcome, RuleOutcome::Unknown);
        let stopped = with_rules(Checks::default(), &[unknown]).evaluation();
        prop_assert!(!stopped.stops());
    }

    #[test]
    fn another_limit_that_fires_never_resumes_the_work(
        rules in prop::collection::vec(any_rule(), 0..8),
        at in 0..8_usize,
    ) {
        let failed = measured(RuleKind::Limit, "failed", Some(1), Bound::LessThan, 1);
        let mut more = rules.clone();
        more.insert(at.min(rules.len()), failed);
        prop_assert!(with_rules(Checks::default(), &more).evaluation().stops());
    }

    #[test]
    fn the_first_stated_rule_that_fires_decides_everywhere(
        rules in prop::collection::vec(any_rule(), 0..8),
    ) {
        let fires = |rule: &&Rule| {
            let is_guarded = rule.kind == SUCCESS && rules.iter().any(|guard| {
                let names = &guard.guards;
                guard.kind == RuleKind::Guard
                    && matches!(guard.outcome, RuleOutcome::Fired | RuleOutcome::Unknown)
                    && (names.is_empty() || names.contains(&rule.name))
            });
            rule.kind != RuleKind::Guard && rule.outcome == RuleOutcome::Fired && !is_guarded
        };
        let stated = with_rules(Checks::default(), &rules).evaluation();
        let first = rules.iter().find(fires);
        prop_assert_eq!(stated.deciding_rule(), first.map(|rule| rule.name.as_str()));
    }

    #[test]
    fn a_stored_evaluation_is_read_back_unchanged(
        rules in prop::collection::vec(any_rule(), 0..8),
    ) {
        let evaluation = with_rules(Checks::default(), &rules).evaluation();
        let stored = serde_json::to_string(&evaluation).unwrap();
        let read: Evaluation = serde_json::from_str(&stored).unwrap();
        prop_assert_eq!(&read, &evaluation);
        prop_assert_eq!(with_rules(Checks::default(), &read.rules).evaluation(), evaluation);
    }
}
