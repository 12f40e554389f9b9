//! Errors of the hosted providers.

use conclave::consultation::protocol::call::FailureClass;
use serde_json::{Value, json};

use super::check;
use FailureClass::{Auth, BadRequest, Billing, Context, ModelMissing, Overload, Policy, RateLimit};

#[test]
fn anthropic_errors_are_classified() {
    let error = |kind: &str, message: &str| {
        json!({
            "type": "error",
            "error": {"type": kind, "message": message},
            "request_id": "req_1",
        })
    };
    let spend = |code: &str| {
        json!({
            "type": "error",
            "error": {"type": "rate_limit_error", "message": "no", "details": {"error_code": code}},
        })
    };
    check(&[
        (
            400,
            error("invalid_request_error", "max_tokens: Field required"),
            BadRequest,
            "max_tokens: Field required (HTTP 400)",
        ),
        (
            400,
            error(
                "invalid_request_error",
                "prompt is too long: 210000 tokens > 200000 maximum",
            ),
            Context,
            "prompt is too long: 210000 tokens > 200000 maximum (HTTP 400)",
        ),
        (
            400,
            error(
                "invalid_request_error",
                "You have reached your specified API usage limits.",
            ),
            Billing,
            "You have reached your specified API usage limits. (HTTP 400)",
        ),
        (
            400,
            error("invalid_request_error", "Your credit balance is too low"),
            Billing,
            "Your credit balance is too low (HTTP 400)",
        ),
        (
            401,
            error("authentication_error", "invalid x-api-key"),
            Auth,
            "invalid x-api-key (HTTP 401); check `SOME_API_KEY`",
        ),
        (
            402,
            error("billing_error", "pay"),
            Billing,
            "pay (HTTP 402)",
        ),
        (
            403,
            error("permission_error", "not yours"),
            Auth,
            "not yours (HTTP 403); check `SOME_API_KEY`",
        ),
        (
            404,
            error("not_found_error", "model: claude-x"),
            ModelMissing,
            "model: claude-x (HTTP 404)",
        ),
        (
            408,
            error("timeout_error", "slow"),
            Overload,
            "slow (HTTP 408)",
        ),
        (
            409,
            error("conflict_error", "again"),
            Overload,
            "again (HTTP 409)",
        ),
        (
            413,
            json!("<html><head><title>413 Request Entity Too Large</title></head></html>"),
            Context,
            "413 Request Entity Too Large (HTTP 413)",
        ),
        (
            429,
            error("rate_limit_error", "too fast"),
            RateLimit,
            "too fast (HTTP 429)",
        ),
        (
            429,
            spend("enforced_spend_limit_reached"),
            Billing,
            "no (HTTP 429)",
        ),
        (
            429,
            spend("contract_spend_limit_reached"),
            Billing,
            "no (HTTP 429)",
        ),
        (
            429,
            spend("ramp_limit_exceeded"),
            RateLimit,
            "no (HTTP 429)",
        ),
        (500, error("api_error", "oh"), Overload, "oh (HTTP 500)"),
        (503, json!(""), Overload, "HTTP 503 without an explanation"),
        (
            504,
            error("timeout_error", "slow"),
            Overload,
            "slow (HTTP 504)",
        ),
        (
            529,
            error("overloaded_error", "Overloaded"),
            Overload,
            "Overloaded (HTTP 529)",
        ),
    ]);
}

#[test]
fn openai_errors_are_classified() {
    let error = |message: &str, code: Value| {
        json!({
            "error": {"message": message, "type": "invalid_request_error", "param": null, "code": code},
        })
    };
    let temperature = "Unsupported value: 'temperature' does not support 0.8 with this model.";
    check(&[
        (
            400,
            error(temperature, json!("unsupported_value")),
            BadRequest,
            &format!("{temperature} (HTTP 400)"),
        ),
        (
            400,
            error("long", json!("context_length_exceeded")),
            Context,
            "long (HTTP 400)",
        ),
        (
            400,
            error("no", json!("content_policy_violation")),
            Policy,
            "no (HTTP 400)",
        ),
        (
            400,
            error("no", json!("invalid_prompt")),
            Policy,
            "no (HTTP 400)",
        ),
        (
            400,
            error("Invalid prompt: violating our usage policy", Value::Null),
            Policy,
            "Invalid prompt: violating our usage policy (HTTP 400)",
        ),
        (
            401,
            error("Incorrect API key provided", json!("invalid_api_key")),
            Auth,
            "Incorrect API key provided (HTTP 401); check `SOME_API_KEY`",
        ),
        (
            403,
            error(
                "Country not supported",
                json!("unsupported_country_region_territory"),
            ),
            Auth,
            "Country not supported (HTTP 403); check `SOME_API_KEY`",
        ),
        (
            404,
            error("The model `x` does not exist", json!("model_not_found")),
            ModelMissing,
            "The model `x` does not exist (HTTP 404)",
        ),
        (
            400,
            error("no such", json!("model_not_found")),
            ModelMissing,
            "no such (HTTP 400)",
        ),
        (
            429,
            error("too fast", json!("rate_limit_exceeded")),
            RateLimit,
            "too fast (HTTP 429)",
        ),
        (
            429,
            error(
                "You exceeded your current quota",
                json!("insufficient_quota"),
            ),
            Billing,
            "You exceeded your current quota (HTTP 429)",
        ),
        (
            429,
            error("empty", json!("credit_balance_exhausted")),
            Billing,
            "empty (HTTP 429)",
        ),
        (
            429,
            error("limit", json!("billing_hard_limit_reached")),
            Billing,
            "limit (HTTP 429)",
        ),
        (
            429,
            error("slowly", json!("slow_down")),
            RateLimit,
            "slowly (HTTP 429)",
        ),
        (
            503,
            error("slowly", json!("slow_down")),
            RateLimit,
            "slowly (HTTP 503)",
        ),
        (
            503,
            error("busy", json!("server_is_overloaded")),
            Overload,
            "busy (HTTP 503)",
        ),
        (500, error("oh", Value::Null), Overload, "oh (HTTP 500)"),
    ]);
}

#[test]
fn google_errors_are_classified() {
    let error = |code: u16, status: &str, message: &str| {
        json!({
            "error": {"code": code, "message": message, "status": status},
        })
    };
    let invalid_key = "API key not valid. Please pass a valid API key.";
    let quota = |id: &str| {
        json!([
            {
                "error": {
                    "code": 429,
                    "message": "You exceeded your current quota, please check your plan and billing details.",
                    "status": "RESOURCE_EXHAUSTED",
                    "details": [
                        {
                            "@type": "type.googleapis.com/google.rpc.QuotaFailure",
                            "violations": [{"quotaId": id}],
                        },
                    ],
                },
            },
        ])
    };
    let quota_words =
        "You exceeded your current quota, please check your plan and billing details. (HTTP 429)";
    check(&[
        (
            400,
            error(400, "INVALID_ARGUMENT", invalid_key),
            Auth,
            &format!("{invalid_key} (HTTP 400); check `SOME_API_KEY`"),
        ),
        (
            400,
            json!({
                "error": {
                    "code": 400,
                    "message": "bad",
                    "status": "INVALID_ARGUMENT",
                    "details": [{"reason": "API_KEY_INVALID"}],
                },
            }),
            Auth,
            "bad (HTTP 400); check `SOME_API_KEY`",
        ),
        (
            400,
            error(
                400,
                "FAILED_PRECONDITION",
                "Gemini API free tier is not available in your country.",
            ),
            Billing,
            "Gemini API free tier is not available in your country. (HTTP 400)",
        ),
        (
            400,
            error(
                400,
                "INVALID_ARGUMENT",
                "The input token count (9) exceeds the maximum number of tokens allowed (8).",
            ),
            Context,
            "The input token count (9) exceeds the maximum number of tokens allowed (8). (HTTP 400)",
        ),
        (
            403,
            error(403, "PERMISSION_DENIED", "no"),
            Auth,
            "no (HTTP 403); check `SOME_API_KEY`",
        ),
        (
            404,
            error(404, "NOT_FOUND", "models/x is not found"),
            ModelMissing,
            "models/x is not found (HTTP 404)",
        ),
        (
            429,
            quota("GenerateRequestsPerDayPerProjectPerModel-FreeTier"),
            Billing,
            quota_words,
        ),
        (
            429,
            quota("GenerateContentInputTokensPerModelPerMinute-FreeTier"),
            RateLimit,
            quota_words,
        ),
        (500, error(500, "INTERNAL", "oh"), Overload, "oh (HTTP 500)"),
        (
            503,
            error(503, "UNAVAILABLE", "The model is overloaded."),
            Overload,
            "The model is overloaded. (HTTP 503)",
        ),
        (
            504,
            error(504, "DEADLINE_EXCEEDED", "slow"),
            Overload,
            "slow (HTTP 504)",
        ),
    ]);
}

#[test]
fn xai_and_mistral_errors_are_classified() {
    let flat = |message: Value, code: Value| {
        json!({
            "object": "error",
            "message": message,
            "type": "invalid_request_error",
            "param": null,
            "code": code,
        })
    };
    check(&[
        (
            400,
            json!({
                "code": "invalid-argument",
                "error": "Model grok-build-0.1 does not support parameter reasoningEffort.",
            }),
            BadRequest,
            "Model grok-build-0.1 does not support parameter reasoningEffort. (HTTP 400)",
        ),
        (
            400,
            json!({
                "code": "Client specified an invalid argument",
                "error": "Incorrect API key provided: xa***ab.",
            }),
            Auth,
            "Incorrect API key provided: xa***ab. (HTTP 400); check `SOME_API_KEY`",
        ),
        (
            403,
            json!({"code": "x", "error": "Your team has no credits left."}),
            Billing,
            "Your team has no credits left. (HTTP 403)",
        ),
        (
            403,
            json!({"code": "x", "error": "Content violates usage guidelines."}),
            Policy,
            "Content violates usage guidelines. (HTTP 403)",
        ),
        (
            404,
            json!({"code": "x", "error": "The model grok-x does not exist"}),
            ModelMissing,
            "The model grok-x does not exist (HTTP 404)",
        ),
        (
            422,
            json!("Failed to deserialize the JSON body"),
            BadRequest,
            "Failed to deserialize the JSON body (HTTP 422)",
        ),
        (
            400,
            flat(json!("Invalid model: x"), json!("unknown_model")),
            ModelMissing,
            "Invalid model: x (HTTP 400)",
        ),
        (
            429,
            flat(json!("Requests rate limit exceeded"), json!(1300)),
            RateLimit,
            "Requests rate limit exceeded (HTTP 429)",
        ),
        (
            400,
            flat(json!({"detail": "nested words"}), Value::Null),
            BadRequest,
            "nested words (HTTP 400)",
        ),
        (
            401,
            json!({"message": "Unauthorized", "request_id": "1"}),
            Auth,
            "Unauthorized (HTTP 401); check `SOME_API_KEY`",
        ),
        (
            402,
            json!({"detail": "Payment required"}),
            Billing,
            "Payment required (HTTP 402)",
        ),
        (
            422,
            json!({
                "detail": [
                    {
                        "loc": ["body", "temperature"],
                        "msg": "Input should be less than 1",
                        "type": "less_than",
                    },
                ],
            }),
            BadRequest,
            "body.temperature: Input should be less than 1 (HTTP 422)",
        ),
    ]);
}
