//! Endings of agents in the styles of five programs, against the decision that a person who runs
//! the agent in a loop wants.

mod labelled;
mod issues;

use std::collections::BTreeSet;

use conclave::stopping::exit_check::event::ExitPolicy;

use self::labelled::{Case, KnownMiss};

const FILES: [&str; 6] = [
    "claude_code.toml",
    "codex.toml",
    "gemini.toml",
    "aider.toml",
    "opencode.toml",
    "mixed.toml",
];

/// The fewest endings, and of them the fewest healthy runs: cases are added, not replaced.
const MIN_CASES: usize = 233;
const MIN_HEALTHY_RUNS: usize = 14;

/// The most cases with a known miss.
const MAX_MISSES: usize = 2;

fn cases() -> Vec<Case> {
    FILES.into_iter().flat_map(labelled::cases).collect()
}

fn known_misses() -> Vec<KnownMiss> {
    labelled::known_misses("known_misses.toml")
}

#[test]
fn endings_are_decided_as_a_person_decides_them() {
    labelled::decide_all(&cases(), ExitPolicy::Corrected, &known_misses());
}

#[test]
fn no_known_miss_stops_a_healthy_run() {
    let (cases, misses) = (cases(), known_misses());
    let is_healthy = |case: &&Case| case.kind == "healthy run";
    let healthy: BTreeSet<_> = cases
        .iter()
        .filter(is_healthy)
        .map(|case| &case.id)
        .collect();
    assert!(healthy.len() >= MIN_HEALTHY_RUNS, "{}", healthy.len());
    assert!(misses.iter().all(|miss| !healthy.contains(&miss.id)));
}

#[test]
fn corpus_does_not_shrink_and_known_misses_do_not_grow() {
    let (cases, misses) = (cases(), known_misses());
    let ids: BTreeSet<_> = cases.iter().map(|case| &case.id).collect();
    assert_eq!(ids.len(), cases.len(), "every id is unique");
    assert!(cases.len() >= MIN_CASES, "{}", cases.len());
    let wrong_cases: BTreeSet<_> = misses.iter().map(|miss| &miss.id).collect();
    assert!(wrong_cases.len() <= MAX_MISSES, "{wrong_cases:?}");
}

#[test]
fn every_case_and_every_known_miss_has_a_reason() {
    for case in cases() {
        assert!(!case.why.trim().is_empty(), "{}", case.id);
        assert!(!case.kind.trim().is_empty(), "{}", case.id);
    }
    for miss in known_misses() {
        assert!(!miss.reason.trim().is_empty(), "{}", miss.id);
    }
}
