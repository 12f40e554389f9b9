//! The report as JSON, and its published schema.

use conclave::benchmark::result::CaseOutcome;
use conclave::benchmark::run::Arm;
use serde_json::{Value, json};

use crate::support::sample_results::{
    comparison_report, halted_report, report, result, terms, transcriptions,
};
use crate::support::schema;

const SCHEMA: &str = include_str!("../../../../../schemas/benchmark.schema.json");

fn checked(report: &conclave::benchmark::report::BenchmarkReport) -> Value {
    let json = serde_json::to_value(report).unwrap();
    schema::check(SCHEMA, &json);
    json
}

#[test]
fn comparison_matches_the_schema() {
    let json = checked(&comparison_report(24));
    assert_eq!(json["schema_version"], "1.0");
    assert_eq!(json["run_status"], "complete");
    assert_eq!(json["results"].as_array().unwrap().len(), 48);
    assert_eq!(json["arms"][0]["spend"]["cost"]["usd"], 0.24);
    assert_eq!(json["arms"][0]["spend"]["cost"]["micro_usd"], 240_000);
}

#[test]
fn figures_of_an_arm_are_written_in_full() {
    let json = checked(&comparison_report(1));
    let mut text = serde_json::to_string_pretty(&json["arms"][1]).unwrap();
    text.push('\n');
    insta::assert_snapshot!(text);
}

#[test]
fn transcriptions_match_the_schema() {
    let (terms, results) = transcriptions(4);
    checked(&report(&terms, &results));
}

#[test]
fn run_without_results_matches_the_schema() {
    let json = checked(&report(&terms(2, &[Arm::Panel]), &[]));
    assert_eq!(json["run_status"], "running");
    assert_eq!(json["arms"][0]["accuracy"], Value::Null);
    assert_eq!(json["remaining"], json!(["capital-001", "capital-002"]));
}

#[test]
fn failures_match_the_schema() {
    let mut result = result(1, Arm::Single, CaseOutcome::Failed);
    result.attempts = 2;
    checked(&report(&terms(1, &[Arm::Single]), &[result]));
}

#[test]
fn halted_run_has_the_reason_and_the_statistics() {
    let json = checked(&halted_report(6));
    assert_eq!(json["run_status"], "stopped");
    assert_eq!(json["stop_reason"]["condition"], "CONSECUTIVE_FAILS");
    assert_eq!(json["stop_reason"]["value"], 3.0);
    assert_eq!(json["resumable"], true);
    let statistics = &json["statistics"];
    let names = [
        "total_cases",
        "cases_attempted",
        "cases_approved",
        "cases_rejected",
        "cases_failed",
        "retry_rate",
        "reject_rate",
        "consecutive_fails",
    ];
    for name in names {
        assert!(statistics[name].is_number(), "{name}: {statistics}");
    }
}
