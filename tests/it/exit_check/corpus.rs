//! Endings of agents in the styles of five programs, against the decision that a person who runs
//! the agent in a loop wants.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;

use serde::Deserialize;

use super::labelled::{self, Case, DecidedTurn, RuleSet};

const FILES: [&str; 5] = [
    "corpus/claude_code.toml",
    "corpus/codex.toml",
    "corpus/gemini.toml",
    "corpus/aider.toml",
    "corpus/opencode.toml",
];

/// The fewest endings; a case is added, not replaced.
const FEWEST_CASES: usize = 194;

/// Turns that the rules decide otherwise than labelled, in `corpus/known_misses.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct KnownMisses {
    #[serde(default)]
    miss: Vec<KnownMiss>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct KnownMiss {
    id: String,
    turn: usize,
    got: String,
    reason: String,
}

fn cases() -> Vec<Case> {
    FILES.into_iter().flat_map(labelled::cases).collect()
}

fn known_misses() -> Vec<KnownMiss> {
    let path = labelled::folder().join("corpus/known_misses.toml");
    let parsed: KnownMisses = toml::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    parsed.miss
}

/// Returns the wrong decisions of a case, one a line.
fn describe(case: &Case, turns: &[DecidedTurn]) -> String {
    let mut text = format!("{} [{}] {}\n", case.id, case.kind, case.why);
    for turn in turns.iter().filter(|turn| turn.actual != turn.expected) {
        let by = turn.reason.as_ref().map(|rule| format!(" by {rule}"));
        writeln!(
            text,
            "    turn {}: expected {}, got {}{}",
            turn.number,
            turn.expected,
            turn.actual,
            by.unwrap_or_default(),
        )
        .unwrap();
    }
    text
}

/// Returns right and all cases of each kind.
fn figures(cases: &[Case], decided: &[Vec<DecidedTurn>]) -> String {
    let mut kinds: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for (case, turns) in cases.iter().zip(decided) {
        let (right, all) = kinds.entry(&case.kind).or_default();
        *right += usize::from(turns.iter().all(|turn| turn.actual == turn.expected));
        *all += 1;
    }
    let lines = kinds
        .iter()
        .map(|(kind, (right, all))| format!("{right:>3} of {all:>3} {kind}\n"));
    lines.collect()
}

#[test]
fn endings_are_decided_as_a_person_decides_them() {
    let cases = cases();
    let decided = labelled::run_all(&cases, RuleSet::Corrected);
    let wrong: BTreeSet<(&str, usize, &str)> = cases
        .iter()
        .zip(&decided)
        .flat_map(|(case, turns)| turns.iter().map(move |turn| (case, turn)))
        .filter(|(_, turn)| turn.actual != turn.expected)
        .map(|(case, turn)| (case.id.as_str(), turn.number, turn.actual.as_str()))
        .collect();
    let misses = known_misses();
    let known: BTreeSet<(&str, usize, &str)> = misses
        .iter()
        .map(|miss| (miss.id.as_str(), miss.turn, miss.got.as_str()))
        .collect();
    let unknown: Vec<_> = wrong.difference(&known).collect();
    let mismatches = cases.iter().zip(&decided).filter(|(case, _)| {
        let is_unknown = |(id, _, _): &&(&str, usize, &str)| *id == case.id;
        unknown.iter().copied().any(|miss| is_unknown(&miss))
    });
    let report: String = mismatches
        .map(|(case, turns)| describe(case, turns))
        .collect();
    assert!(
        unknown.is_empty(),
        "wrong decisions:\n{report}\n{}",
        figures(&cases, &decided)
    );
    let repaired: Vec<_> = known.difference(&wrong).collect();
    assert!(
        repaired.is_empty(),
        "no longer wrong, remove from known_misses.toml: {repaired:?}"
    );
}

#[test]
fn healthy_runs_are_listed_without_a_known_miss() {
    let cases = cases();
    let misses = known_misses();
    let stopped = |case: &&Case| misses.iter().any(|miss| miss.id == case.id);
    let healthy: Vec<_> = cases
        .iter()
        .filter(|case| case.kind == "healthy run")
        .collect();
    assert!(healthy.len() >= 11, "{}", healthy.len());
    assert_eq!(healthy.into_iter().filter(stopped).count(), 0);
}

#[test]
fn corpus_is_large_and_every_id_is_unique() {
    let cases = cases();
    let ids: BTreeSet<_> = cases.iter().map(|case| &case.id).collect();
    assert_eq!(ids.len(), cases.len());
    assert!(cases.len() >= FEWEST_CASES, "{}", cases.len());
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
