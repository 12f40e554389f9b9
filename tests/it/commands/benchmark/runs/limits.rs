//! Consent to the cost of a run, its ceiling, and what is checked before anything is asked.

use std::process::Stdio;

use serde_json::json;

use super::{Bench, MODEL, answer, case};
use crate::support::provider_server::On;
use crate::support::schema;

#[test]
fn cost_without_a_terminal_needs_consent() {
    let bench = Bench::of(12);
    let conclave = &bench.conclave;
    let arguments = ["benchmark", "suite.jsonl", "--compare", "--single", MODEL];
    let output = conclave.run(&arguments).ends_with(3);
    output.assert_stderr_contains("agree to it with `--yes`");
    assert_eq!(bench.server.requests().len(), 0);
    assert!(!conclave.home().join("runs").exists());
}

#[test]
fn flag_that_wants_a_person_asked_is_refused_where_many_consultations_run() {
    let bench = Bench::of(1);
    for flag in ["--on-failure", "--early-stop"] {
        let output = bench.run(&[flag, "ask"]).ends_with(2);
        output.assert_stderr_contains(&format!("`{flag} ask` is for a single consultation"));
    }
    assert_eq!(bench.server.requests().len(), 0);
}

#[test]
fn ceiling_of_the_run_is_never_exceeded() {
    let bench = Bench::of(12);
    // The server reports so many tokens that a few answers cost a large part of the ceiling.
    let dear = answer("B").usage(1_000, 4_000);
    bench.server.on(On::any(), dear);
    let output = bench.run(&["--max-cost", "0.3"]).ends_with(4);
    let report = output.json();
    assert_eq!(report["stop_reason"]["condition"], "COST_CEILING");
    let spent = report["spend"]["cost"]["micro_usd"].as_u64().unwrap();
    assert!((1..=300_000).contains(&spent), "{spent}");
    output.assert_stderr_contains("--max-cost USD`");
    let before = bench.server.requests().len();
    assert!(before < 12, "{before}");
    let resumed = bench.resume(&["--max-cost", "50"]).ends_with(0).json();
    assert_eq!(resumed["statistics"]["cases_approved"], 12);
    assert_eq!(bench.server.requests().len(), 12);
}

#[test]
fn ceiling_that_pays_for_no_case_is_refused_before_the_first_call() {
    let bench = Bench::of(3);
    let start = "A ceiling of $0.01 does not pay for any part of this run: it takes $";
    let refused = bench.run(&["--max-cost", "0.01"]).ends_with(4);
    refused.assert_stderr_contains(&format!("error: {start}"));
    refused.assert_stderr_contains("hint: raise it with `--max-cost USD`");
    let preview = bench.run(&["--max-cost", "0.01", "--dry-run"]).ends_with(0);
    let message = preview.json()["consent"]["message"].to_string();
    assert!(
        message.contains(&format!("is refused: {start}")),
        "{message}"
    );
    let (_, smallest) = refused.stderr.split_once(start).unwrap();
    let smallest: f64 = smallest.split(' ').next().unwrap().parse().unwrap();
    let below = format!("{:.2}", smallest - 0.01);
    bench.run(&["--max-cost", &below]).ends_with(4);
    assert_eq!(bench.server.requests().len(), 0);
    assert!(!bench.conclave.home().join("runs").exists());
    bench.run(&["--max-cost", &format!("{smallest:.2}")]);
    assert!(!bench.server.requests().is_empty());
}

#[test]
fn dry_run_asks_nothing_and_reads_no_key() {
    let bench = Bench::of(3);
    let conclave = &bench.conclave;
    let output = conclave
        .run(&["benchmark", "suite.jsonl", "--dry-run"])
        .ends_with(0);
    let stdout = &output.stdout;
    assert!(stdout.contains("3 of 3 cases are selected"), "{stdout}");
    assert!(stdout.contains("| In all |  | 27 | "), "{stdout}");
    assert_eq!(bench.server.requests().len(), 0);
    assert!(!conclave.home().join("runs").exists());
}

#[test]
fn json_of_a_dry_run_names_every_vendor_and_follows_its_schema() {
    let bench = Bench::of(2);
    let mut judged = case(1);
    judged["options"] = serde_json::Value::Null;
    judged["match"] = "judge".into();
    bench.write(&[judged, case(2)]);
    let grader = "anthropic:claude-opus-5-5";
    let output = bench.run(&["--grader", grader, "--dry-run"]).ends_with(0);
    let json = output.json();
    schema::check(
        include_str!("../../../../../schemas/benchmark_dry_run.schema.json"),
        &json,
    );
    assert_eq!(json["calls"], 3);
    let models = json["by_model"].as_array().unwrap();
    let names: Vec<_> = models.iter().map(|model| &model["name"]).collect();
    assert_eq!(names, [grader, MODEL]);
    for model in models {
        assert!(model["address"].is_string(), "{model}");
    }
    assert_eq!(bench.server.requests().len(), 0);
}

#[test]
fn monthly_budget_stops_the_run_and_is_named() {
    let bench = Bench::of(12);
    let config = r#"{"monthly_budget": 2}"#;
    std::fs::create_dir_all(bench.conclave.home()).unwrap();
    std::fs::write(bench.conclave.home().join("config.json"), config).unwrap();
    // The estimate is below the budget, and the answers are longer than expected.
    let dear = answer("B").usage(1_000, 80_000);
    bench.server.on(On::any(), dear);
    let output = bench.run(&["--max-cost", "50"]).ends_with(4);
    assert_eq!(output.json()["stop_reason"]["condition"], "MONTHLY_BUDGET");
    output.assert_stderr_contains("could exceed the monthly budget of");
    output.assert_stderr_contains("hint: raise `monthly_budget` in config.json");
}

#[test]
fn all_problems_of_a_suite_are_listed_before_anything_is_asked() {
    let bench = Bench::of(1);
    bench.write(&[case(1), json!({"id": "x"}), json!({"question": "y"})]);
    let output = bench.run(&[]).ends_with(2);
    output.assert_stderr_contains("suite.jsonl:2");
    output.assert_stderr_contains("suite.jsonl:3");
    assert_eq!(bench.server.requests().len(), 0);
}

#[test]
fn secrets_in_cases_are_masked_and_announced_once() {
    let bench = Bench::of(2);
    let mut cases = vec![case(1), case(2)];
    let secret = ["ghp_", "16C7e42F292c6912E7710c838347Ae178B4a"].concat();
    for case in &mut cases {
        case["context"] = format!("token = {secret}").into();
    }
    bench.write(&cases);
    let output = bench.run(&[]).ends_with(0);
    let count = output.stderr.matches("2 sensitive values").count();
    assert_eq!(count, 1, "{}", output.stderr);
    for request in bench.server.requests() {
        assert!(!request.body.to_string().contains(&secret));
    }
}

#[test]
fn closed_pipe_is_no_error() {
    let bench = Bench::of(2);
    let mut command = bench.conclave.command();
    let arguments = Bench::arguments(&[]);
    command
        .args(arguments)
        .stdin(Stdio::null())
        .stderr(Stdio::null());
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
    assert_eq!(bench.state()["run_status"], "complete");
}
