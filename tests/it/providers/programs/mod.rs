//! Programs in a seat: the command line of each call, and the reading of every output that was
//! recorded.

mod claude;
mod codex;
mod command;
mod garbage;
mod generic;

use conclave::config::programs::Programs;
use conclave::consultation::protocol::call::{Failure, FailureClass, Outcome, Reply};
use conclave::domain::model::program::{AnswerReader, Program};
use conclave::domain::time::Timestamp;
use conclave::engine::ports::Delta;
use conclave::providers::programs::reading::{Flow, ProgramEnd, Reading};
use jiff::tz::TimeZone;
use serde::Deserialize;

use super::ask_of;

const CLEAN: ProgramEnd = ProgramEnd::Exited(Some(0));
const FAILED: ProgramEnd = ProgramEnd::Exited(Some(1));

/// 2026-03-09T10:00:00Z, which is six in the morning of the user's zone.
fn now() -> Timestamp {
    let now: jiff::Timestamp = "2026-03-09T10:00:00Z".parse().unwrap();
    Timestamp(now.as_millisecond())
}

fn known(name: &str) -> Program {
    let all = Programs::default().all();
    all.into_iter()
        .find(|program| program.id.as_str() == name)
        .unwrap()
}

/// A program of the settings, as one that is given no field but these.
fn own(reader: AnswerReader) -> Program {
    let mut program = known("codex");
    program.id = conclave::domain::ids::ProviderId::new("command:mine");
    "mine".clone_into(&mut program.name);
    program.argv = vec!["mine".to_owned()];
    program.schema_argv = Vec::new();
    program.set_env.clear();
    program.login = None;
    program.system_in_file = false;
    program.reader = reader;
    program
}

/// What came of the lines of an output.
struct Read {
    outcome: Outcome,
    /// The text as it came in.
    heard: String,
    /// The number of lines after which no more was wanted.
    stopped_after: Option<usize>,
}

impl Read {
    fn reply(self) -> Reply {
        self.outcome.unwrap()
    }

    fn failure(self) -> Failure {
        self.outcome.unwrap_err()
    }
}

/// Reads as the transport does: a program that is stopped says no more.
fn read(program: &Program, lines: &[String], end: ProgramEnd, stderr: &str) -> Read {
    let ask = ask_of(program.id.as_str(), "m");
    let zone = TimeZone::get("America/New_York").unwrap();
    let mut reading = Reading::new(program, &ask);
    let mut heard = String::new();
    let mut on = |delta| {
        if let Delta::Text(piece) = delta {
            heard.push_str(&piece);
        }
    };
    let stopped_after = lines
        .iter()
        .position(|line| reading.line(line, &mut on) == Flow::Break(()))
        .map(|at| at + 1);
    let end = stopped_after.map_or(end, |_| ProgramEnd::Stopped);
    Read {
        outcome: reading.finish(end, stderr, now(), &zone),
        heard,
        stopped_after,
    }
}

/// A recorded text of a failure.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FailureRow {
    program: String,
    text: String,
    class: FailureClass,
    /// Seconds.
    wait: Option<u64>,
    status: Option<u16>,
    #[serde(default)]
    code: String,
}

#[derive(Deserialize)]
struct FailureRows {
    rows: Vec<FailureRow>,
}

#[test]
fn every_recorded_failure_has_its_class_and_its_end() {
    let table: FailureRows = toml::from_str(include_str!("failures.toml")).unwrap();
    for row in &table.rows {
        let lines = match row.program.as_str() {
            "codex" => codex::failed(&row.text),
            _ => claude::failed(&row.text, row.status, &row.code),
        };
        // The exit code says nothing.
        for end in [FAILED, CLEAN, ProgramEnd::Exited(None)] {
            let failure = read(&known(&row.program), &claude::lines(&lines), end, "").failure();
            assert_failure(&failure, &row.text, row.class, row.wait);
        }
    }
}

fn assert_failure(failure: &Failure, text: &str, class: FailureClass, wait: Option<u64>) {
    assert_eq!(failure.class, class, "{text}: {}", failure.message);
    let waited = failure.retry_after.map(|wait| wait.as_secs());
    assert_eq!(waited, wait, "{text}");
    assert!(
        (1..=540).contains(&failure.message.chars().count()),
        "{text}"
    );
}
