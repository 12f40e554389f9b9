//! One replay as a process: `benchmark --replay` on the recorded answers of seven models, with all
//! rules, beside `--version`, started alternately.
//!
//! ```text
//! cargo bench --bench replay             30 replays; some seconds
//! cargo bench --bench replay -- 100
//! ```
//!
//! The answers are those of MMLU-Pro in `../shared/data`, if they are there; else drawn ones of the
//! same size, 12,032 questions to seven models.

#![expect(clippy::unwrap_used, reason = "a bench fails by panicking")]
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a bench reads the clock and prints what it found"
)]

mod support;

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use support::figures::{self, Figures, Limit, milliseconds};

const CONCLAVE: &str = env!("CARGO_BIN_EXE_conclave");

const RECORDED: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../shared/data/mmlupro_answers.csv"
);

const MODELS: [&str; 7] = [
    "gemini-1.5-pro-002",
    "gemini-1.5-flash-002",
    "Meta-Llama-3_1-70B-Instruct",
    "DeepSeek-Coder-V2",
    "Meta-Llama-3-70B",
    "jamba-1.5-large",
    "Qwen1.5-110B",
];

const QUESTIONS: usize = 12_032;

/// The goal for one replay, in milliseconds.
const GOAL: f64 = 300.0;

fn main() {
    let replays = figures::argument(0).unwrap_or(30_usize);
    let folder = support::folder();
    let (file, origin) = answers(folder.path());
    let models = MODELS.join(",");
    let file = file.to_str().unwrap();
    let replay = ["benchmark", "--replay", file, "--models", &models];
    println!("{}", output(folder.path(), &replay));
    let (mut ours, mut version) = (Figures::default(), Figures::default());
    for _ in 0..replays {
        ours.0.push(run(folder.path(), &replay));
        version.0.push(run(folder.path(), &["--version"]));
    }
    figures::heading(format!("{replays} replays, ms"));
    figures::row(
        format!("benchmark --replay, {origin}"),
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

/// Returns the table, and what it holds.
fn answers(folder: &Path) -> (PathBuf, &'static str) {
    let recorded = PathBuf::from(RECORDED);
    if recorded.exists() {
        return (recorded, "MMLU-Pro");
    }
    let drawn = folder.join("answers.csv");
    fs::write(&drawn, drawn_answers()).unwrap();
    (drawn, "drawn answers")
}

/// Returns a table of ten options a question, of which each model is right about two in three.
fn drawn_answers() -> String {
    let mut draws = fastrand::Rng::with_seed(7);
    let mut letter = || char::from(b'A' + draws.u8(0..10));
    let mut table = format!("question_id,gold,{}\n", MODELS.join(","));
    for question in 0..QUESTIONS {
        let gold = letter();
        let _ = write!(table, "{question},{gold}");
        for _ in MODELS {
            let answer = if letter() < 'H' { gold } else { letter() };
            let _ = write!(table, ",{answer}");
        }
        table.push('\n');
    }
    table
}

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(CONCLAVE);
    command
        .args(arguments)
        .current_dir(folder)
        .env("CONCLAVE_HOME", folder.join("home"))
        .stdin(Stdio::null());
    command
}

fn output(folder: &Path, arguments: &[&str]) -> String {
    let output = command(folder, arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn run(folder: &Path, arguments: &[&str]) -> f64 {
    let began = Instant::now();
    let status = command(folder, arguments)
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success(), "{arguments:?} ends with {status}");
    milliseconds(began, Instant::now())
}
