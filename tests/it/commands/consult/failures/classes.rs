//! Failures of every class in the vendors' own shapes: message, record, requests and cost.

use serde_json::{Value, json};

use super::each;
use crate::commands::consult::cost::assert_costs_add_up;
use crate::support::binary::Conclave;
use crate::support::provider_server::Vendor::{Anthropic, Google, Mistral, OpenRouter, Xai};
use crate::support::provider_server::{Answer, On, ProviderServer, Vendor, listed_model};

/// A vendor's answer to every request, and the expected result.
struct Row {
    vendor: Vendor,
    answer: Answer,
    class: &'static str,
    /// Part of the message to the user.
    message: &'static str,
    requests: usize,
    is_cost_known: bool,
}

/// A failure that costs nothing and is not retried.
fn permanent(vendor: Vendor, answer: Answer, class: &'static str, message: &'static str) -> Row {
    Row {
        vendor,
        answer,
        class,
        message,
        requests: 1,
        is_cost_known: true,
    }
}

/// Five vendors fail, each in its way, and the sixth answers.
fn assert_reported(rows: &[Row; 5]) {
    let server = ProviderServer::start();
    let mut panel = Vec::new();
    for row in rows {
        server.on(On::vendor(row.vendor), row.answer.clone());
        let (vendor, model) = (row.vendor.id(), listed_model(row.vendor));
        panel.push(format!("security={vendor}:{model}"));
    }
    panel.push("security=openai:gpt-6.1-sol".to_owned());
    let conclave = Conclave::with_all_keys(&server);
    let panel = panel.join(",");
    let arguments = [
        "consult",
        "--yes",
        "--on-failure",
        "skip",
        "--panel",
        &panel,
    ];
    let judge = ["--judge", "openai:gpt-6.1-sol", "Shall we?"];
    let output = conclave.run(&[&arguments[..], &judge].concat());
    let output = output.ends_with(0);
    let record = conclave.record();
    assert_eq!(record["status"], "degraded");
    assert_costs_add_up(&record);
    let agents = record["responses"]["round_1"]["agents"].as_array().unwrap();
    for (row, number) in rows.iter().zip(["", " 2", " 3", " 4", " 5"]) {
        let what = format!("{:?} {}", row.vendor, row.class);
        let failed = format!("⚠️ Agent Security Expert{number} failed: ");
        let line = output.stderr.lines().find(|line| line.starts_with(&failed));
        assert!(
            line.is_some_and(|line| line.contains(row.message)),
            "{what}: {}",
            output.stderr
        );
        assert_eq!(server.requests_to(row.vendor).len(), row.requests, "{what}");
        let of_vendor = |agent: &&Value| {
            let model = agent["attempts"][0]["model"].as_str().unwrap();
            model.split(':').next() == Some(row.vendor.id())
        };
        let attempts = agents.iter().find(of_vendor).unwrap()["attempts"].as_array();
        let attempts = attempts.unwrap();
        let classes = vec![row.class; row.requests];
        assert_eq!(each(attempts, "/error/class"), classes, "{what}");
        let purposes = &["answer", "retry", "retry"][..row.requests];
        assert_eq!(each(attempts, "/purpose"), purposes, "{what}");
        assert_eq!(
            record["cost"]["by_provider"][row.vendor.id()]["lower_bound"],
            !row.is_cost_known,
            "{what}"
        );
    }
}

#[test]
fn refusals_of_each_vendor_name_its_key() {
    let error = Answer::error;
    assert_reported(&[
        permanent(
            Anthropic,
            error(401, "authentication_error", "invalid x-api-key"),
            "auth",
            "invalid x-api-key (HTTP 401); check `ANTHROPIC_API_KEY`",
        ),
        permanent(
            Google,
            error(400, "INVALID_ARGUMENT", "API key not valid."),
            "auth",
            "check `GEMINI_API_KEY`",
        ),
        permanent(
            Mistral,
            Answer::http(401, "application/json", r#"{"message": "Unauthorized"}"#),
            "auth",
            "Unauthorized (HTTP 401); check `MISTRAL_API_KEY`",
        ),
        permanent(
            Xai,
            error(403, "x", "Your team has no credits left."),
            "billing",
            "no credits left. (HTTP 403)",
        ),
        permanent(
            OpenRouter,
            error(401, "x", "No auth credentials found"),
            "auth",
            "check `OPENROUTER_API_KEY`",
        ),
    ]);
}

#[test]
fn refused_requests_are_repeated_only_after_a_short_hint() {
    let error = Answer::error;
    assert_reported(&[
        permanent(
            Anthropic,
            error(413, "request_too_large", "too large"),
            "context",
            "too large (HTTP 413)",
        ),
        permanent(
            Google,
            error(404, "NOT_FOUND", "models/gone is not found"),
            "model_missing",
            "models/gone is not found (HTTP 404)",
        ),
        Row {
            requests: 3,
            ..permanent(
                Mistral,
                error(429, "1300", "limit").header("retry-after", "0.002"),
                "rate_limit",
                "limit (HTTP 429)",
            )
        },
        permanent(
            Xai,
            error(403, "x", "Content violates usage guidelines."),
            "policy",
            "usage guidelines. (HTTP 403)",
        ),
        permanent(
            OpenRouter,
            error(429, "x", "far too fast").header("retry-after", "3600"),
            "rate_limit",
            "(HTTP 429); `openrouter` asks for a pause of 60 min",
        ),
    ]);
}

#[test]
fn failures_within_an_answer_are_not_repeated_if_text_was_paid() {
    let unavailable = json!({
        "code": 503,
        "message": "in the stream",
        "status": "UNAVAILABLE",
        "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.003s"}],
    });
    assert_reported(&[
        permanent(Anthropic, Answer::text(""), "empty", "without any text"),
        Row {
            requests: 3,
            is_cost_known: false,
            ..permanent(
                Google,
                Answer::error_in_stream("", unavailable),
                "overload",
                "in the stream",
            )
        },
        permanent(
            Mistral,
            Answer::error(400, "x", "not that"),
            "bad_request",
            "not that (HTTP 400)",
        ),
        Row {
            is_cost_known: false,
            ..permanent(
                Xai,
                Answer::valid().pieces(20).short(),
                "interrupted",
                "the stream ended before",
            )
        },
        Row {
            is_cost_known: false,
            ..permanent(
                OpenRouter,
                Answer::http(200, "text/html", "<html>"),
                "malformed",
                "text/html instead of",
            )
        },
    ]);
}
