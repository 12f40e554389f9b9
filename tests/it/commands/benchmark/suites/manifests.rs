//! Manifests: what they name, and the settings of their runs.

use conclave::consultation::policy::mode::Mode;
use conclave::domain::answer::confidence::Confidence;
use conclave::suites::suite::{StopLimit, StopSettings};

use super::{Files, problems, read};

const CASES: &str = "\ncases:\n  - {question: x?, expected: y}\n";

#[test]
fn settings_of_a_manifest_are_read() {
    let suite = read(
        "bench.yaml",
        &format!(
            "name: Nightly
panel: [security=mock:a, skeptic=mock:b]
personas: security,skeptic
models: [mock:a, mock:b]
judge: mock:c
single: mock:a
grader: mock:d
mode: explore
rounds: 2
attempts_per_case: 3
jobs: 8
{CASES}"
        ),
    );
    let settings = suite.settings;
    assert_eq!(suite.name, "Nightly");
    assert_eq!(settings.panel.unwrap(), "security=mock:a,skeptic=mock:b");
    assert_eq!(settings.personas.unwrap(), "security,skeptic");
    assert_eq!(settings.models, ["mock:a", "mock:b"]);
    assert_eq!(settings.judge.unwrap(), "mock:c");
    assert_eq!(settings.single.unwrap(), "mock:a");
    assert_eq!(settings.grader.unwrap(), "mock:d");
    assert_eq!(settings.mode, Some(Mode::Explore));
    assert_eq!(settings.rounds, Some(2));
    assert_eq!(settings.attempts_per_case, Some(3));
    assert_eq!(settings.jobs, Some(8));
}

#[test]
fn stop_conditions_have_limits_or_are_off() {
    let suite = read(
        "bench.yaml",
        &format!(
            "retry:
  stop_conditions:
    max_retry_rate: off
    max_reject_rate: null
    max_consecutive_fails: 5
    max_total_attempts: 200
    window: 30
{CASES}"
        ),
    );
    let expected = StopSettings {
        max_retry_rate: Some(StopLimit::Off),
        max_reject_rate: Some(StopLimit::Off),
        max_consecutive_fails: Some(StopLimit::At(5)),
        max_total_attempts: Some(StopLimit::At(200)),
        min_items: None,
        window: Some(30),
    };
    assert_eq!(suite.settings.stop_conditions, expected);
}

#[test]
fn a_manifest_may_be_json() {
    let text = r#"{
  "retry": {"stop_conditions": {"max_reject_rate": 0.4, "max_total_attempts": null}},
  "cases": [{"question": "x?", "expected": "y"}]
}"#;
    let conditions = read("bench.json", text).settings.stop_conditions;
    let share = Confidence::new(0.4).unwrap();
    assert_eq!(conditions.max_reject_rate, Some(StopLimit::At(share)));
    assert_eq!(conditions.max_total_attempts, Some(StopLimit::Off));
}

#[test]
fn wrong_settings_are_listed_with_their_lines() {
    let problems = problems(
        "bench.yaml",
        &format!(
            "pannel: x
mode: quick
rounds: 5
jobs: 0
attempts_per_case: many
judge: [a]
retry:
  stop_condition: {{}}
  stop_conditions:
    max_reject_rate: 1.5
    max_consecutive_fails: -1
    windows: 3
match: exactly
{CASES}"
        ),
    );
    insta::assert_snapshot!(problems.join("\n"), @r#"
    bench.yaml:1: a manifest has no key `pannel`; did you mean `panel`?
    bench.yaml:2: `mode` is `quick`, but must be `converge` or `explore`
    bench.yaml:3: `rounds` is `5`, but must be a whole number from 1 to 4
    bench.yaml:4: `jobs` is `0`, but must be a whole number from 1 to 1000
    bench.yaml:5: `attempts_per_case` is `many`, but must be a whole number from 1 to 10
    bench.yaml:6: `judge` is a list, but must be a text
    bench.yaml:8: `retry` has no key `stop_condition`; did you mean `stop_conditions`?
    bench.yaml:10: `max_reject_rate` is `1.5`, but must be a share from 0 to 1, or `off`
    bench.yaml:11: `max_consecutive_fails` is `-1`, but must be a whole number from 1 to 1000000, or `off`
    bench.yaml:12: `stop_conditions` has no key `windows`; did you mean `window`?
    bench.yaml:13: `exactly` is not a way to match; did you mean `exact`?
    "#);
}

#[test]
fn a_manifest_needs_cases() {
    let expected = ["bench.yaml: a manifest needs `suite` with a path, or `cases`"];
    assert_eq!(problems("bench.yaml", "name: x"), expected);
    assert_eq!(
        problems("bench.yaml", "name: x\nsuite: missing.jsonl"),
        ["bench.yaml:2: the suite `missing.jsonl` does not exist"]
    );
    let both = problems("bench.yaml", &format!("suite: a.jsonl\n{CASES}"));
    assert!(both.contains(&"bench.yaml:3: a manifest has either `suite` or `cases`".to_owned()));
}

#[test]
fn a_manifest_does_not_name_another() {
    let files = Files::new(&[("a.yaml", "suite: b.yaml"), ("b.yaml", "suite: a.yaml")]);
    let expected = ["a.yaml:1: `b.yaml` is a manifest too, and must have cases"];
    assert_eq!(files.problems("a.yaml"), expected);
}

#[test]
fn a_manifest_names_nothing_outside_of_its_folder() {
    let case = "{\"question\": \"x?\", \"expected\": \"y\"}";
    let files = Files::new(&[("out.jsonl", case), ("s/suite.yaml", "")]);
    let absolute = files.path("out.jsonl");
    for name in [
        "../out.jsonl",
        "x/../../out.jsonl",
        absolute.to_str().unwrap(),
    ] {
        std::fs::write(files.path("s/suite.yaml"), format!("suite: {name}")).unwrap();
        assert_eq!(
            files.problems("s"),
            [format!(
                "s/suite.yaml:1: the suite `{}` is not in the folder of the suite",
                name.replace(
                    &format!("{}/", files.path("").display()).replace("//", "/"),
                    ""
                )
            )]
        );
    }
}

#[test]
fn problems_of_the_named_file_have_its_lines() {
    let files = Files::new(&[
        ("a.yaml", "suite: b.jsonl"),
        ("b.jsonl", "\n{\"question\": \"x?\"}"),
    ]);
    let problems = files.problems("a.yaml");
    assert_eq!(problems, ["b.jsonl:2: the case has no `expected` answer"]);
}
