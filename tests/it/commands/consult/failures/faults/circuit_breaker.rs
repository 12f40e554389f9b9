//! The circuit breaker: a vendor that fails repeatedly gets no requests while a fallback exists.

use serde_json::json;

use super::{FALLBACK, arguments, assert_costs_add_up};
use crate::support::binary::{Conclave, RunOutput};
use crate::support::provider_server::{Answer, On, ProviderServer, Vendor};

const PANEL: &str = "security=anthropic:claude-sonnet-5-5,architect=openai:gpt-6.1-sol,pragmatic=google:gemini-4-argon";

/// Runs a consultation in which the vendor of one expert and of the first judge fails this often.
fn consult(answer: &Answer, times: usize, judges: &str) -> (ProviderServer, Conclave, RunOutput) {
    let server = ProviderServer::start();
    for nth in 1..=times {
        server.on(On::vendor(Vendor::Anthropic).nth(nth), answer.clone());
    }
    let conclave = Conclave::with_all_keys(&server);
    let output = conclave
        .run(&arguments(&[&["--panel", PANEL, "--judge", judges]]))
        .ends_with(0);
    (server, conclave, output)
}

fn overload() -> Answer {
    Answer::error(529, "overloaded_error", "busy").header("retry-after-ms", "1")
}

#[test]
fn three_failures_in_a_row_open_the_circuit() {
    let (server, conclave, output) = consult(
        &overload(),
        3,
        "anthropic:claude-opus-5-5,mistral:mistral-large-4",
    );
    assert_eq!(
        server.requests_to(Vendor::Anthropic).len(),
        3,
        "the judge is not asked at Anthropic: {}",
        output.stderr
    );
    let expected = format!(
        "⚠️ anthropic:claude-opus-5-5 is unavailable (`anthropic` has failed repeatedly). {FALLBACK} takes over as Judge.\n"
    );
    assert!(output.stderr.contains(&expected), "{}", output.stderr);
    let record = conclave.record();
    let reasons: Vec<_> = record["substitutions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|substitution| substitution["reason"].clone())
        .collect();
    assert_eq!(reasons, [json!("failure"), json!("health_check")]);
    assert_costs_add_up(&record, "the breaker");
}

#[test]
fn two_failures_leave_the_circuit_closed() {
    let (server, _, output) = consult(
        &overload(),
        2,
        "anthropic:claude-opus-5-5,mistral:mistral-large-4",
    );
    assert!(!output.stderr.contains("⚠️"), "{}", output.stderr);
    // The expert's three attempts and its revision, and the judge's three answers.
    assert_eq!(
        server.requests_to(Vendor::Anthropic).len(),
        3 + 1 + 3 + 1 - 1
    );
}

#[test]
fn last_remaining_model_is_asked_despite_an_open_circuit() {
    let (server, conclave, output) = consult(&overload(), 3, "anthropic:claude-opus-5-5");
    assert_eq!(
        server.requests_to(Vendor::Anthropic).len(),
        3 + 3,
        "{}",
        output.stderr
    );
    assert_eq!(
        conclave.record()["substitutions"].as_array().unwrap().len(),
        1
    );
}

#[test]
fn rejected_requests_do_not_count_for_the_circuit() {
    let rejection = Answer::error(400, "invalid_request_error", "not that");
    let server = ProviderServer::start();
    // Each of the three experts of one vendor is rejected once.
    (1..=3).for_each(|nth| server.on(On::vendor(Vendor::Anthropic).nth(nth), rejection.clone()));
    let conclave = Conclave::with_all_keys(&server);
    let panel = "security=anthropic:claude-sonnet-5-5,architect=anthropic:claude-sonnet-5-5,pragmatic=anthropic:claude-sonnet-5-5";
    let judges = "anthropic:claude-opus-5-5,mistral:mistral-large-4";
    conclave
        .run(&arguments(&[&["--panel", panel, "--judge", judges]]))
        .ends_with(0);
    assert_eq!(
        server.requests_to(Vendor::Anthropic).len(),
        3 + 3,
        "the judge is asked at Anthropic in every round"
    );
}

#[test]
fn three_rejected_keys_open_the_circuit() {
    let server = ProviderServer::start();
    server.on(
        On::vendor(Vendor::Anthropic),
        Answer::error(401, "authentication_error", "no"),
    );
    let conclave = Conclave::with_all_keys(&server);
    let panel = "security=anthropic:claude-sonnet-5-5,architect=anthropic:claude-sonnet-5-5,pragmatic=anthropic:claude-sonnet-5-5";
    let judges = "anthropic:claude-opus-5-5,mistral:mistral-large-4";
    conclave
        .run(&arguments(&[&["--panel", panel, "--judge", judges]]))
        .ends_with(0);
    assert_eq!(server.requests_to(Vendor::Anthropic).len(), 3);
}
