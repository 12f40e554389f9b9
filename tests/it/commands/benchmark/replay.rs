//! `conclave benchmark --replay`: the screen and the JSON of recorded answers, and files that
//! cannot be replayed.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::binary::{Conclave, RunOutput};
use crate::support::schema;

const SCHEMA: &str = include_str!("../../../../schemas/replay.schema.json");

/// 120 questions to five models, three of them not put to `birch-medium`.
const SAMPLE: &str = include_str!("../../data/recorded_answers.csv");

/// In an order in which the first model is not the best.
const ORDER: &str = "alder-large,sequoia-large,maple-medium,birch-medium,willow-small";

/// Recorded answers of 29 models to MMLU-Pro, where they are at hand.
const MMLU_PRO: &str = "../shared/data/mmlupro_answers.csv";

const STRONG_7: &str = "gemini-1.5-pro-002,gemini-1.5-flash-002,Meta-Llama-3_1-70B-Instruct,\
    DeepSeek-Coder-V2,Meta-Llama-3-70B,jamba-1.5-large,Qwen1.5-110B";

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

    /// Fails as a wrong command line does, and returns what is printed.
    fn refused(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments).ends_with(2);
        assert_eq!(output.stdout, "");
        output.stderr
    }
}

fn rule<'a>(json: &'a Value, name: &str) -> &'a Value {
    let rules = json["rules"].as_array().unwrap();
    rules.iter().find(|rule| rule["rule"] == name).unwrap()
}

fn method<'a>(json: &'a Value, name: &str) -> &'a Value {
    let methods = json["calibration"]["methods"].as_array().unwrap();
    methods
        .iter()
        .find(|method| method["method"] == name)
        .unwrap()
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
fn all_columns_of_answers_are_models_by_default() {
    let json = Replay::of(SAMPLE).json(&[]);
    let models = json["models"].as_array().unwrap();
    let names: Vec<&str> = models
        .iter()
        .map(|model| model["model"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "sequoia-large",
            "alder-large",
            "maple-medium",
            "birch-medium",
            "willow-small"
        ]
    );
}

#[test]
fn only_questions_put_to_the_chosen_models_count() {
    let replay = Replay::of(SAMPLE);
    let all = replay.json(&[]);
    assert_eq!(all["questions"], 117);
    assert_eq!(all["left_out"], 3);
    let without_birch = replay.json(&["--models", "sequoia-large,alder-large,maple-medium"]);
    assert_eq!(without_birch["questions"], 120);
    assert_eq!(without_birch["left_out"], 0);
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
fn locked_vote_changes_no_answer_of_the_sample() {
    let json = Replay::of(SAMPLE).json(&[]);
    let locked = rule(&json, "vote_locked");
    assert_eq!(locked["right"], rule(&json, "full_vote")["right"]);
    assert_eq!(locked["same_as_full_vote"], 1.0);
    assert!(locked["saved"].as_f64().unwrap() > 0.2);
}

#[test]
fn agreement_levels_cover_all_questions() {
    let json = Replay::of(SAMPLE).json(&[]);
    let sum = |key: &str| -> u64 {
        let levels = json["agreement"].as_array().unwrap();
        levels
            .iter()
            .map(|level| level[key].as_u64().unwrap())
            .sum()
    };
    assert_eq!(sum("questions"), 117);
    assert_eq!(
        sum("right"),
        rule(&json, "full_vote")["right"].as_u64().unwrap()
    );
}

#[test]
fn missing_file_is_named() {
    let output = Conclave::new()
        .run(&["benchmark", "--replay", "nowhere.csv"])
        .ends_with(2);
    output.assert_stderr_contains("error: cannot read `nowhere.csv`: No such file");
}

#[test]
fn files_that_are_no_tables_are_refused() {
    let tables: [&[u8]; 5] = [
        b"",
        b"gold,x,y\n",
        b"gold,x,y\nA,A,A\nB,B\n",
        b"gold,x,y\nA,A,\xff\n",
        b"id,gold,x,y\n1,A,A,A\n1,A,A,A\n",
    ];
    let errors: String = tables.map(|table| Replay::of(table).refused(&[])).concat();
    insta::assert_snapshot!(errors);
}

#[test]
fn columns_that_do_not_fit_are_refused_with_what_to_do() {
    let replay = Replay::of(SAMPLE);
    let arguments = [
        ["--gold", "golden"],
        ["--models", "alder-large,mapel-medium"],
        ["--models", "alder-large"],
        ["--models", "alder-large,Alder-Large"],
        ["--models", "alder-large,gold"],
    ];
    let errors: String = arguments.map(|flags| replay.refused(&flags)).concat();
    insta::assert_snapshot!(errors);
}

#[test]
fn unclear_columns_must_be_named() {
    let replay = Replay::of("right,x,y,z\nA,A,A,A\nB,B,A,7\nB,A,B,8\n");
    let errors = [replay.refused(&[]), replay.refused(&["--gold", "right"])];
    insta::assert_snapshot!(errors.concat());
}

/// Known figures of these models. Each is met to a tenth of a percent: they were computed with
/// another reading of ties and blanks.
#[test]
fn recorded_answers_of_mmlu_pro_give_the_known_figures() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(MMLU_PRO);
    let Some(file) = present(file) else {
        return;
    };
    let file = file.to_str().unwrap();
    let arguments = [
        "benchmark",
        "--replay",
        file,
        "--models",
        STRONG_7,
        "--json",
    ];
    let json = Conclave::new().run(&arguments).ends_with(0).json();
    schema::check(SCHEMA, &json);
    assert_eq!(json["questions"], 10_326);
    let of = |name: &str, key: &str| rule(&json, name)[key].as_f64().unwrap();
    let near = |found: f64, known: f64| (found - known).abs() < 0.0011;
    for (name, accuracy) in [
        ("full_vote", 0.7234),
        ("vote_locked", 0.7234),
        ("unanimous_3", 0.7245),
        ("unanimous_2", 0.7292),
        ("beta_0.80", 0.7293),
        ("beta_0.95", 0.7234),
        ("first_model", 0.7168),
        ("best_model", 0.7168),
    ] {
        assert!(near(of(name, "accuracy"), accuracy), "{name}");
    }
    assert_eq!(rule(&json, "vote_locked")["same_as_full_vote"], 1.0);
    assert!(of("vote_locked", "saved") >= 0.26);
    assert!(of("unanimous_2", "saved") >= 0.49);
    assert_eq!(rule(&json, "unanimous_2")["better"], 122);
    assert_eq!(rule(&json, "unanimous_2")["worse"], 62);
    let error = |name: &str| {
        method(&json, name)["expected_calibration_error"]
            .as_f64()
            .unwrap()
    };
    assert!(error("shrunk") <= 0.06);
    assert!(error("independent") > 0.2);
}

fn present(file: PathBuf) -> Option<PathBuf> {
    file.exists().then_some(file)
}
