//! Degraded results: one vendor misbehaves, its message is shown and recorded, and the other
//! experts answer.

use std::time::Duration;

use crate::support::binary::{Conclave, RunOutput};
use crate::support::provider_server::{Answer, Damage, On, ProviderServer, Vendor};

const ARGUMENTS: [&str; 7] = [
    "consult",
    "--yes",
    "--on-failure",
    "skip",
    "--events",
    "events.jsonl",
    "Shall we?",
];

/// The message for a silent vendor.
const SILENT: &str = "sent nothing for 2 s";

/// Runs the default panel with this answer from the Security Expert's vendor.
fn consult(answer: Answer) -> (ProviderServer, Conclave, RunOutput) {
    consult_with(On::vendor(Vendor::Anthropic), answer)
}

fn consult_with(on: On, answer: Answer) -> (ProviderServer, Conclave, RunOutput) {
    let server = ProviderServer::start();
    server.on(on, answer);
    let conclave = Conclave::at(&server);
    let output = conclave.run(&ARGUMENTS);
    (server, conclave, output)
}

/// The same with timeouts of two seconds, for silent answers only: a busy machine may be silent,
/// too.
fn consult_with_short_timeouts(on: On, answer: Answer) -> (ProviderServer, Conclave, RunOutput) {
    let server = ProviderServer::start();
    server.on(on, answer);
    let conclave = Conclave::at(&server)
        .config(r#"{"first_byte_timeout_seconds": 2, "idle_timeout_seconds": 2}"#);
    let output = conclave.run(&ARGUMENTS);
    (server, conclave, output)
}

/// Runs all cases concurrently. Each has a name, the vendor's answer, the expected failure class,
/// part of the message, and the number of requests.
fn assert_degraded(cases: Vec<(&str, Answer, &str, &str, usize)>) {
    std::thread::scope(|scope| {
        for (what, answer, class, message, requests) in cases {
            scope.spawn(move || {
                let always = On::vendor(Vendor::Anthropic);
                let (server, conclave, output) = if message == SILENT {
                    consult_with_short_timeouts(always, answer)
                } else {
                    consult_with(always, answer)
                };
                let output = output.ends_with(0);
                let line = output
                    .stderr
                    .lines()
                    .find(|line| line.contains("Agent Security Expert failed: "));
                assert!(
                    line.is_some_and(|line| line.contains(message)),
                    "{what}: {}",
                    output.stderr
                );
                assert!(
                    output.stdout.starts_with("> ⚠️ **Degraded result:**"),
                    "{what}: {}",
                    output.stdout
                );
                assert!(
                    output.stdout.contains("Start small"),
                    "{what}: {}",
                    output.stdout
                );
                let record = conclave.record();
                assert_eq!(record["status"], "degraded", "{what}");
                assert_eq!(record["state"], "Complete", "{what}");
                let agents = record["responses"]["round_1"]["agents"].as_array().unwrap();
                let error = &agents
                    .iter()
                    .find(|agent| agent["agent_id"] == "security")
                    .unwrap()["attempts"];
                let error = &error.as_array().unwrap().last().unwrap()["error"];
                assert_eq!(error["class"], class, "{what}: {error}");
                assert!(
                    error["message"].as_str().unwrap().contains(message),
                    "{what}: {error}"
                );
                let count = server
                    .requests()
                    .iter()
                    .filter(|request| request.vendor == Some(Vendor::Anthropic))
                    .count();
                assert_eq!(
                    count, requests,
                    "{what}: only transient, unpaid failures are retried"
                );
            });
        }
    });
}

#[test]
fn other_experts_answer_when_one_vendor_rejects_requests() {
    let error = |status, code| {
        Answer::error(status, code, "such are our words").header("retry-after-ms", "1")
    };
    let message = "such are our words";
    assert_degraded(vec![
        (
            "a key",
            error(401, "authentication_error"),
            "auth",
            message,
            1,
        ),
        (
            "a bill",
            Answer::error(402, "billing_error", message),
            "billing",
            message,
            1,
        ),
        (
            "a permission",
            error(403, "permission_error"),
            "auth",
            message,
            1,
        ),
        (
            "a model",
            error(404, "not_found_error"),
            "model_missing",
            message,
            1,
        ),
        (
            "a size",
            error(413, "request_too_large"),
            "context",
            message,
            1,
        ),
        (
            "a request",
            error(400, "invalid_request_error"),
            "bad_request",
            message,
            1,
        ),
        (
            "a redirect",
            Answer::http(302, "", "").header("location", "https://example.invalid/"),
            "bad_request",
            "redirects elsewhere",
            1,
        ),
        (
            "too much to do",
            error(529, "overloaded_error"),
            "overload",
            message,
            3,
        ),
        (
            "a gateway's page",
            Answer::http(502, "text/html", "<title>such are our words</title>")
                .header("retry-after-ms", "1"),
            "overload",
            message,
            3,
        ),
    ]);
}

#[test]
fn other_experts_answer_when_one_connection_fails() {
    assert_degraded(vec![
        (
            "silence before the head",
            Answer::valid().delay(Duration::from_secs(3_600)),
            "timeout",
            SILENT,
            3,
        ),
        (
            "silence before the first byte",
            Answer::valid().silence(Duration::from_secs(3_600)),
            "timeout",
            SILENT,
            3,
        ),
        (
            "silence half way",
            Answer::valid().pieces(20).stall(),
            "interrupted",
            SILENT,
            1,
        ),
        (
            "a reset at once",
            Answer::valid().cut_after(0),
            "transport",
            "broke",
            3,
        ),
        (
            "a reset half way",
            Answer::valid().pieces(20).cut(),
            "interrupted",
            "broke",
            1,
        ),
        (
            "an end half way",
            Answer::valid().pieces(20).short(),
            "interrupted",
            "the stream ended before",
            1,
        ),
    ]);
}

#[test]
fn other_experts_answer_when_one_response_is_unusable() {
    let torn = Damage::Replaced(b"start small".to_vec(), b"\"".to_vec());
    let torn_late = Damage::Replaced(b"confid".to_vec(), b"\"".to_vec());
    assert_degraded(vec![
        ("no text", Answer::text(""), "empty", "without any text", 1),
        (
            "a page",
            Answer::http(200, "text/html", "<html>welcome</html>"),
            "malformed",
            "text/html instead of a stream of events",
            1,
        ),
        (
            "a torn event",
            Answer::valid().pieces(1).damaged(torn.clone()),
            "transport",
            "not JSON",
            3,
        ),
        (
            "an event torn half way",
            Answer::valid().pieces(20).damaged(torn_late),
            "interrupted",
            "not JSON",
            1,
        ),
        (
            "a line without an end",
            Answer::endless(200, "text/event-stream", "data: ", vec![b'x'; 65_536]),
            "malformed",
            "larger than",
            1,
        ),
    ]);
}

#[test]
fn unusual_but_valid_streams_change_nothing() {
    let always = || On::vendor(Vendor::Anthropic);
    let cases = [
        (
            "bytes one by one",
            always(),
            Answer::valid().damaged(Damage::InBytes),
        ),
        (
            "CR and closing",
            always(),
            Answer::valid()
                .damaged(Damage::LineEndings("\r"))
                .until_close(),
        ),
        (
            "retries and empty events",
            always(),
            Answer::valid().damaged(Damage::Between(b"retry: 1\n\nevent: x\n\n".to_vec())),
        ),
        (
            "another model",
            always(),
            Answer::valid().served("claude-of-another-day"),
        ),
    ];
    std::thread::scope(|scope| {
        for (what, on, answer) in cases {
            scope.spawn(move || {
                let (_, conclave, output) = consult_with(on, answer);
                assert!(!output.ends_with(0).stderr.contains("failed"), "{what}");
                assert_eq!(conclave.record()["status"], "complete", "{what}");
            });
        }
    });
}

#[test]
fn signs_of_life_for_longer_than_silence_is_borne_change_nothing() {
    let alive = Answer::valid()
        .silence(Duration::from_secs(3))
        .keep_alive(Duration::from_millis(200));
    // Only once, because it is slow.
    let once = On::vendor(Vendor::Anthropic).nth(1);
    let (_, conclave, output) = consult_with_short_timeouts(once, alive);
    assert!(!output.ends_with(0).stderr.contains("failed"));
    assert_eq!(conclave.record()["status"], "complete");
}

#[test]
fn huge_token_counts_do_not_crash() {
    let (_, conclave, output) = consult(Answer::valid().usage(u64::MAX / 2, u64::MAX / 2));
    assert!(output.code.is_some_and(|code| code <= 4), "{output:?}");
    assert!(!output.stderr.contains("panicked"), "{output:?}");
    assert!(conclave.record()["cost"].is_object());
}

#[test]
fn vendor_messages_cannot_control_the_terminal() {
    let message = "so \u{1b}[2J\u{1b}]0;gone\u{7} they\r are \u{202e}odd";
    let (_, conclave, output) = consult(Answer::error(400, "invalid_request_error", message));
    let output = output.ends_with(0);
    for text in [&output.stderr, &output.stdout] {
        assert!(
            !text.contains(['\u{1b}', '\u{7}', '\u{202e}', '\r']),
            "{text:?}"
        );
    }
    assert!(
        output.stderr.contains("odd (HTTP 400)"),
        "{}",
        output.stderr
    );
    let markdown = std::fs::read_to_string(conclave.log("md"));
    assert!(markdown.is_ok_and(|text| !text.contains(['\u{1b}', '\u{7}', '\u{202e}', '\r'])));
}

#[test]
fn an_overlong_answer_is_cut_and_named_in_the_report() {
    let rest = " and so on".repeat(200_000);
    let text = format!(
        r#"{{"position": "Start small", "key_points": ["a"], "rationale": "r", "confidence": 0.7}}{rest}"#
    );
    let (_server, conclave, output) = consult_with(
        On::vendor(Vendor::Anthropic).nth(1),
        Answer::text(&text).usage(321, 9_000),
    );
    let output = output.ends_with(0);
    let words = "Security Expert's answer in Round 1 was longer than 1 MB; the rest was left out";
    assert!(output.stdout.contains(words), "{}", output.stdout);
    let record = conclave.record();
    let agents = record["responses"]["round_1"]["agents"].as_array().unwrap();
    let expert = agents
        .iter()
        .find(|agent| agent["attempts"][0]["stop"] == "too_long")
        .unwrap();
    assert_eq!(expert["attempts"][0]["tokens"]["output"], 9_000);
    let problems = expert["problems"].to_string();
    assert!(
        problems.contains("longer than 1 MB: the rest was left out"),
        "{problems}"
    );
}
