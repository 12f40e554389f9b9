//! The failures of every class as each vendor reports them, and what must result.

use serde_json::{Value, json};

use crate::support::provider_server::{Answer, Vendor};

/// A vendor's answer to every request, and the expected result.
pub(super) struct Row {
    pub(super) vendor: Vendor,
    pub(super) answer: Answer,
    /// The class in the record; `None` for a refusal, which is an abstention and not a failed call.
    pub(super) class: Option<&'static str>,
    /// Part of the message to the user.
    pub(super) message: &'static str,
    pub(super) requests: usize,
}

/// A permanent failure: one request.
fn permanent(vendor: Vendor, answer: Answer, class: &'static str, message: &'static str) -> Row {
    Row {
        vendor,
        answer: answer.header("retry-after-ms", "1"),
        class: Some(class),
        message,
        requests: 1,
    }
}

/// A transient failure that persists: three requests.
fn transient(vendor: Vendor, answer: Answer, class: &'static str, message: &'static str) -> Row {
    Row {
        vendor,
        answer,
        class: Some(class),
        message,
        requests: 3,
    }
}

fn refusal(vendor: Vendor) -> Row {
    Row {
        vendor,
        answer: Answer::refusal("I would rather not"),
        class: None,
        message: "declined to answer: I would rather not",
        requests: 1,
    }
}

pub(super) fn body(status: u16, body: &Value) -> Answer {
    Answer::http(status, "application/json", body.to_string())
}

fn quota(id: &str) -> Answer {
    let details = json!([
        {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": id}]},
        {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.005s"}
    ]);
    body(
        429,
        &json!({
            "error": {
                "code": 429,
                "message": "such is the quota",
                "status": "RESOURCE_EXHAUSTED",
                "details": details,
            },
        }),
    )
}

pub(super) fn table() -> Vec<Row> {
    use Vendor::{Anthropic, Google, Mistral, OpenAi, OpenRouter, Xai};
    let soon = |answer: Answer| answer.header("retry-after-ms", "2");
    let error = Answer::error;
    let spend = json!({"type": "error", "error": {"type": "rate_limit_error", "message": "spent",
        "details": {"error_code": "enforced_spend_limit_reached"}}});
    let moderated = json!({
        "error": {
            "code": 403,
            "message": "flagged",
            "metadata": {"reasons": ["x"], "flagged_input": "y"},
        },
    });
    let unavailable = json!({
        "code": 503,
        "message": "in the stream",
        "status": "UNAVAILABLE",
        "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.003s"}],
    });
    vec![
        // Keys and permissions.
        permanent(
            Anthropic,
            error(401, "authentication_error", "invalid x-api-key"),
            "auth",
            "invalid x-api-key (HTTP 401); check `ANTHROPIC_API_KEY`",
        ),
        permanent(
            OpenAi,
            error(401, "invalid_api_key", "Incorrect API key provided"),
            "auth",
            "check `OPENAI_API_KEY`",
        ),
        permanent(
            Google,
            error(
                400,
                "INVALID_ARGUMENT",
                "API key not valid. Please pass a valid API key.",
            ),
            "auth",
            "check `GEMINI_API_KEY`",
        ),
        permanent(
            Xai,
            error(
                400,
                "Client specified an invalid argument",
                "Incorrect API key provided: x",
            ),
            "auth",
            "check `XAI_API_KEY`",
        ),
        permanent(
            Mistral,
            body(401, &json!({"message": "Unauthorized"})),
            "auth",
            "Unauthorized (HTTP 401); check `MISTRAL_API_KEY`",
        ),
        permanent(
            OpenRouter,
            error(401, "x", "No auth credentials found"),
            "auth",
            "check `OPENROUTER_API_KEY`",
        ),
        permanent(
            Google,
            error(403, "PERMISSION_DENIED", "not yours"),
            "auth",
            "not yours (HTTP 403)",
        ),
        permanent(
            Anthropic,
            error(403, "permission_error", "not yours"),
            "auth",
            "not yours (HTTP 403)",
        ),
        // Billing.
        permanent(
            Anthropic,
            error(
                400,
                "invalid_request_error",
                "You have reached your specified API usage limits.",
            ),
            "billing",
            "usage limits",
        ),
        permanent(Anthropic, body(429, &spend), "billing", "spent (HTTP 429)"),
        permanent(
            OpenAi,
            error(429, "insufficient_quota", "You exceeded your current quota"),
            "billing",
            "your current quota (HTTP 429)",
        ),
        permanent(
            OpenAi,
            error(429, "credit_balance_exhausted", "no credit"),
            "billing",
            "no credit (HTTP 429)",
        ),
        permanent(
            Google,
            quota("GenerateRequestsPerDayPerProjectPerModel-FreeTier"),
            "billing",
            "such is the quota (HTTP 429)",
        ),
        permanent(
            Xai,
            error(403, "x", "Your team has no credits left."),
            "billing",
            "no credits left. (HTTP 403)",
        ),
        Row {
            answer: body(402, &json!({"detail": "Payment required"})),
            ..permanent(Mistral, error(402, "", ""), "billing", "Payment required")
        },
        Row {
            answer: error(402, "x", "Insufficient credits"),
            ..permanent(
                OpenRouter,
                error(402, "", ""),
                "billing",
                "Insufficient credits",
            )
        },
        // Models.
        permanent(
            Anthropic,
            error(404, "not_found_error", "model: gone"),
            "model_missing",
            "model: gone (HTTP 404)",
        ),
        permanent(
            OpenAi,
            error(400, "model_not_found", "no such model"),
            "model_missing",
            "no such model (HTTP 400)",
        ),
        permanent(
            Google,
            error(404, "NOT_FOUND", "models/gone is not found"),
            "model_missing",
            "models/gone is not found (HTTP 404)",
        ),
        permanent(
            Mistral,
            error(400, "unknown_model", "Invalid model: gone"),
            "model_missing",
            "Invalid model: gone (HTTP 400)",
        ),
        permanent(
            OpenRouter,
            error(400, "x", "x/y is not a valid model ID"),
            "model_missing",
            "not a valid model ID",
        ),
        // The request itself.
        permanent(
            Xai,
            Answer::http(422, "text/plain", "Failed to deserialize"),
            "bad_request",
            "Failed to deserialize (HTTP 422)",
        ),
        // Length.
        permanent(
            OpenAi,
            error(400, "context_length_exceeded", "too long"),
            "context",
            "too long (HTTP 400)",
        ),
        permanent(
            Google,
            error(
                400,
                "INVALID_ARGUMENT",
                "The input token count (9) exceeds the maximum (8).",
            ),
            "context",
            "input token count",
        ),
        permanent(
            Anthropic,
            error(413, "request_too_large", "too large"),
            "context",
            "too large (HTTP 413)",
        ),
        // Policy.
        permanent(
            OpenAi,
            error(400, "content_policy_violation", "not that"),
            "policy",
            "not that (HTTP 400)",
        ),
        permanent(
            OpenAi,
            error(400, "invalid_prompt", "nor that"),
            "policy",
            "nor that (HTTP 400)",
        ),
        permanent(
            Xai,
            error(403, "x", "Content violates usage guidelines."),
            "policy",
            "usage guidelines. (HTTP 403)",
        ),
        permanent(OpenRouter, body(403, &moderated), "policy", "flagged"),
        refusal(OpenAi),
        refusal(Google),
        refusal(Anthropic),
        // Transient failures.
        transient(
            Anthropic,
            soon(error(529, "overloaded_error", "Overloaded")),
            "overload",
            "Overloaded (HTTP 529)",
        ),
        transient(
            Anthropic,
            soon(error(409, "conflict_error", "conflict")),
            "overload",
            "conflict (HTTP 409)",
        ),
        transient(
            OpenAi,
            soon(error(429, "rate_limit_exceeded", "too fast")),
            "rate_limit",
            "too fast (HTTP 429)",
        ),
        transient(
            OpenAi,
            soon(error(503, "server_is_overloaded", "busy")),
            "overload",
            "busy (HTTP 503)",
        ),
        transient(
            Google,
            quota("GenerateContentInputTokensPerModelPerMinute-FreeTier"),
            "rate_limit",
            "such is the quota (HTTP 429)",
        ),
        transient(
            Google,
            Answer::error_in_stream("", unavailable),
            "overload",
            "in the stream",
        ),
        transient(
            Google,
            soon(error(500, "INTERNAL", "inside")),
            "overload",
            "inside (HTTP 500)",
        ),
        transient(
            Xai,
            soon(error(504, "x", "slow")),
            "overload",
            "slow (HTTP 504)",
        ),
        transient(
            Xai,
            soon(error(408, "x", "slow")),
            "overload",
            "slow (HTTP 408)",
        ),
        transient(
            Mistral,
            error(429, "1300", "limit").header("retry-after", "0.002"),
            "rate_limit",
            "limit (HTTP 429)",
        ),
        transient(
            Mistral,
            soon(Answer::http(520, "text/html", "<title>odd</title>")),
            "overload",
            "odd (HTTP 520)",
        ),
        transient(Mistral, Answer::valid().cut_after(0), "transport", "broke"),
        transient(
            OpenRouter,
            soon(error(502, "x", "gateway")),
            "overload",
            "gateway",
        ),
        transient(
            OpenRouter,
            soon(error(524, "x", "slow")),
            "overload",
            "slow",
        ),
        // Content had arrived, so a retry would be paid twice.
        permanent(
            OpenRouter,
            Answer::valid().pieces(20).cut(),
            "interrupted",
            "broke",
        ),
        permanent(
            Xai,
            Answer::valid().pieces(20).short(),
            "interrupted",
            "the stream ended before",
        ),
        permanent(
            Mistral,
            Answer::http(200, "text/html", "<html>"),
            "malformed",
            "text/html instead of",
        ),
        permanent(Anthropic, Answer::text(""), "empty", "without any text"),
    ]
}
