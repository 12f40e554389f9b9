//! One check as a process: `exit-check` on a response of 200 KB and a plan of 2,000 tasks beside
//! `--version`, started in turns.
//!
//! ```text
//! cargo bench --bench exit_check             200 checks; some seconds
//! cargo bench --bench exit_check -- 1000
//! ```
//!
//! Each check appends to the log of one run, and continues.

#![expect(clippy::unwrap_used, reason = "a bench fails by panicking")]
#![expect(
    clippy::disallowed_methods,
    reason = "a bench reads the clock and prints what it found"
)]

mod support;

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use support::figures::{self, Figures, Limit, milliseconds};

const CONCLAVE: &str = env!("CARGO_BIN_EXE_conclave");

const RESPONSE_BYTES: usize = 200_000;

const TASKS: usize = 2_000;

/// The goal for one check, in milliseconds.
const GOAL: f64 = 10.0;

fn main() {
    let checks = figures::argument(0).unwrap_or(200_usize);
    let folder = support::folder();
    fs::write(folder.path().join("response.md"), response()).unwrap();
    let (mut ours, mut version) = (Figures::default(), Figures::default());
    for turn in 0..checks {
        // Progress in each turn: the run never stops.
        fs::write(folder.path().join("PLAN.md"), plan(turn % (TASKS / 2))).unwrap();
        let check = [
            "exit-check",
            "response.md",
            "PLAN.md",
            "--max-turns",
            "10000",
            "--run",
            "1",
        ];
        ours.0.push(run(folder.path(), &check));
        version.0.push(run(folder.path(), &["--version"]));
    }
    figures::heading(format!("{checks} checks, ms"));
    figures::row(
        "exit-check, 200 KB and 2,000 tasks",
        &ours,
        Limit::of_median(GOAL),
    );
    figures::row("--version", &version, Limit::NONE);
    figures::single(
        "the first as a multiple of the second",
        ours.median() / version.median(),
        None,
    );
}

fn run(folder: &Path, arguments: &[&str]) -> f64 {
    let began = Instant::now();
    let status = Command::new(CONCLAVE)
        .args(arguments)
        .current_dir(folder)
        .env("CONCLAVE_HOME", folder.join("home"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success(), "{arguments:?} ends with {status}");
    milliseconds(began, Instant::now())
}

/// Returns prose with code, lists and errors, as agents write it.
fn response() -> String {
    let mut text = String::new();
    let mut section = 0;
    while text.len() < RESPONSE_BYTES {
        section += 1;
        let _ = write!(
            text,
            "## Step {section}\n\nI moved the parser of step {section} to its own module, and added \
             a test for the empty file. The old tests still pass.\n\n- `src/parser_{section}.rs`: \
             the new module\n- one call in `main.rs` changed\n\n```rust\nfn step_{section}(text: \
             &str) -> Option<u32> {{\n    // All done here: no error is left.\n    \
             text.parse().ok()\n}}\n```\n\n> error[E0308]: mismatched types in line {section}\n\n"
        );
    }
    text.push_str(
        "Confidence: 85%\n\n---RALPH_STATUS---\nSTATUS: IN_PROGRESS\nEXIT_SIGNAL: false\n",
    );
    text.push_str("---END_RALPH_STATUS---\n");
    text
}

/// Returns a plan with this many completed tasks.
fn plan(completed: usize) -> String {
    let mut plan = String::from("# Plan\n\n");
    for task in 0..TASKS {
        let mark = if task < completed { 'x' } else { ' ' };
        let _ = writeln!(
            plan,
            "- [{mark}] Task {task}: write the part of the parser it needs"
        );
    }
    plan
}
