//! Properties of any loop.

use proptest::prelude::*;

use crate::stopping::evaluation::{Rule, RuleOutcome};

use super::*;

fn any_measure() -> impl Strategy<Value = DocumentMeasure> {
    let read = (
        0..20_u64,
        0..20_u64,
        "[a-f]{0,6}",
        0..7_u64,
        0..7_u64,
        0..4_u64,
    )
        .prop_map(|(high, medium, letters, blockers, deferred, unanswered)| {
            let measure = asking(&letters);
            let open = measure.counts.unwrap().open;
            DocumentMeasure {
                counts: Some(ItemCounts {
                    high,
                    sourced_high: high / 2,
                    medium,
                    open,
                }),
                open_blockers: blockers.min(open),
                deferred: deferred.min(open),
                unanswered: unanswered.saturating_sub(2).min(open),
                ..measure
            }
        });
    prop_oneof![1 => Just(unread()), 9 => read]
}

fn any_criteria() -> impl Strategy<Value = Criteria> {
    let thresholds = (1..5_u64, 0..6_u64, 1..5_u64, 0..6_u64, 0..99_u32);
    let options = (any::<bool>(), any::<bool>(), any::<bool>());
    (thresholds, options).prop_map(
        |((min, more, stable, most_open, percent), (by_count, require_evidence, is_strict))| {
            let criteria = Criteria {
                min_iterations: min,
                max_iterations: min + more,
                stable_comparisons: stable,
                max_open_questions: most_open,
                high_confidence_ratio: ratio(f64::from(percent) / 100.0),
                stable_by: if by_count {
                    StableBy::Count
                } else {
                    StableBy::Set
                },
                require_evidence,
                rule_set: RuleSet::Corrected,
            };
            if is_strict {
                criteria.in_strict_seed()
            } else {
                criteria
            }
        },
    )
}

fn any_loop() -> impl Strategy<Value = Vec<DocumentMeasure>> {
    prop::collection::vec(any_measure(), 10)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_loop_ends_within_its_maximum(criteria in any_criteria(), measures in any_loop()) {
        let most = usize::try_from(criteria.max_iterations).unwrap();
        prop_assert!((1..=most).any(|iteration| evaluate(&criteria, &measures[..iteration]).stops()));
    }

    #[test]
    fn nothing_converges_before_its_minimum(criteria in any_criteria(), measures in any_loop()) {
        let least = usize::try_from(criteria.min_iterations).unwrap();
        for iteration in 0..least {
            let evaluation = evaluate(&criteria, &measures[..iteration]);
            prop_assert_ne!(evaluation.class(), Some(Class::Converged));
        }
    }

    #[test]
    fn an_unknown_value_never_decides(criteria in any_criteria(), measures in any_loop()) {
        for iteration in 0..=measures.len() {
            let evaluation = evaluate(&criteria, &measures[..iteration]);
            let decided = evaluation.deciding_rule().map(|name| evaluation.rule(name).unwrap());
            let is_known =
                |rule: &Rule| rule.value.is_some() && rule.outcome == RuleOutcome::Fired;
            prop_assert!(decided.is_none_or(is_known));
        }
    }

    #[test]
    fn unread_documents_never_converge(criteria in any_criteria(), measures in any_loop()) {
        let mut measures = measures;
        measures.push(unread());
        let evaluation = evaluate(&criteria, &measures);
        prop_assert!(evaluation.class().is_none_or(|class| class == Class::Exhausted));
    }

    #[test]
    fn a_replay_of_the_stored_measures_gives_the_live_evaluations(
        criteria in any_criteria(),
        measures in any_loop(),
    ) {
        let mut live = Vec::new();
        let mut log = Vec::new();
        let mut so_far = Vec::new();
        for measure in measures {
            log.push(serde_json::to_string(&measure).unwrap());
            so_far.push(measure);
            live.push(serde_json::to_string(&evaluate(&criteria, &so_far)).unwrap());
        }
        let read: Vec<DocumentMeasure> =
            log.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
        let stored = serde_json::to_string(&criteria).unwrap();
        let criteria: Criteria = serde_json::from_str(&stored).unwrap();
        for (at, live) in live.iter().enumerate() {
            let evaluation: Evaluation = serde_json::from_str(live).unwrap();
            prop_assert_eq!(evaluate(&criteria, &read[..=at]), evaluation);
        }
    }

    #[test]
    fn the_corrected_rules_and_the_reference_differ_only_where_documented(
        measures in prop::collection::vec(any_measure(), 1..4),
    ) {
        // Below the maximum, with questions that only shrink or grow, without blockers.
        let measures: Vec<_> = measures
            .into_iter()
            .filter_map(|measure| {
                let counts = measure.counts.filter(|counts| counts.total() > 0)?;
                let open = usize::try_from(counts.open).unwrap();
                Some(items(counts.high, counts.medium, open))
            })
            .collect();
        let strict = evaluate(&balanced().in_strict_seed(), &measures);
        let corrected = evaluate(&balanced(), &measures);
        prop_assert_eq!(strict.deciding_rule(), corrected.deciding_rule());
    }
}
