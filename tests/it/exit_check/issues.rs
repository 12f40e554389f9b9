//! The examples of the original exit detection, and reported faults of the loops that people run:
//! the right decision for each, and the one of `--strict-seed`, in one table.

use std::fmt::Write;

use super::labelled::{self, Case, DecidedTurn, RuleSet};

/// Returns the decisions in order, repetitions counted, each stop with its rule.
fn sequence(turns: &[DecidedTurn]) -> String {
    let mut parts: Vec<(String, usize)> = Vec::new();
    for turn in turns {
        let part = match &turn.reason {
            Some(rule) if turn.actual != "usage error" => format!("{} ({rule})", turn.actual),
            _ => turn.actual.clone(),
        };
        match parts.last_mut() {
            Some((last, count)) if *last == part => *count += 1,
            _ => parts.push((part, 1)),
        }
    }
    let parts = parts.into_iter().map(|(part, count)| match count {
        1 => part,
        _ => format!("{count} × {part}"),
    });
    parts.collect::<Vec<_>>().join(", ")
}

fn mismatches(cases: &[Case], decided: &[Vec<DecidedTurn>]) -> String {
    let mut text = String::new();
    for (case, turns) in cases.iter().zip(decided) {
        for turn in turns.iter().filter(|turn| turn.actual != turn.expected) {
            writeln!(
                text,
                "{}, turn {}: expected {}, got {} {:?}; {}",
                case.id, turn.number, turn.expected, turn.actual, turn.reason, case.why
            )
            .unwrap();
        }
    }
    text
}

#[test]
fn examples_and_reported_faults_are_decided_as_labelled() {
    let cases = labelled::cases("issues.toml");
    let corrected = labelled::run_all(&cases, RuleSet::Corrected);
    let strict = labelled::run_all(&cases, RuleSet::StrictSeed);
    let (wrong, wrong_strict) = (mismatches(&cases, &corrected), mismatches(&cases, &strict));
    assert!(
        wrong.is_empty() && wrong_strict.is_empty(),
        "by default:\n{wrong}\nwith --strict-seed:\n{wrong_strict}"
    );
    let mut table =
        String::from("| case | decisions | `--strict-seed` | why |\n|---|---|---|---|\n");
    for (case, (corrected, strict)) in cases.iter().zip(corrected.iter().zip(&strict)) {
        let (corrected, strict) = (sequence(corrected), sequence(strict));
        writeln!(
            table,
            "| {} | {corrected} | {strict} | {} |",
            case.id, case.why
        )
        .unwrap();
    }
    insta::assert_snapshot!(table);
}
