//! The suite that ships: enough cases of every kind, each with its source.

use std::collections::BTreeSet;
use std::path::Path;

use conclave::suites::suite::StopLimit;
use conclave::suites::{self, FieldMap, Suite};

fn starter() -> Suite {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("suites/starter.yaml");
    suites::read(&path, &FieldMap::new()).unwrap_or_else(|error| panic!("{:#?}", error.lines()))
}

#[test]
fn the_starter_suite_has_sources_and_tags() {
    let suite = starter();
    assert_eq!(suite.name, "starter");
    assert!(suite.cases.len() >= 66, "{}", suite.cases.len());
    for entry in &suite.cases {
        let case = &entry.case;
        assert!(case.source.is_some(), "{}", case.id);
        assert!(!case.tags.is_empty(), "{}", case.id);
        assert!(case.question.len() < 600, "{} is long", case.id);
    }
}

#[test]
fn the_starter_suite_has_every_matcher_but_the_judge() {
    let suite = starter();
    let cases = suite.cases.iter();
    let names: BTreeSet<_> = cases.map(|entry| entry.case.matcher.kind()).collect();
    let expected = BTreeSet::from([
        "exact",
        "choice",
        "contains",
        "regex",
        "numeric",
        "transcription",
    ]);
    assert_eq!(names, expected);
}

#[test]
fn the_starter_suite_has_attempts_for_both_arms() {
    let suite = starter();
    let attempts = suite.settings.attempts_per_case.unwrap();
    let conditions = suite.settings.stop_conditions;
    let needed = u64::try_from(suite.cases.len()).unwrap() * 2 * u64::from(attempts);
    assert_eq!(conditions.max_total_attempts, Some(StopLimit::At(needed)));
    assert_eq!(conditions.max_reject_rate, Some(StopLimit::Off));
    assert_eq!(conditions.max_retry_rate, Some(StopLimit::Off));
    assert_eq!(conditions.max_consecutive_fails, Some(StopLimit::Off));
}
