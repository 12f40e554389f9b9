//! How often a vendor is asked that fails, and when again: every class of failure through the whole
//! binary, counted at the server.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::binary::Conclave;
use crate::support::provider_server::{
    Answer, On, ProviderServer, RecordedRequest, Vendor, listed_model,
};

/// What a vendor answers to every request, and what must come of it.
struct Row {
    vendor: Vendor,
    answer: Answer,
    /// The class in the record; `None` for a refusal, which is an abstention and no failure of the
    /// call.
    class: Option<&'static str>,
    /// What the user reads.
    words: &'static str,
    requests: usize,
}

/// Fails for good: one request.
fn fatal(vendor: Vendor, answer: Answer, class: &'static str, words: &'static str) -> Row {
    Row {
        vendor,
        answer: answer.header("retry-after-ms", "1"),
        class: Some(class),
        words,
        requests: 1,
    }
}

/// May pass, and does not: three requests.
fn passing(vendor: Vendor, answer: Answer, class: &'static str, words: &'static str) -> Row {
    Row {
        vendor,
        answer,
        class: Some(class),
        words,
        requests: 3,
    }
}

fn declined(vendor: Vendor) -> Row {
    Row {
        vendor,
        answer: Answer::refusal("I would rather not"),
        class: None,
        words: "declined to answer: I would rather not",
        requests: 1,
    }
}

fn body(status: u16, body: &Value) -> Answer {
    Answer::http(status, "application/json", body.to_string())
}

fn quota(id: &str) -> Answer {
    let details = json!([
        {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": id}]},
        {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.005s"}
    ]);
    body(
        429,
        &json!({"error": {"code": 429, "message": "such is the quota", "status": "RESOURCE_EXHAUSTED", "details": details}}),
    )
}

fn table() -> Vec<Row> {
    use Vendor::{Anthropic, Google, Mistral, OpenAi, OpenRouter, Xai};
    let soon = |answer: Answer| answer.header("retry-after-ms", "2");
    let error = Answer::error;
    let spend = json!({"type": "error", "error": {"type": "rate_limit_error", "message": "spent",
        "details": {"error_code": "enforced_spend_limit_reached"}}});
    let moderated = json!({"error": {"code": 403, "message": "flagged", "metadata": {"reasons": ["x"], "flagged_input": "y"}}});
    let unavailable = json!({"code": 503, "message": "in the stream", "status": "UNAVAILABLE",
        "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.003s"}]});
    vec![
        // Keys and permissions.
        fatal(
            Anthropic,
            error(401, "authentication_error", "invalid x-api-key"),
            "auth",
            "invalid x-api-key (HTTP 401); check `ANTHROPIC_API_KEY`",
        ),
        fatal(
            OpenAi,
            error(401, "invalid_api_key", "Incorrect API key provided"),
            "auth",
            "check `OPENAI_API_KEY`",
        ),
        fatal(
            Google,
            error(
                400,
                "INVALID_ARGUMENT",
                "API key not valid. Please pass a valid API key.",
            ),
            "auth",
            "check `GEMINI_API_KEY`",
        ),
        fatal(
            Xai,
            error(
                400,
                "Client specified an invalid argument",
                "Incorrect API key provided: x",
            ),
            "auth",
            "check `XAI_API_KEY`",
        ),
        fatal(
            Mistral,
            body(401, &json!({"message": "Unauthorized"})),
            "auth",
            "Unauthorized (HTTP 401); check `MISTRAL_API_KEY`",
        ),
        fatal(
            OpenRouter,
            error(401, "x", "No auth credentials found"),
            "auth",
            "check `OPENROUTER_API_KEY`",
        ),
        fatal(
            Google,
            error(403, "PERMISSION_DENIED", "not yours"),
            "auth",
            "not yours (HTTP 403)",
        ),
        fatal(
            Anthropic,
            error(403, "permission_error", "not yours"),
            "auth",
            "not yours (HTTP 403)",
        ),
        // Money.
        fatal(
            Anthropic,
            error(
                400,
                "invalid_request_error",
                "You have reached your specified API usage limits.",
            ),
            "billing",
            "usage limits",
        ),
        fatal(Anthropic, body(429, &spend), "billing", "spent (HTTP 429)"),
        fatal(
            OpenAi,
            error(429, "insufficient_quota", "You exceeded your current quota"),
            "billing",
            "your current quota (HTTP 429)",
        ),
        fatal(
            OpenAi,
            error(429, "credit_balance_exhausted", "no credit"),
            "billing",
            "no credit (HTTP 429)",
        ),
        fatal(
            Google,
            quota("GenerateRequestsPerDayPerProjectPerModel-FreeTier"),
            "billing",
            "such is the quota (HTTP 429)",
        ),
        fatal(
            Xai,
            error(403, "x", "Your team has no credits left."),
            "billing",
            "no credits left. (HTTP 403)",
        ),
        Row {
            answer: body(402, &json!({"detail": "Payment required"})),
            ..fatal(Mistral, error(402, "", ""), "billing", "Payment required")
        },
        Row {
            answer: error(402, "x", "Insufficient credits"),
            ..fatal(
                OpenRouter,
                error(402, "", ""),
                "billing",
                "Insufficient credits",
            )
        },
        // Models.
        fatal(
            Anthropic,
            error(404, "not_found_error", "model: gone"),
            "model_missing",
            "model: gone (HTTP 404)",
        ),
        fatal(
            OpenAi,
            error(400, "model_not_found", "no such model"),
            "model_missing",
            "no such model (HTTP 400)",
        ),
        fatal(
            Google,
            error(404, "NOT_FOUND", "models/gone is not found"),
            "model_missing",
            "models/gone is not found (HTTP 404)",
        ),
        fatal(
            Mistral,
            error(400, "unknown_model", "Invalid model: gone"),
            "model_missing",
            "Invalid model: gone (HTTP 400)",
        ),
        fatal(
            OpenRouter,
            error(400, "x", "x/y is not a valid model ID"),
            "model_missing",
            "not a valid model ID",
        ),
        // The request itself.
        fatal(
            Xai,
            Answer::http(422, "text/plain", "Failed to deserialize"),
            "bad_request",
            "Failed to deserialize (HTTP 422)",
        ),
        // Length.
        fatal(
            OpenAi,
            error(400, "context_length_exceeded", "too long"),
            "context",
            "too long (HTTP 400)",
        ),
        fatal(
            Google,
            error(
                400,
                "INVALID_ARGUMENT",
                "The input token count (9) exceeds the maximum (8).",
            ),
            "context",
            "input token count",
        ),
        fatal(
            Anthropic,
            error(413, "request_too_large", "too large"),
            "context",
            "too large (HTTP 413)",
        ),
        // Policy.
        fatal(
            OpenAi,
            error(400, "content_policy_violation", "not that"),
            "policy",
            "not that (HTTP 400)",
        ),
        fatal(
            OpenAi,
            error(400, "invalid_prompt", "nor that"),
            "policy",
            "nor that (HTTP 400)",
        ),
        fatal(
            Xai,
            error(403, "x", "Content violates usage guidelines."),
            "policy",
            "usage guidelines. (HTTP 403)",
        ),
        fatal(OpenRouter, body(403, &moderated), "policy", "flagged"),
        declined(OpenAi),
        declined(Google),
        declined(Anthropic),
        // What may pass.
        passing(
            Anthropic,
            soon(error(529, "overloaded_error", "Overloaded")),
            "overload",
            "Overloaded (HTTP 529)",
        ),
        passing(
            Anthropic,
            soon(error(409, "conflict_error", "conflict")),
            "overload",
            "conflict (HTTP 409)",
        ),
        passing(
            OpenAi,
            soon(error(429, "rate_limit_exceeded", "too fast")),
            "rate_limit",
            "too fast (HTTP 429)",
        ),
        passing(
            OpenAi,
            soon(error(503, "server_is_overloaded", "busy")),
            "overload",
            "busy (HTTP 503)",
        ),
        passing(
            Google,
            quota("GenerateContentInputTokensPerModelPerMinute-FreeTier"),
            "rate_limit",
            "such is the quota (HTTP 429)",
        ),
        passing(
            Google,
            Answer::error_in_stream("", unavailable),
            "overload",
            "in the stream",
        ),
        passing(
            Google,
            soon(error(500, "INTERNAL", "inside")),
            "overload",
            "inside (HTTP 500)",
        ),
        passing(
            Xai,
            soon(error(504, "x", "slow")),
            "overload",
            "slow (HTTP 504)",
        ),
        passing(
            Xai,
            soon(error(408, "x", "slow")),
            "overload",
            "slow (HTTP 408)",
        ),
        passing(
            Mistral,
            error(429, "1300", "limit").header("retry-after", "0.002"),
            "rate_limit",
            "limit (HTTP 429)",
        ),
        passing(
            Mistral,
            soon(Answer::http(520, "text/html", "<title>odd</title>")),
            "overload",
            "odd (HTTP 520)",
        ),
        passing(Mistral, Answer::valid().cut_after(0), "transport", "broke"),
        passing(
            OpenRouter,
            soon(error(502, "x", "gateway")),
            "overload",
            "gateway",
        ),
        passing(
            OpenRouter,
            soon(error(524, "x", "slow")),
            "overload",
            "slow",
        ),
        // Content had arrived: the same would be paid for twice.
        fatal(
            OpenRouter,
            Answer::valid().pieces(20).cut(),
            "interrupted",
            "broke",
        ),
        fatal(
            Xai,
            Answer::valid().pieces(20).short(),
            "interrupted",
            "the stream ended before",
        ),
        fatal(
            Mistral,
            Answer::http(200, "text/html", "<html>"),
            "malformed",
            "text/html instead of",
        ),
        fatal(Anthropic, Answer::text(""), "empty", "without any text"),
    ]
}

fn model(vendor: Vendor) -> String {
    format!("{}:{}", vendor.id(), listed_model(vendor))
}

fn requests_to(server: &ProviderServer, vendor: Vendor) -> Vec<RecordedRequest> {
    server
        .requests()
        .into_iter()
        .filter(|request| request.vendor == Some(vendor))
        .collect()
}

/// A panel on which each of these vendors has one seat.
fn panel(vendors: &[Vendor]) -> String {
    vendors
        .iter()
        .map(|vendor| format!("security={}", model(*vendor)))
        .collect::<Vec<_>>()
        .join(",")
}

/// The attempts of Round 1 by vendor.
fn attempts(record: &Value) -> BTreeMap<String, Vec<Value>> {
    let agents = record["responses"]["round_1"]["agents"].as_array().unwrap();
    let attempts = agents
        .iter()
        .map(|agent| agent["attempts"].as_array().unwrap().clone());
    attempts
        .map(|all| {
            (
                all[0]["model"]
                    .as_str()
                    .unwrap()
                    .split(':')
                    .next()
                    .unwrap()
                    .to_owned(),
                all,
            )
        })
        .collect()
}

fn at_all(server: &ProviderServer) -> Conclave {
    server
        .all_variables()
        .into_iter()
        .fold(Conclave::new(), |conclave, (name, value)| {
            conclave.variable(name, value)
        })
}

/// One run in which every seat fails, each at another vendor and in another way.
fn all_fail(rows: &[Row]) {
    let server = ProviderServer::start();
    for row in rows {
        server.on(On::vendor(row.vendor), row.answer.clone());
    }
    let conclave = at_all(&server);
    let vendors: Vec<Vendor> = rows.iter().map(|row| row.vendor).collect();
    let arguments = [
        "consult",
        "--yes",
        "--on-failure",
        "skip",
        "--panel",
        &panel(&vendors),
        "Shall we?",
    ];
    let ran = conclave.run(&arguments).ends_with(1);
    let record = conclave.record();
    let attempts = attempts(&record);
    for (row, name) in rows.iter().zip(["", " 2", " 3", " 4", " 5", " 6"]) {
        let what = format!("{} {:?}: {}", row.vendor.id(), row.class, row.words);
        let failed = format!("⚠️ Agent Security Expert{name} failed: ");
        let line = ran.stderr.lines().find(|line| line.starts_with(&failed));
        assert!(
            line.is_some_and(|line| line.contains(row.words)),
            "{what}: {}",
            ran.stderr
        );
        assert_eq!(
            requests_to(&server, row.vendor).len(),
            row.requests,
            "{what}"
        );
        let attempts = &attempts[row.vendor.id()];
        assert_eq!(
            attempts.len(),
            row.requests,
            "{what}: every request is in the record"
        );
        for attempt in attempts {
            match row.class {
                Some(class) => assert_eq!(attempt["error"]["class"], class, "{what}: {attempt}"),
                None => {
                    assert_eq!(attempt["error"], Value::Null, "{what}: {attempt}");
                    assert_eq!(attempt["stop"].is_null(), false, "{what}: {attempt}");
                }
            }
        }
    }
}

#[test]
fn every_failure_class_is_reported_recorded_and_retried_correctly() {
    let mut runs: Vec<Vec<Row>> = Vec::new();
    for row in table() {
        match runs
            .iter_mut()
            .find(|run| run.iter().all(|other| other.vendor != row.vendor))
        {
            Some(run) => run.push(row),
            None => runs.push(vec![row]),
        }
    }
    std::thread::scope(|scope| {
        for rows in &runs {
            scope.spawn(|| all_fail(rows));
        }
    });
}

#[test]
fn repairable_failures_succeed_on_the_second_attempt() {
    let server = ProviderServer::start();
    let refused = json!({"error": {"message": "response_format is not supported by this model", "type": "invalid_request_error",
        "param": "response_format", "code": "unsupported_parameter"}});
    server.on(On::vendor(Vendor::Mistral).nth(1), body(400, &refused));
    server.on(
        On::vendor(Vendor::Xai).nth(1),
        Answer::length(r#"{"position": "Start sma"#),
    );
    server.on(
        On::vendor(Vendor::Google).nth(1),
        Answer::error(503, "UNAVAILABLE", "busy").header("retry-after-ms", "1"),
    );
    let conclave = at_all(&server);
    let vendors = [Vendor::Mistral, Vendor::Xai, Vendor::Google];
    let (panel, judge) = (panel(&vendors), model(Vendor::OpenAi));
    conclave
        .run(&[
            "consult",
            "--yes",
            "--panel",
            &panel,
            "--judge",
            &judge,
            "Shall we?",
        ])
        .ends_with(0);
    let record = conclave.record();
    assert_eq!(record["status"], "complete");
    let attempts = attempts(&record);
    for (vendor, purpose, class) in [
        (Vendor::Mistral, "reformed", json!("unsupported")),
        (Vendor::Xai, "more_room", Value::Null),
        (Vendor::Google, "retry", json!("overload")),
    ] {
        let attempts = &attempts[vendor.id()];
        let purposes: Vec<&Value> = attempts.iter().map(|attempt| &attempt["purpose"]).collect();
        assert_eq!(purposes, ["answer", purpose], "{vendor:?}");
        assert_eq!(attempts[0]["error"]["class"], class, "{vendor:?}");
        assert_eq!(attempts[1]["error"], Value::Null, "{vendor:?}");
        // Once in Round 3.
        assert_eq!(requests_to(&server, vendor).len(), 3, "{vendor:?}");
    }
    let bodies = |vendor| {
        requests_to(&server, vendor)
            .into_iter()
            .map(|request| request.body)
            .collect::<Vec<_>>()
    };
    let [mistral, xai, google] = vendors.map(bodies);
    assert_ne!(
        mistral[0]["response_format"], mistral[1]["response_format"],
        "what was refused is left out"
    );
    let room = |body: &Value| {
        ["max_completion_tokens", "max_tokens"]
            .iter()
            .find_map(|field| body[field].as_u64())
            .unwrap()
    };
    assert_eq!(room(&xai[1]), room(&xai[0]) * 2);
    assert_eq!(google[0], google[1], "the same again");
}

/// The moment of a request's end at the server and those of all arrivals, for a vendor that refuses
/// twice with this answer.
fn pauses(refusal: Answer) -> Vec<Duration> {
    let server = ProviderServer::start();
    let vendor = Vendor::Google;
    server.on(On::vendor(vendor).nth(1), refusal.clone());
    server.on(On::vendor(vendor).nth(2), refusal);
    let panel = panel(&[vendor]);
    at_all(&server)
        .run(&[
            "consult",
            "-n",
            "--yes",
            "--panel",
            &panel,
            "--judge",
            &model(Vendor::OpenAi),
            "Shall we?",
        ])
        .ends_with(0);
    let requests = requests_to(&server, vendor);
    requests[..3]
        .windows(2)
        .map(|pair| pair[1].arrived - pair[0].arrived)
        .collect()
}

#[test]
fn retries_never_arrive_before_the_vendors_hint() {
    let busy = || Answer::error(503, "UNAVAILABLE", "busy");
    let info = |delay: &str| {
        let details =
            json!([{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}]);
        body(
            429,
            &json!({"error": {"code": 429, "message": "slowly", "status": "RESOURCE_EXHAUSTED", "details": details}}),
        )
    };
    let dated = |date: &str, until: &str| busy().header("date", date).header("retry-after", until);
    let (now, next) = (
        "Sat, 21 Nov 2026 09:00:00 GMT",
        "Sat, 21 Nov 2026 09:00:01 GMT",
    );
    let cases = [
        ("milliseconds", busy().header("retry-after-ms", "120"), 120),
        (
            "milliseconds outweigh seconds",
            busy()
                .header("retry-after-ms", "150")
                .header("retry-after", "20"),
            150,
        ),
        (
            "seconds with a fraction",
            busy().header("retry-after", "0.2"),
            200,
        ),
        ("a date by the server's clock", dated(now, next), 1_000),
        ("a date that has passed", dated(next, now), 0),
        ("a detail of the body", info("0.123456789s"), 124),
        (
            "a header outweighs the body",
            info("20s").header("retry-after", "0.05"),
            50,
        ),
    ];
    std::thread::scope(|scope| {
        for (what, refusal, ms) in cases {
            scope.spawn(move || {
                let hint = Duration::from_millis(ms);
                for pause in pauses(refusal) {
                    assert!(pause >= hint, "{what}: {pause:?}");
                    assert!(
                        pause < hint + Duration::from_secs(5),
                        "{what}: {pause:?}, and it was not waited for anything else"
                    );
                }
            });
        }
    });
}
