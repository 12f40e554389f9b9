//! Failing experts: the others continue, the provider's message is shown, and paid answers are
//! saved.

use std::time::Duration;

use serde_json::{Value, json};

use super::unauthorized;
use crate::support::binary::{Conclave, RunOutput};
use crate::support::model_requests::request_counts;
use crate::support::provider_server::{Answer, On, ProviderServer, Vendor};

/// Runs a consultation without fallbacks.
fn consult(server: &ProviderServer, arguments: &[&str]) -> (Conclave, RunOutput) {
    let conclave = Conclave::at(server);
    let output =
        conclave.run(&[&["consult", "--on-failure", "skip", "Shall we?"], arguments].concat());
    (conclave, output)
}

/// Returns the recorded calls of one expert in Round 1.
fn attempts(record: &Value, agent: &str) -> Vec<Value> {
    let agents = record["responses"]["round_1"]["agents"].as_array().unwrap();
    agents
        .iter()
        .find(|entry| entry["agent_id"] == agent)
        .unwrap()["attempts"]
        .as_array()
        .unwrap()
        .clone()
}

#[test]
fn failed_expert_degrades_the_result() {
    let server = ProviderServer::start();
    server.on(On::vendor(Vendor::Anthropic), unauthorized());
    let (conclave, output) = consult(&server, &[]);
    let output = output.ends_with(0);
    let message = "this key was withdrawn (HTTP 401); check `ANTHROPIC_API_KEY`";
    assert!(
        output
            .stderr
            .contains(&format!("⚠️ Agent Security Expert failed: {message}\n")),
        "{}",
        output.stderr
    );
    assert!(
        output.stdout.starts_with("> ⚠️ **Degraded result:**"),
        "{}",
        output.stdout
    );
    assert!(
        output
            .stdout
            .split_once("# Consultation")
            .unwrap()
            .0
            .contains("this key was withdrawn"),
        "{}",
        output.stdout
    );
    assert_eq!(
        request_counts(&server),
        [
            ("independent", 3),
            ("synthesis", 1),
            ("revision", 2),
            ("cross_exam", 1),
            ("verdict", 1)
        ]
    );
    let record = conclave.record();
    assert_eq!(record["status"], "degraded");
    assert_eq!(record["state"], "Complete");
    assert!(!record["degradations"].as_array().unwrap().is_empty());
    assert_eq!(
        attempts(&record, "security").len(),
        1,
        "permanent failures are not retried"
    );
}

#[test]
fn models_that_no_provider_has_point_to_the_doctor() {
    let server = ProviderServer::start();
    for vendor in [Vendor::Anthropic, Vendor::OpenAi, Vendor::Google] {
        server.on(
            On::vendor(vendor),
            Answer::http(
                404,
                "application/json",
                r#"{"error": {"message": "no such model", "code": "model_not_found"}}"#,
            ),
        );
    }
    let (_, output) = consult(&server, &[]);
    let output = output.ends_with(1);
    assert!(
        output
            .stderr
            .ends_with("hint: find out what to fix with `conclave doctor`\n"),
        "{}",
        output.stderr
    );
}

#[test]
fn run_without_answers_fails_with_each_reason() {
    let server = ProviderServer::start();
    server.on(On::vendor(Vendor::Anthropic), unauthorized());
    server.on(
        On::vendor(Vendor::OpenAi),
        Answer::http(
            404,
            "application/json",
            r#"{"error": {"message": "no such model", "code": "model_not_found"}}"#,
        ),
    );
    server.on(On::vendor(Vendor::Google), Answer::refusal("not for me"));
    let (conclave, output) = consult(&server, &[]);
    let output = output.ends_with(1);
    assert_eq!(output.stdout, "");
    assert_eq!(server.requests().len(), 3);
    let (_, error) = output.stderr.split_once("error: ").unwrap();
    assert!(
        error.starts_with("All agents failed. Unable to provide consultation.\n"),
        "{error}"
    );
    for reason in [
        "Security Expert: this key was withdrawn (HTTP 401)",
        "Architect: no such model",
        "Pragmatist: declined to answer: not for me",
    ] {
        assert!(error.contains(reason), "{reason}: {error}");
    }
    let saved = format!(
        "💾 Partial results saved to: {}\n",
        conclave.log("json").display()
    );
    assert!(
        output.stderr.contains(&saved),
        "the paid refusal is saved: {}",
        output.stderr
    );
    assert_eq!(conclave.record()["abort_reason"], "all_agents_failed");
}

#[test]
fn overloaded_provider_is_retried_after_its_hint() {
    let server = ProviderServer::start();
    let overloaded =
        r#"{"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}"#;
    let busy = || Answer::http(529, "application/json", overloaded).header("retry-after-ms", "20");
    server.on(On::vendor(Vendor::Anthropic).nth(1), busy());
    server.on(On::vendor(Vendor::Anthropic).nth(2), busy());
    let (conclave, output) = consult(&server, &["--verbose"]);
    let output = output.ends_with(0);
    for number in ["2 of 3", "3 of 3"] {
        let line = format!("Security Expert: retrying {number} in 0.0 s: Overloaded (HTTP 529)\n");
        assert_eq!(output.stderr.matches(&line).count(), 1, "{}", output.stderr);
    }
    let purposes: Vec<_> = attempts(&conclave.record(), "security")
        .iter()
        .map(|attempt| attempt["purpose"].clone())
        .collect();
    assert_eq!(purposes, ["answer", "retry", "retry"]);
    assert_eq!(conclave.record()["status"], "complete");
    let [first, second] = [0, 1].map(|nth| {
        server
            .requests()
            .into_iter()
            .filter(|request| request.vendor == Some(Vendor::Anthropic))
            .nth(nth)
            .unwrap()
    });
    assert!(
        second.arrived - first.finished.unwrap() >= Duration::from_millis(19),
        "the retry comes before the hint"
    );
    assert_eq!(first.body, second.body);
}

#[test]
fn overloaded_provider_gets_two_retries() {
    let server = ProviderServer::start();
    let busy = Answer::http(503, "text/html", "<html><body>busy</body></html>")
        .header("retry-after-ms", "1");
    server.on(On::vendor(Vendor::Google), busy);
    let (_, output) = consult(&server, &[]);
    let output = output.ends_with(0);
    assert!(
        output.stderr.contains("⚠️ Agent Pragmatist failed: "),
        "{}",
        output.stderr
    );
    assert!(output.stderr.contains("HTTP 503"), "{}", output.stderr);
    assert_eq!(
        server
            .requests()
            .iter()
            .filter(|request| request.vendor == Some(Vendor::Google))
            .count(),
        3
    );
}

#[test]
fn stream_error_fails_the_expert_and_saves_the_partial_text() {
    let server = ProviderServer::start();
    let error = json!({"type": "overloaded_error", "message": "we are sorry"});
    server.on(
        On::vendor(Vendor::Anthropic).nth(1),
        Answer::error_in_stream("{\"position\": \"half a th", error),
    );
    let (conclave, output) = consult(&server, &[]);
    let output = output.ends_with(0);
    assert!(
        output.stderr.contains("⚠️ Agent Security Expert failed: "),
        "{}",
        output.stderr
    );
    assert!(output.stderr.contains("we are sorry"), "{}", output.stderr);
    assert!(
        std::fs::read_to_string(conclave.log("jsonl"))
            .unwrap()
            .contains("half a th")
    );
}

#[test]
fn broken_stream_is_never_an_answer() {
    for broken in [Answer::valid().cut(), Answer::valid().short()] {
        let server = ProviderServer::start();
        server.on(On::vendor(Vendor::OpenAi).nth(1), broken);
        let (conclave, output) = consult(&server, &[]);
        assert!(
            output
                .ends_with(0)
                .stderr
                .contains("⚠️ Agent Architect failed: ")
        );
        assert_eq!(conclave.record()["status"], "degraded");
    }
}

#[test]
fn truncated_answer_is_retried_with_twice_the_token_limit() {
    let server = ProviderServer::start();
    server.on(
        On::vendor(Vendor::Anthropic).nth(1),
        Answer::length("{\"position\": \"Start sma"),
    );
    let (conclave, output) = consult(&server, &[]);
    output.ends_with(0);
    let limits: Vec<_> = server
        .requests()
        .iter()
        .filter_map(|request| request.body.get("max_tokens").cloned())
        .collect();
    assert_eq!(limits, [16_384, 32_768, 16_384]);
    assert_eq!(conclave.record()["status"], "complete");
}

#[test]
fn refusal_counts_as_abstention() {
    let server = ProviderServer::start();
    server.on(
        On::vendor(Vendor::Google).nth(1),
        Answer::refusal("I would rather not."),
    );
    let (_, output) = consult(&server, &[]);
    let output = output.ends_with(0);
    assert!(
        output
            .stderr
            .contains("⚠️ Agent Pragmatist failed: declined to answer: I would rather not."),
        "{}",
        output.stderr
    );
    assert_eq!(
        request_counts(&server)[0],
        ("independent", 3),
        "refusals are not retried"
    );
}

#[test]
fn unreadable_answer_is_repaired_once() {
    let server = ProviderServer::start();
    server.on(
        On::vendor(Vendor::Anthropic).nth(1),
        Answer::text("Start small, I would say."),
    );
    let (conclave, output) = consult(&server, &[]);
    output.ends_with(0);
    assert_eq!(server.requests().len(), 10);
    let purposes: Vec<_> = attempts(&conclave.record(), "security")
        .iter()
        .map(|attempt| attempt["purpose"].clone())
        .collect();
    assert_eq!(purposes, ["answer", "repair"]);
    let repair = server
        .requests()
        .into_iter()
        .filter(|request| request.vendor == Some(Vendor::Anthropic))
        .nth(1)
        .unwrap();
    let prompt = repair.body["messages"][0]["content"].as_str().unwrap();
    assert!(prompt.contains("Start small, I would say."), "{prompt}");
    assert!(prompt.contains("Shall we?"), "{prompt}");
    assert_eq!(conclave.record()["status"], "complete");
}

#[test]
fn unreadable_answer_after_repair_is_used_as_prose() {
    let server = ProviderServer::start();
    server.on(
        On::vendor(Vendor::Anthropic).nth(1),
        Answer::text("Start small, I would say."),
    );
    server.on(
        On::vendor(Vendor::Anthropic).nth(2),
        Answer::text("I said so already."),
    );
    let (conclave, output) = consult(&server, &[]);
    let output = output.ends_with(0);
    assert_eq!(
        request_counts(&server),
        [
            ("independent", 4),
            ("synthesis", 1),
            ("revision", 3),
            ("cross_exam", 1),
            ("verdict", 1)
        ]
    );
    assert!(
        output.stdout.starts_with("> ⚠️ **Degraded result:**"),
        "{}",
        output.stdout
    );
    assert!(
        output.stdout.contains("Start small, I would say."),
        "{}",
        output.stdout
    );
    assert_eq!(conclave.record()["status"], "degraded");
}

#[test]
fn truncated_json_is_used_as_far_as_it_goes() {
    let server = ProviderServer::start();
    server.on(
        On::vendor(Vendor::Google).nth(1),
        Answer::text(r#"{"position": "Start small", "key_points": ["Undo is che"#),
    );
    let (_, output) = consult(&server, &[]);
    let output = output.ends_with(0);
    assert!(
        output.stderr.contains("\n✔ Pragmatist  "),
        "{}",
        output.stderr
    );
    assert!(request_counts(&server)[0].1 <= 4, "at most one repair");
}

#[test]
fn long_retry_hint_fails_the_expert_at_once() {
    let server = ProviderServer::start();
    server.on(
        On::vendor(Vendor::OpenAi).nth(1),
        Answer::http(429, "application/json", "{}").header("retry-after", "3600"),
    );
    let (_, output) = consult(&server, &[]);
    assert!(
        output
            .ends_with(0)
            .stderr
            .contains("⚠️ Agent Architect failed: ")
    );
    assert_eq!(request_counts(&server)[0], ("independent", 3));
}

#[test]
fn silent_connection_fails_after_the_idle_timeout() {
    let server = ProviderServer::start();
    server.on(
        On::vendor(Vendor::Anthropic).nth(1),
        Answer::text("{\"position\": \"Start small\"")
            .pieces(24)
            .stall(),
    );
    let conclave = Conclave::at(&server).config(r#"{"idle_timeout_seconds": 1.5}"#);
    let output = conclave
        .run(&["consult", "--on-failure", "skip", "Shall we?"])
        .ends_with(0);
    assert!(
        output.stderr.contains("⚠️ Agent Security Expert failed: "),
        "{}",
        output.stderr
    );
}
