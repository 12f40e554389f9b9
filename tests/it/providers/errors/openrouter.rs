//! Errors of `OpenRouter`, and those of the hosts behind it.

use conclave::consultation::protocol::call::FailureClass;
use serde_json::{Value, json};

use super::check;
use FailureClass::{Auth, BadRequest, Billing, Context, ModelMissing, Overload, Policy, RateLimit};

#[test]
fn openrouter_errors_are_classified() {
    let error = |code: Value, message: &str, metadata: Value| {
        json!({
            "error": {"code": code, "message": message, "metadata": metadata},
            "user_id": "u",
        })
    };
    let upstream = |raw: Value| {
        error(
            json!(400),
            "Provider returned error",
            json!({"provider_name": "Azure", "raw": raw}),
        )
    };
    let raw = json!({
        "error": {"message": "too long", "code": "context_length_exceeded", "param": "messages"},
    });
    check(&[
        (
            400,
            upstream(json!("plain words")),
            BadRequest,
            "Provider returned error (Azure: plain words) (HTTP 400)",
        ),
        (
            400,
            upstream(json!(raw.to_string())),
            Context,
            "Provider returned error (Azure: too long) (HTTP 400)",
        ),
        (
            400,
            upstream(raw),
            Context,
            "Provider returned error (Azure: too long) (HTTP 400)",
        ),
        (
            400,
            error(json!(400), "x/y is not a valid model ID", Value::Null),
            ModelMissing,
            "x/y is not a valid model ID (HTTP 400)",
        ),
        (
            401,
            error(json!(401), "No auth credentials found", json!({})),
            Auth,
            "No auth credentials found (HTTP 401); check `SOME_API_KEY`",
        ),
        (
            402,
            error(json!("402"), "Insufficient credits", json!({})),
            Billing,
            "Insufficient credits (HTTP 402)",
        ),
        (
            403,
            error(
                json!(403),
                "no",
                json!({"reasons": ["violence"], "flagged_input": "x", "provider_name": "OpenAI"}),
            ),
            Policy,
            "no (OpenAI) (HTTP 403)",
        ),
        (
            403,
            error(json!(403), "Blocked by a guardrail", json!({})),
            Policy,
            "Blocked by a guardrail (HTTP 403)",
        ),
        (
            404,
            error(json!(404), "No endpoints found for x/y.", json!({})),
            ModelMissing,
            "No endpoints found for x/y. (HTTP 404)",
        ),
        (
            408,
            error(json!(408), "slow", json!({})),
            Overload,
            "slow (HTTP 408)",
        ),
        (
            429,
            error(json!(429), "slow down", json!({"limit_source": "upstream"})),
            RateLimit,
            "slow down (HTTP 429)",
        ),
        (
            502,
            error(
                json!(502),
                "bad",
                json!({"raw": "oh", "provider_name": null}),
            ),
            Overload,
            "bad (oh) (HTTP 502)",
        ),
        (
            503,
            error(json!(503), "no provider meets your routing", json!({})),
            Overload,
            "no provider meets your routing (HTTP 503)",
        ),
        (
            524,
            json!("<html><TITLE>A timeout occurred</TITLE></html>"),
            Overload,
            "A timeout occurred (HTTP 524)",
        ),
        (
            529,
            error(
                json!(529),
                "overloaded",
                json!({"error_type": "provider_overloaded"}),
            ),
            Overload,
            "overloaded (HTTP 529)",
        ),
    ]);
}
