//! Combined faults: one after another, an unreachable vendor, all experts of a round, every judge.

use serde_json::{Value, json};

use super::fault::{MESSAGE, quick_faults};
use super::stage::{STAGES, Stage};
use super::{
    FAILING, FALLBACK, arguments, assert_costs_add_up, check_concurrently, failing_server,
    server_with_fault,
};
use crate::support::binary::Conclave;
use crate::support::provider_server::{Answer, On, ProviderServer, Vendor};

/// An address without a server.
const NOWHERE: &str = "http://127.0.0.1:9";

fn classes(stage: Stage, record: &Value) -> Vec<Value> {
    stage
        .attempts(record)
        .iter()
        .map(|attempt| attempt["error"]["class"].clone())
        .collect()
}

#[test]
fn refused_connection_is_tried_three_times_and_costs_nothing() {
    check_concurrently(vec![Stage::Expert(1), Stage::Judge(2)], |stage| {
        let server = ProviderServer::start();
        let conclave = Conclave::with_all_keys(&server).variable("ANTHROPIC_BASE_URL", NOWHERE);
        let output = conclave.run(&arguments(&[&stage.panel()])).ends_with(0);
        let (_, name) = stage.agent();
        let expected = format!(
            "⚠️ {FAILING} is unavailable (connection refused by `127.0.0.1:9`). {FALLBACK} takes over as {name}.\n"
        );
        assert!(output.stderr.contains(&expected), "{}", output.stderr);
        let record = conclave.record();
        assert_eq!(
            classes(stage, &record),
            [
                json!("transport"),
                json!("transport"),
                json!("transport"),
                Value::Null
            ]
        );
        assert_eq!(
            record["cost"]["lower_bound"], false,
            "nothing billable was sent"
        );
        assert_costs_add_up(&record, "a refused connection");
    });
}

#[test]
fn faults_of_retries_are_handled_like_first_faults() {
    check_concurrently(quick_faults(), |fault| {
        let stage = Stage::Expert(1);
        let busy =
            Answer::error(529, "overloaded_error", "busy at first").header("retry-after-ms", "1");
        // Transient failures allow two retries in all, even if they differ.
        let times = fault.requests.min(2);
        let (server, conclave) = server_with_fault(&fault, 2..2 + times);
        server.on(On::vendor(Vendor::Anthropic).nth(1), busy);
        let output = conclave.run(&arguments(&[&stage.panel()])).ends_with(0);
        let record = conclave.record();
        let mut expected = vec![json!("overload")];
        expected.extend((0..times).map(|_| json!(fault.class)));
        expected.push(Value::Null);
        assert_eq!(classes(stage, &record), expected, "{}", fault.what);
        assert!(
            !output.stderr.contains("busy at first"),
            "{}: the last reason counts: {}",
            fault.what,
            output.stderr
        );
        let message = record["substitutions"][0]["message"].as_str().unwrap();
        assert!(message.contains(fault.message), "{}: {message}", fault.what);
        assert_costs_add_up(&record, fault.what);
    });
}

#[test]
fn verdict_without_revisions_uses_the_earlier_rounds() {
    let server = ProviderServer::start();
    for vendor in [Vendor::Anthropic, Vendor::OpenAi, Vendor::Google] {
        server.on(
            On::vendor(vendor).nth(2),
            Answer::error(400, "invalid_request_error", MESSAGE),
        );
    }
    let conclave = Conclave::with_all_keys(&server);
    let panel = "security=anthropic:claude-sonnet-5-5,architect=openai:gpt-6.1-sol,pragmatic=google:gemini-4-argon";
    let flags = [
        "--panel",
        panel,
        "--judge",
        "mistral:mistral-large-4",
        "--on-failure",
        "skip",
    ];
    let output = conclave.run(&arguments(&[&flags])).ends_with(0);
    let record = conclave.record();
    assert_eq!(record["status"], "degraded");
    assert_eq!(record["state"], "Complete");
    let missing = record["degradations"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|degradation| {
            degradation
                .as_str()
                .unwrap()
                .contains("gave no answer in Round 3")
        });
    assert_eq!(missing.count(), 3, "{}", record["degradations"]);
    assert_eq!(output.stderr.matches("⚠️ Agent ").count(), 3);
    assert_eq!(record["recommendation"], "Start small, then grow.");
    assert_costs_add_up(&record, "no revision");
}

#[test]
fn resume_continues_in_the_round_that_had_no_judge() {
    let stages = STAGES
        .into_iter()
        .filter(|stage| matches!(stage, Stage::Judge(_)))
        .collect();
    check_concurrently(stages, |stage: Stage| {
        let unauthorized = Answer::error(401, "authentication_error", MESSAGE);
        let (server, conclave) = failing_server(&unauthorized, [stage.first()]);
        server.on(On::vendor(Vendor::Mistral).nth(1), unauthorized);
        let output = conclave.run(&arguments(&[&stage.panel()])).ends_with(1);
        let name = ["Synthesis", "CrossExam", "Verdict"][usize::from(stage.round()) - 2];
        let error = format!(
            "error: The judge failed in Round {} ({name}): {MESSAGE} (HTTP 401); check `MISTRAL_API_KEY`\n",
            stage.round()
        );
        assert!(
            output.stderr.contains(&error),
            "{stage:?}: {}",
            output.stderr
        );
        assert!(output.stdout.is_empty(), "{stage:?}: {}", output.stderr);
        let record = conclave.record();
        assert_eq!(record["abort_reason"], "judge_failed");
        assert_eq!(record["aborted_during"], name);
        assert_eq!(
            record["partial_consensus"].is_string(),
            stage.round() > 2,
            "{stage:?}"
        );
        assert_costs_add_up(&record, "no judge");

        let before = server.requests().len();
        conclave.run(&["resume"]).ends_with(0);
        let left = 2 * stage.experts() + 3 - (before - 2);
        assert_eq!(
            server.requests().len() - before,
            left,
            "{stage:?}: only missing answers are requested"
        );
    });
}

#[test]
fn failure_reasons_name_their_experts() {
    let server = ProviderServer::start();
    server.on(On::any(), Answer::error(400, "invalid_request_error", "no"));
    let output = Conclave::with_all_keys(&server)
        .run(&arguments(&[&Stage::Expert(1).panel()]))
        .ends_with(1);
    let (_, error) = output
        .stderr
        .split_once("error: All agents failed. Unable to provide consultation.\n")
        .unwrap();
    assert!(error.contains(": no (HTTP 400)"), "{error}");
    assert!(error.contains("Security Expert ("), "{error}");
}

#[test]
fn ending_run_starts_no_further_calls() {
    check_concurrently(vec![Stage::Expert(1), Stage::Expert(3)], |stage| {
        // The last call to finish, so that no other call is open.
        let last = Answer::error(401, "authentication_error", MESSAGE)
            .after_arrivals(if stage.round() == 1 { 3 } else { 7 });
        let (_server, conclave) = failing_server(
            &last.delay(std::time::Duration::from_millis(300)),
            [stage.first()],
        );
        let output = conclave
            .run(&arguments(&[&stage.panel(), &["--strict"]]))
            .ends_with(5);
        let (_, after) = output
            .stderr
            .split_once("⚠️ Agent Security Expert failed: ")
            .unwrap();
        assert!(!after.contains("thinking"), "{}", output.stderr);
        let during = if stage.round() == 1 {
            "Independent"
        } else {
            "CrossExam"
        };
        assert_eq!(conclave.record()["aborted_during"], during);
    });
}
