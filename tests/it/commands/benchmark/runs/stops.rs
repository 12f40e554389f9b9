//! The stop conditions: each halts a run with exit code 6, a state and the line that resumes it.

use conclave::domain::ids::short_id;
use serde_json::Value;

use super::Bench;
use crate::support::binary::RunOutput;
use crate::support::provider_server::{Answer, On, Vendor};

/// Asserts that a run was stopped by a condition, and returns its state.
fn stopped(bench: &Bench, output: &RunOutput, condition: &str) -> Value {
    assert_eq!(output.code, Some(6), "{}\n{}", output.stdout, output.stderr);
    let state = bench.state();
    assert_eq!(state["run_status"], "stopped");
    assert_eq!(state["stop_reason"]["condition"], condition);
    assert_eq!(state["resumable"], true);
    let run = short_id(state["run_id"].as_str().unwrap());
    output.assert_stderr_contains(&format!("`conclave benchmark --resume {run}`"));
    let message = state["stop_reason"]["message"].as_str().unwrap();
    output.assert_stderr_contains(&format!("error: the run is stopped: {message}"));
    assert_eq!(output.json()["stop_reason"], state["stop_reason"]);
    state
}

#[test]
fn total_outage_halts_within_three_cases_and_counts_no_reject() {
    let bench = Bench::of(12);
    let overload = Answer::error(503, "overloaded", "busy").header("retry-after-ms", "1");
    bench.server.on(On::any(), overload);
    let output = bench.run(&[]);
    let state = stopped(&bench, &output, "PROVIDER_OUTAGE");
    assert_eq!(state["stop_reason"]["value"], 3.0);
    assert_eq!(state["stop_reason"]["threshold"], 3.0);
    let report = output.json();
    let error = report["stop_error"].as_str().unwrap();
    assert!(error.contains("(HTTP 5"), "{error}");
    output.assert_stderr_contains(&format!("; the last error: {error}\n"));
    assert_eq!(state["statistics"]["cases_rejected"], 0);
    assert_eq!(state["statistics"]["cases_failed"], 0);
    assert_eq!(state["statistics"]["infrastructure_failures"], 3);
    assert_eq!(state["remaining"].as_array().unwrap().len(), 12);
}

#[test]
fn outages_do_not_stop_a_run_whose_answers_are_right() {
    let bench = Bench::of(12);
    for number in (1..=12).filter(|number| number % 3 != 0) {
        // The call and its retries.
        for nth in 1..=4 {
            let overload = Answer::error(503, "overloaded", "busy").header("retry-after-ms", "1");
            bench
                .server
                .on(On::containing(&super::id(number)).nth(nth), overload);
        }
    }
    let report = bench.run(&["--max-attempts", "12"]).ends_with(0).json();
    assert_eq!(report["statistics"]["cases_approved"], 12);
    assert_eq!(report["statistics"]["attempts"], 12);
    assert_eq!(report["statistics"]["cases_retried"], 0);
    assert_eq!(report["statistics"]["infrastructure_failures"], 8);
}

#[test]
fn second_attempts_stop_a_run_whose_answers_are_right() {
    let bench = Bench::of(12);
    for number in 1..=12 {
        let first = On::containing(&super::id(number)).nth(1);
        bench.server.on(first, super::refusal());
    }
    let state = stopped(&bench, &bench.run(&[]), "RETRY_RATE");
    assert_eq!(state["statistics"]["cases_approved"], 10);
    assert_eq!(state["statistics"]["cases_retried"], 10);
}

#[test]
fn refused_key_halts_at_once_and_names_the_provider() {
    let bench = Bench::of(12);
    let refused = Answer::error(401, "invalid_api_key", "Incorrect API key provided");
    bench.server.on(On::vendor(Vendor::OpenAi), refused);
    let output = bench.run(&[]);
    let state = stopped(&bench, &output, "AUTHENTICATION");
    assert_eq!(bench.server.requests().len(), 1);
    assert_eq!(state["statistics"]["cases_failed"], 0);
    output.assert_stderr_contains("openai");
    output.assert_stderr_contains("`conclave doctor`");
}

#[test]
fn budget_below_the_case_runs_is_refused_unless_it_is_chosen() {
    let bench = Bench::of(51);
    let output = bench.run(&[]).ends_with(2);
    output
        .assert_stderr_contains("51 case runs need at least 51 attempts, but `max_attempts` is 50");
    assert_eq!(bench.server.requests().len(), 0);
    let output = bench.run(&["--max-attempts", "5"]);
    let state = stopped(&bench, &output, "ATTEMPT_BUDGET");
    assert_eq!(state["remaining"].as_array().unwrap().len(), 46);
    assert_eq!(output.json()["stop_error"], Value::Null);
    assert_eq!(bench.server.requests().len(), 5);
}
