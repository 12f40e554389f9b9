//! The figures of a whole run, and the forms of its report.

use serde_json::{Value, json};

use super::{Bench, id, refusal};
use crate::support::schema;

/// Twelve cases: nine right, two wrong, one without an answer after two attempts.
fn twelve() -> Bench {
    let bench = Bench::of(12).wrong(&[2, 6]);
    bench.on(9, refusal());
    bench
}

#[test]
fn suite_of_twelve_gives_the_expected_figures() {
    let bench = twelve();
    let page = bench.conclave.folder().join("results.xml");
    let output = bench.run(&["--junit", "results.xml"]).ends_with(0);
    let report = output.json();
    assert_eq!(report["run_status"], "complete");
    assert_eq!(report["stop_reason"], Value::Null);
    let statistics = &report["statistics"];
    assert_eq!(statistics["total_cases"], 12);
    assert_eq!(statistics["cases_approved"], 9);
    assert_eq!(statistics["cases_rejected"], 2);
    assert_eq!(statistics["cases_failed"], 1);
    assert_eq!(statistics["attempts"], 13);
    let arm = &report["arms"][0];
    assert_eq!(arm["arm"], "single");
    assert_eq!(arm["accuracy"]["right"], 9);
    assert_eq!(arm["accuracy"]["of"], 12);
    let failed = &report["results"][8];
    assert_eq!(failed["case"], "q09");
    assert_eq!(failed["attempts"], 2);
    assert_eq!(failed["consultations"].as_array().unwrap().len(), 2);
    assert_eq!(bench.server.requests().len(), 13);
    let junit = std::fs::read_to_string(page).unwrap();
    assert!(junit.contains("failures=\"2\" errors=\"1\""), "{junit}");

    let reports = |more: &[&str]| {
        let arguments = [&["benchmark", "report"], more].concat();
        bench.conclave.run(&arguments)
    };
    assert_eq!(reports(&["--json"]).ends_with(0).json(), report);
    assert_eq!(reports(&["--fail-under", "0.75"]).ends_with(0).stderr, "");
    let below = reports(&["last", "--fail-under", "0.8", "-o", "report.html"]).ends_with(1);
    below.assert_stderr_contains("75.0% of the answers are right, which is below 80.0%");
    below.assert_stderr_contains("Report written to report.html\n");
    let page = std::fs::read_to_string(bench.conclave.folder().join("report.html")).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>"));
    let list = bench.conclave.run(&["benchmark", "list"]).ends_with(0);
    assert!(list.stdout.contains("complete"), "{}", list.stdout);
    let stdout = &list.stdout;
    assert!(stdout.contains("12 of 12 case runs"), "{stdout}");
    let listed = bench
        .conclave
        .run(&["benchmark", "list", "--json"])
        .ends_with(0);
    assert_eq!(listed.json()[0]["suite"], "suite");
    let schema = include_str!("../../../../../schemas/benchmark_list.schema.json");
    schema::check(schema, &listed.json());
}

#[test]
fn consultations_of_a_run_are_in_the_history() {
    let bench = Bench::of(2);
    let report = bench.run(&[]).ends_with(0).json();
    let consultation = report["results"][1]["consultations"][0].as_str().unwrap();
    let record = bench
        .conclave
        .run(&["history", "show", "--format", "json", consultation]);
    let record = record.ends_with(0).json();
    assert!(record["question"].as_str().unwrap().contains("q02"));
}

#[test]
fn tags_limit_and_repetitions_select_the_case_runs() {
    let bench = Bench::of(8);
    let output = bench
        .run(&["--tag", "even", "--limit", "2", "--repeat", "2"])
        .ends_with(0);
    let report = output.json();
    assert_eq!(
        super::outcomes(&report),
        [
            "q02 single 1: approved \"B\"",
            "q02 single 2: approved \"B\"",
            "q04 single 1: approved \"B\"",
            "q04 single 2: approved \"B\"",
        ]
    );
    let unknown = bench.run(&["--tag", "prime"]).ends_with(2);
    unknown.assert_stderr_contains("hint: one of: even, odd");
}

#[test]
fn secrets_in_ids_tags_and_expected_answers_are_masked_and_a_run_resumes() {
    let token = |body: &str| format!("ghp_{}", body.repeat(6));
    let secrets = [token("q8Zr2L"), token("mX9vBn"), token("4TkW7p")];
    let bench = Bench::of(0);
    let case = |number: usize, expected: &str| {
        json!({
            "id": format!("{} {}", id(number), secrets[number]),
            "question": format!("Which is right in {}?", id(number)),
            "expected": expected,
            "tags": [format!("of {}", secrets[0])],
        })
    };
    bench.write(&[case(0, &secrets[2]), case(1, "B")]);
    let output = bench.run(&["-v", "--junit", "results.xml"]).ends_with(0);
    bench.cut_log("case_run_finished");
    bench.resume(&[]);
    let log = std::fs::read_to_string(bench.folder().join("log.jsonl")).unwrap();
    let junit = std::fs::read_to_string(bench.conclave.folder().join("results.xml")).unwrap();
    for text in [&output.stdout, &output.stderr, &log, &junit] {
        for secret in &secrets {
            assert!(!text.contains(secret.as_str()), "{text}");
        }
        for id in ["q00 [REDACTED_GITHUB_TOKEN_", "q01 [REDACTED_GITHUB_TOKEN_"] {
            assert!(text.contains(id), "{text}");
        }
    }
    assert_eq!(output.json()["statistics"]["cases_approved"], 1);
    assert_eq!(bench.server.requests().len(), 2, "nothing is asked again");
}
