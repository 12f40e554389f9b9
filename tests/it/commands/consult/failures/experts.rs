//! Failing experts: the others continue, the provider's message is shown, and paid answers are
//! saved.

use std::time::Duration;

use serde_json::{Value, json};

use super::{attempts, each, unauthorized};
use conclave::domain::ids::short_id;

use crate::commands::consult::cost::assert_costs_add_up;
use crate::commands::consult::{ask, assert_contains};
use crate::support::binary::{Conclave, RunOutput};
use crate::support::model_requests::request_counts;
use crate::support::provider_server::{Answer, On, ProviderServer, Vendor};

/// Runs a consultation without fallbacks.
fn consult(server: &ProviderServer, flags: &[&str]) -> (Conclave, RunOutput) {
    ask(server, &[&["--on-failure", "skip"], flags].concat())
}

#[test]
fn failed_expert_degrades_the_result() {
    let server = ProviderServer::start();
    server.on(On::vendor(Vendor::Anthropic), unauthorized());
    let (conclave, output) = consult(&server, &[]);
    let output = output.ends_with(0);
    let message = "this key was withdrawn (HTTP 401); check `ANTHROPIC_API_KEY`";
    output.assert_stderr_contains(&format!("⚠️ Agent Security Expert failed: {message}\n"));
    let (warning, _) = output.stdout.split_once("# Consultation").unwrap();
    assert!(
        warning.starts_with("> ⚠️ **Degraded result:**"),
        "{warning}"
    );
    assert_contains(warning, "this key was withdrawn");
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
    assert_eq!(record["degradations"].as_array().unwrap().len(), 1);
    assert_eq!(record["substitutions"], json!([]));
    assert_costs_add_up(&record);
}

fn no_such_model() -> Answer {
    let error = r#"{"error": {"message": "no such model", "code": "model_not_found"}}"#;
    Answer::http(404, "application/json", error)
}

#[test]
fn models_that_no_provider_has_point_to_the_doctor() {
    let server = ProviderServer::start();
    server.on(On::any(), no_such_model());
    let (_, output) = ask(&server, &[]);
    let output = output.ends_with(1);
    // The last fallback is named beside the expert.
    output.assert_stderr_contains("Security Expert (google:gemini-4-argon): no such model");
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
    server.on(On::vendor(Vendor::OpenAi), no_such_model());
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
        assert_contains(error, reason);
    }
    let saved = conclave.log("json");
    let saved = format!("💾 Partial results saved to: {}\n", saved.display());
    output.assert_stderr_contains(&saved);
    let record = conclave.record();
    assert_eq!(record["abort_reason"], "all_agents_failed");
    assert_eq!(record["recommendation"], Value::Null);
}

#[test]
fn overloaded_provider_is_retried_after_its_hint() {
    let server = ProviderServer::start();
    // The hint in milliseconds outweighs the one in seconds.
    let busy = Answer::error(529, "overloaded_error", "Overloaded")
        .header("retry-after-ms", "20")
        .header("retry-after", "25");
    server.on(On::vendor(Vendor::Anthropic).nth(1), busy.clone());
    server.on(On::vendor(Vendor::Anthropic).nth(2), busy);
    let (conclave, output) = consult(&server, &["--verbose"]);
    let output = output.ends_with(0);
    for number in ["2 of 3", "3 of 3"] {
        let line = format!("Security Expert: retrying {number} in 0.0 s: Overloaded (HTTP 529)\n");
        assert_eq!(output.stderr.matches(&line).count(), 1, "{}", output.stderr);
    }
    let record = conclave.record();
    let attempts = attempts(&record, "round_1", "security");
    assert_eq!(each(attempts, "/purpose"), ["answer", "retry", "retry"]);
    assert_eq!(record["status"], "complete");
    assert_eq!(record["degradations"], json!([]));
    let requests = server.requests_to(Vendor::Anthropic);
    let [first, second] = &requests[..2] else {
        panic!("{requests:?}")
    };
    let waited = second.arrived - first.finished.unwrap();
    assert!(
        waited >= Duration::from_millis(19),
        "it comes before the hint"
    );
    assert_eq!(first.body, second.body);
}

#[test]
fn repairable_failures_succeed_on_the_second_attempt() {
    let server = ProviderServer::start();
    let unsupported = json!({
        "error": {
            "message": "response_format is not supported by this model",
            "type": "invalid_request_error",
            "param": "response_format",
            "code": "unsupported_parameter",
        },
    });
    let unsupported = Answer::http(400, "application/json", unsupported.to_string());
    server.on(On::vendor(Vendor::OpenAi).nth(1), unsupported);
    let cut_off = Answer::length(r#"{"position": "Start sma"#);
    server.on(On::vendor(Vendor::Anthropic).nth(1), cut_off);
    let (conclave, output) = consult(&server, &[]);
    output.ends_with(0);
    let record = conclave.record();
    assert_eq!(record["status"], "complete");
    let purposes = |agent| each(attempts(&record, "round_1", agent), "/purpose");
    assert_eq!(purposes("architecture"), ["answer", "reformed"]);
    assert_eq!(purposes("security"), ["answer", "more_room"]);
    let openai = server.requests_to(Vendor::OpenAi);
    assert_ne!(
        openai[0].body["response_format"], openai[1].body["response_format"],
        "the rejected field is omitted"
    );
    let anthropic = server.requests_to(Vendor::Anthropic);
    let limits = anthropic.iter().map(|request| &request.body["max_tokens"]);
    assert_eq!(limits.collect::<Vec<_>>(), [16_384, 32_768, 16_384]);
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
    output.assert_stderr_contains("⚠️ Agent Security Expert failed: we are sorry");
    let journal = std::fs::read_to_string(conclave.log("jsonl")).unwrap();
    assert_contains(&journal, "half a th");
}

#[test]
fn unreadable_answer_after_repair_is_used_as_prose() {
    let server = ProviderServer::start();
    let texts = ["Start small, I would say.", "I said so already."];
    for (nth, text) in (1..).zip(texts) {
        server.on(On::vendor(Vendor::Anthropic).nth(nth), Answer::text(text));
    }
    let (conclave, output) = consult(&server, &[]);
    let output = output.ends_with(0);
    let record = conclave.record();
    let attempts = attempts(&record, "round_1", "security");
    assert_eq!(each(attempts, "/purpose"), ["answer", "repair"]);
    assert_eq!(record["status"], "degraded");
    assert!(
        output.stdout.starts_with("> ⚠️ **Degraded result:**"),
        "{}",
        output.stdout
    );
    let degradation = "in Round 1 could not be read as asked; its text is quoted as it is";
    assert_contains(&output.stdout, degradation);
    assert_contains(&output.stdout, "Start small, I would say.");
}

#[test]
fn fail_ends_the_run_and_resume_uses_a_fallback() {
    let server = ProviderServer::start();
    server.on(On::vendor(Vendor::Anthropic), unauthorized());
    let (conclave, output) = ask(&server, &["--on-failure", "fail"]);
    let output = output.ends_with(1);
    assert_eq!(output.stdout, "");
    output.assert_stderr_contains(
        "error: Security Expert failed in Round 1: this key was withdrawn (HTTP 401)",
    );
    let record = conclave.record();
    assert_eq!(record["abort_reason"], "agent_failed");
    assert_eq!(record["substitutions"], json!([]));
    let id = short_id(record["resume_token"].as_str().unwrap());
    output.assert_stderr_contains(&format!(
        "hint: resume it with `conclave resume {id} --on-failure substitute`\n"
    ));
    conclave
        .run(&["resume", id, "--on-failure", "substitute"])
        .ends_with(0);
    let record = conclave.record();
    assert_eq!(record["status"], "degraded");
    assert_eq!(record["substitutions"].as_array().unwrap().len(), 1);
    assert_costs_add_up(&record);
}

#[test]
fn strict_requires_the_whole_panel() {
    let server = ProviderServer::start();
    server.on(On::vendor(Vendor::Anthropic), unauthorized());
    let (conclave, output) = ask(&server, &["--strict"]);
    let output = output.ends_with(5);
    assert_eq!(output.stdout, "");
    output.assert_stderr_contains(
        "error: Refused under --strict: Security Expert's answer in Round 1 is missing: \
         this key was withdrawn",
    );
    output
        .assert_stderr_contains("hint: leave out `--strict` to accept a result with fewer answers");
    let record = conclave.record();
    assert_eq!(record["abort_reason"], "strict");
    assert_eq!(record["substitutions"], json!([]));
}

#[test]
fn huge_token_counts_do_not_crash() {
    let server = ProviderServer::start();
    let huge = Answer::valid().usage(u64::MAX / 2, u64::MAX / 2);
    server.on(On::vendor(Vendor::Anthropic), huge);
    let (conclave, output) = consult(&server, &["--yes"]);
    assert!(output.code.is_some_and(|code| code <= 4), "{output:?}");
    assert!(!output.stderr.contains("panicked"), "{output:?}");
    assert!(conclave.record()["cost"].is_object());
}

#[test]
fn overlong_answer_is_cut_and_named_in_the_report() {
    let server = ProviderServer::start();
    let position =
        r#"{"position": "Start small", "key_points": ["a"], "rationale": "r", "confidence": 0.7}"#;
    let text = position.to_owned() + &" and so on".repeat(110_000);
    server.on(On::vendor(Vendor::Anthropic).nth(1), Answer::text(text));
    let (conclave, output) = consult(&server, &[]);
    let words = "Security Expert's answer in Round 1 was longer than 1 MB; the rest was left out";
    assert_contains(&output.ends_with(0).stdout, words);
    let record = conclave.record();
    let attempts = attempts(&record, "round_1", "security");
    assert_eq!(attempts[0]["stop"], "too_long");
    let problem = "longer than 1 MB: the rest was left out";
    assert_contains(&record["responses"].to_string(), problem);
}
