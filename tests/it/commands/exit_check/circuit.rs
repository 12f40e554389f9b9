//! `conclave circuit` through the binary: transitions, runs, clocks, exit codes and JSON.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::support::binary::{Conclave, RunOutput};
use crate::support::schema;

const SCHEMA: &str = include_str!("../../../../schemas/circuit.schema.json");

/// A loop with its state in the current folder.
struct Loop(Conclave);

impl Loop {
    fn new() -> Self {
        Self(Conclave::new())
    }

    fn run(&self, arguments: &[&str]) -> RunOutput {
        let output = self.0.run(arguments);
        assert_eq!(output.stderr, "", "{arguments:?}");
        output
    }

    /// Records turns: `+` with progress, `-` without, `?` unknown, with an error.
    fn record(&self, turns: &str) {
        for turn in turns.chars() {
            let outcome = match turn {
                '+' => "--progress",
                '-' => "--no-progress",
                _ => "--error=connection refused",
            };
            assert_eq!(self.run(&["circuit", "record", outcome]).code, Some(0));
        }
    }

    /// Returns the state, by the exit code and the JSON of `circuit status`.
    fn status(&self, flags: &[&str]) -> String {
        let output = self.run(&[&["circuit", "status", "--json"], flags].concat());
        let json: Value = serde_json::from_str(&output.stdout).unwrap();
        schema::check(SCHEMA, &json);
        let is_open = json["state"] == "open";
        assert_eq!(output.code, Some(if is_open { 12 } else { 0 }), "{json}");
        json["state"].as_str().unwrap().to_owned()
    }

    /// Checks a turn after which the plan has this many completed tasks; returns the exit code.
    fn check(&self, completed: usize, flags: &[&str]) -> Option<i32> {
        let mark = |number| if number < completed { 'x' } else { ' ' };
        let tasks = (0..10).map(|number| format!("- [{}] task {number}\n", mark(number)));
        let plan: String = tasks.collect();
        fs::write(self.0.folder().join("PLAN.md"), plan).unwrap();
        fs::write(self.0.folder().join("response.md"), "I moved the parser.\n").unwrap();
        let arguments = ["exit-check", "response.md", "PLAN.md"];
        self.run(&[&arguments, flags].concat()).code
    }

    /// Checks that the screen of the circuit has this text.
    fn assert_shows(&self, text: &str) {
        let screen = self.run(&["circuit", "status"]).stdout;
        assert!(screen.contains(text), "{screen}");
    }

    fn log(&self) -> PathBuf {
        self.0.folder().join(".conclave/exit-log.jsonl")
    }

    /// Lets time pass: all events happened this many minutes earlier.
    fn pass(&self, minutes: i64) {
        let mut log = String::new();
        for line in fs::read_to_string(self.log()).unwrap().lines() {
            let mut event: Value = serde_json::from_str(line).unwrap();
            let time: jiff::Timestamp = event["time"].as_str().unwrap().parse().unwrap();
            let time = time - jiff::SignedDuration::from_mins(minutes);
            event["time"] = format!("{time:.3}").into();
            log.extend([&event.to_string(), "\n"]);
        }
        fs::write(self.log(), log).unwrap();
        // It is rebuilt from the log.
        let _ = fs::remove_file(self.log().with_file_name("exit-state.json"));
    }
}

#[test]
fn a_circuit_without_a_turn_is_closed_and_leaves_no_folder() {
    let a_loop = Loop::new();
    assert_eq!(a_loop.status(&[]), "closed");
    a_loop.assert_shows("no turn yet");
    let json = a_loop.run(&["circuit", "status", "--json"]).json();
    assert_eq!(json["since"], Value::Null);
    let output = a_loop.0.run(&["circuit", "reset"]).ends_with(0);
    assert_eq!(output.stderr, "There is no circuit to reset.\n");
    assert!(!a_loop.0.folder().join(".conclave").exists());
}

#[test]
fn circuit_rests_for_half_an_hour_and_lets_a_turn_probe() {
    let a_loop = Loop::new();
    a_loop.record("--+--");
    assert_eq!(a_loop.status(&[]), "closed");
    a_loop.record("-");
    assert_eq!(a_loop.status(&[]), "open");
    a_loop.assert_shows("3 turns in a row made no progress");
    a_loop.assert_shows("→ see what happened with `conclave exit-check history`; wait until ");
    a_loop.pass(29);
    assert_eq!(a_loop.status(&[]), "open");
    a_loop.pass(2);
    assert_eq!(a_loop.status(&[]), "half_open");
    a_loop.assert_shows("→ the next turn is a probe");
    a_loop.record("?");
    a_loop.assert_shows("→ a probe is out until ");
    a_loop.record("+");
    assert_eq!(a_loop.status(&[]), "closed");
}

#[test]
fn five_turns_with_the_same_error_open_the_circuit() {
    let a_loop = Loop::new();
    a_loop.record("????");
    assert_eq!(a_loop.status(&[]), "closed");
    a_loop.record("?");
    assert_eq!(a_loop.status(&[]), "open");
    a_loop.assert_shows("5 turns in a row had the same error: connection refused");
}

#[test]
fn exit_check_halts_on_an_open_circuit_until_it_is_reset() {
    let a_loop = Loop::new();
    let codes: Vec<_> = (0..4).map(|_| a_loop.check(1, &[])).collect();
    assert_eq!(codes, [Some(0), Some(0), Some(0), Some(13)]);
    assert_eq!(a_loop.status(&[]), "open");
    assert_eq!(a_loop.check(2, &[]), Some(12));
    assert_eq!(a_loop.check(4, &["--run", "named"]), Some(0));
    assert_eq!(a_loop.check(3, &[]), Some(12));
    a_loop.run(&["circuit", "reset"]);
    assert_eq!(a_loop.status(&[]), "closed");
    assert_eq!(a_loop.check(2, &[]), Some(0));
}

#[test]
fn a_run_without_a_name_expires_two_hours_after_its_last_check() {
    let a_loop = Loop::new();
    a_loop.record("--");
    a_loop.pass(121);
    a_loop.record("-");
    assert_eq!(a_loop.status(&[]), "closed");
}

#[test]
fn runs_have_circuits_of_their_own() {
    let a_loop = Loop::new();
    for _ in 0..3 {
        a_loop.run(&["circuit", "record", "--no-progress", "--run", "dead"]);
    }
    assert_eq!(a_loop.status(&["--run", "dead"]), "open");
    assert_eq!(a_loop.status(&["--run", "next"]), "closed");
    a_loop.run(&["circuit", "record", "--no-progress", "--run", "next"]);
    assert_eq!(a_loop.status(&[]), "closed", "the run that was used last");
    a_loop.run(&["circuit", "reset", "--run", "dead"]);
    assert_eq!(a_loop.status(&["--run", "dead"]), "closed");
}

#[test]
fn a_clock_that_goes_backwards_does_not_lengthen_the_rest() {
    let a_loop = Loop::new();
    a_loop.record("---");
    // All events lie a year ahead.
    a_loop.pass(-365 * 24 * 60);
    assert_eq!(a_loop.status(&[]), "open");
    let log = fs::read_to_string(a_loop.log()).unwrap();
    assert!(log.contains("\"event\":\"clock_set_back\""), "{log}");
    let before = log.lines().count();
    assert_eq!(a_loop.status(&[]), "open");
    let log = fs::read_to_string(a_loop.log()).unwrap();
    assert_eq!(log.lines().count(), before, "it is recorded once");
    a_loop.pass(31);
    assert_eq!(a_loop.status(&[]), "half_open");
}

#[test]
fn a_recorded_secret_is_masked() {
    let a_loop = Loop::new();
    let error = "--error=401 for sk-ant-api03-Zq8fK2mVx7Lr9TbYw4NcPd6HsJg1QeRu3Ai5Ov0BkMnXtWzCyDhF";
    a_loop.run(&["circuit", "record", "--no-progress", error]);
    let log = fs::read_to_string(a_loop.log()).unwrap();
    assert!(!log.contains("Zq8fK2mVx7"), "{log}");
    assert!(log.contains("401 for"), "{log}");
}

#[test]
fn thresholds_of_the_configuration_file_apply() {
    let a_loop = Loop::new();
    let folder = a_loop.0.folder().join(".conclave");
    fs::create_dir(&folder).unwrap();
    let file = folder.join("config.toml");
    fs::write(
        &file,
        "[circuit]\nno_progress_turns = 1\ncooldown_minutes = 5\n",
    )
    .unwrap();
    a_loop.record("-");
    assert_eq!(a_loop.status(&[]), "open");
    a_loop.pass(6);
    assert_eq!(a_loop.status(&[]), "half_open");
}

#[test]
fn a_record_needs_an_outcome_and_only_one() {
    let a_loop = Loop::new();
    let none = a_loop.0.run(&["circuit", "record"]);
    none.assert_stderr_contains("<--progress|--no-progress|--error <TEXT>>");
    assert_eq!(none.code, Some(2));
    let both = a_loop
        .0
        .run(&["circuit", "record", "--progress", "--no-progress"]);
    assert_eq!(both.code, Some(2));
    assert!(!a_loop.0.folder().join(".conclave").exists());
}
