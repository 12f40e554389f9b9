//! The examples of the original exit detection, and reported faults of the loops that people run:
//! the right decision for each, and the one of `--strict-seed`, in one table.

use std::fmt::Write;

use conclave::stopping::exit_check::event::ExitPolicy;

use super::labelled::{self, DecidedTurn};

/// Returns the decisions in order, repetitions counted, each stop with its rule.
fn sequence(turns: &[DecidedTurn]) -> String {
    let mut parts: Vec<(String, usize)> = Vec::new();
    for turn in turns {
        let mut part = turn.actual.clone();
        if let Some(rule) = &turn.rule {
            write!(part, " ({rule})").unwrap();
        }
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

#[test]
fn examples_and_reported_faults_are_decided_as_labelled() {
    let cases = labelled::cases("issues.toml");
    let corrected = labelled::decide_all(&cases, ExitPolicy::Corrected, &[]);
    let strict = labelled::decide_all(&cases, ExitPolicy::StrictSeed, &[]);
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
