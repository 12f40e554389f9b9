//! `conclave benchmark --replay`: the screen and the JSON of recorded answers, and files that
//! cannot be replayed.

use std::fs;

use serde_json::Value;

use crate::support::binary::{Conclave, RunOutput};
use crate::support::schema;

const SCHEMA: &str = include_str!("../../../../schemas/replay.schema.json");

/// 120 questions to five models, three of them not put to `birch-medium`.
const SAMPLE: &str = include_str!("../../data/recorded_answers.csv");

/// In an order in which the first model is not the best.
const ORDER: &str = "alder-large,sequoia-large,maple-medium,birch-medium,willow-small";

struct Replay {
    conclave: Conclave,
}

impl Replay {
    /// Saves a table as `answers.csv`.
    fn of(table: impl AsRef<[u8]>) -> Self {
        let conclave = Conclave::new();
        fs::write(conclave.folder().join("answers.csv"), table).unwrap();
        Self { conclave }
    }

    fn run(&self, arguments: &[&str]) -> RunOutput {
        let arguments = [&["benchmark", "--replay", "answers.csv"], arguments].concat();
        self.conclave.run(&arguments)
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let json = self
            .run(&[&["--json"], arguments].concat())
            .ends_with(0)
            .json();
        schema::check(SCHEMA, &json);
        json
    }
}

#[test]
fn screen_shows_what_each_rule_is_worth() {
    let output = Replay::of(SAMPLE).run(&["--models", ORDER]).ends_with(0);
    insta::assert_snapshot!(output.stdout);
    assert_eq!(output.stderr, "");
    for line in output.stdout.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

#[test]
fn json_follows_its_schema() {
    let json = Replay::of(SAMPLE).json(&["--models", ORDER]);
    insta::assert_snapshot!(serde_json::to_string_pretty(&json).unwrap());
}

#[test]
fn columns_can_have_any_name() {
    let table = "frage,loesung,a,b\n1,ja,ja,nein\n2,nein,nein,nein\n";
    let replay = Replay::of(table);
    let arguments = ["--gold", "loesung", "--id", "frage", "--models", "a,b"];
    let json = replay.json(&arguments);
    assert_eq!(json["columns"]["gold"], "loesung");
    assert_eq!(json["columns"]["id"], "frage");
    assert_eq!(json["models"][0]["right"], 2);
    assert_eq!(json["calibration"]["options"], 2);
}

#[test]
fn missing_file_is_named() {
    let output = Conclave::new()
        .run(&["benchmark", "--replay", "nowhere.csv"])
        .ends_with(2);
    output.assert_stderr_contains("error: cannot read `nowhere.csv`: No such file");
}

#[test]
fn unusable_columns_are_refused_with_what_to_do() {
    let refused = |table: &[u8], flags: &[&str]| {
        let output = Replay::of(table).run(flags).ends_with(2);
        assert_eq!(output.stdout, "");
        output.stderr
    };
    let sample = SAMPLE.as_bytes();
    let errors = [
        refused(b"gold,x,y\nA,A,\xff\n", &[]),
        refused(b"id,gold,x,y\n1,A,A,A\n1,A,A,A\n", &[]),
        refused(b"right,x,y\nA,A,A\n", &[]),
        refused(b"gold,x,y,z\nA,A,A,A\nB,B,A,7\nB,A,B,8\n", &[]),
        refused(sample, &["--models", "alder-large,mapel-medium"]),
        refused(sample, &["--models", "alder-large"]),
    ];
    insta::assert_snapshot!(errors.concat());
}
