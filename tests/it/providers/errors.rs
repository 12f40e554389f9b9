//! What every vendor's errors mean, and what the user is told: each with the body that the vendor
//! documents or users report.

use std::time::Duration;

use conclave::consultation::protocol::call::{Failure, FailureClass};
use conclave::domain::time::Timestamp;
use conclave::providers::errors::{self, ErrorResponse, classify, in_stream, named_fields};
use conclave::providers::wire::{Account, Scheme};
use serde_json::{Value, json};

use super::KEY;
use FailureClass::{Auth, BadRequest, Billing, Context, ModelMissing, Overload, Policy, RateLimit};

fn account() -> Account {
    Account {
        key: Some(KEY.into()),
        origin: "`SOME_API_KEY`".into(),
        scheme: Scheme::Usual,
    }
}

fn told(status: u16, body: &str) -> Failure {
    classify(
        &ErrorResponse {
            status,
            body: body.to_owned(),
            ..ErrorResponse::default()
        },
        &account(),
        None,
    )
}

/// Checks a class and the exact words.
fn check(cases: &[(u16, Value, FailureClass, &str)]) {
    for (status, body, class, message) in cases {
        let body = match body {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let failure = told(*status, &body);
        assert_eq!(
            (failure.class, failure.message.as_str()),
            (*class, *message),
            "{status} {body}"
        );
    }
}

#[test]
fn anthropic_errors_are_classified() {
    let error = |kind: &str, message: &str| json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"});
    let spend = |code: &str| json!({"type": "error", "error": {"type": "rate_limit_error", "message": "no", "details": {"error_code": code}}});
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
    let error = |message: &str, code: Value| json!({"error": {"message": message, "type": "invalid_request_error", "param": null, "code": code}});
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
    let error = |code: u16, status: &str, message: &str| json!({"error": {"code": code, "message": message, "status": status}});
    let invalid_key = "API key not valid. Please pass a valid API key.";
    let quota = |id: &str| {
        json!([{"error": {"code": 429, "message": "You exceeded your current quota, please check your plan and billing details.",
            "status": "RESOURCE_EXHAUSTED", "details": [{"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": id}]}]}}])
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
            json!({"error": {"code": 400, "message": "bad", "status": "INVALID_ARGUMENT", "details": [{"reason": "API_KEY_INVALID"}]}}),
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
    let flat = |message: Value, code: Value| json!({"object": "error", "message": message, "type": "invalid_request_error", "param": null, "code": code});
    check(&[
        (
            400,
            json!({"code": "invalid-argument", "error": "Model grok-build-0.1 does not support parameter reasoningEffort."}),
            BadRequest,
            "Model grok-build-0.1 does not support parameter reasoningEffort. (HTTP 400)",
        ),
        (
            400,
            json!({"code": "Client specified an invalid argument", "error": "Incorrect API key provided: xa***ab."}),
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
            json!({"detail": [{"loc": ["body", "temperature"], "msg": "Input should be less than 1", "type": "less_than"}]}),
            BadRequest,
            "body.temperature: Input should be less than 1 (HTTP 422)",
        ),
    ]);
}

#[test]
fn openrouter_errors_are_classified() {
    let error = |code: Value, message: &str, metadata: Value| json!({"error": {"code": code, "message": message, "metadata": metadata}, "user_id": "u"});
    let upstream = |raw: Value| {
        error(
            json!(400),
            "Provider returned error",
            json!({"provider_name": "Azure", "raw": raw}),
        )
    };
    let raw = json!({"error": {"message": "too long", "code": "context_length_exceeded", "param": "messages"}});
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
            error(json!(503), "nobody meets your routing", json!({})),
            Overload,
            "nobody meets your routing (HTTP 503)",
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

#[test]
fn local_server_errors_are_classified() {
    check(&[
        (
            404,
            json!({"error": "model 'x' not found"}),
            ModelMissing,
            "model 'x' not found (HTTP 404)",
        ),
        (
            500,
            json!({"error": "llama runner process has terminated"}),
            Overload,
            "llama runner process has terminated (HTTP 500)",
        ),
        (
            503,
            json!({"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}}),
            Overload,
            "Loading model (HTTP 503)",
        ),
        (
            401,
            json!({"error": {"code": 401, "message": "Invalid API Key", "type": "authentication_error"}}),
            Auth,
            "Invalid API Key (HTTP 401); check `SOME_API_KEY`",
        ),
        (
            400,
            json!({"error": {"code": 400, "message": "too big", "type": "exceed_context_size_error", "n_prompt_tokens": 9, "n_ctx": 8}}),
            Context,
            "too big (HTTP 400)",
        ),
        (
            501,
            json!({"error": {"code": 501, "message": "no", "type": "not_supported_error"}}),
            BadRequest,
            "no (HTTP 501)",
        ),
        (
            404,
            json!({"error": {"code": 404, "message": "File Not Found", "type": "not_found_error"}}),
            BadRequest,
            "File Not Found (HTTP 404); check the base URL",
        ),
        (
            400,
            json!({"error": "'response_format.type' must be 'json_schema' or 'text'"}),
            BadRequest,
            "'response_format.type' must be 'json_schema' or 'text' (HTTP 400)",
        ),
        (
            404,
            json!({"detail": "Not Found"}),
            BadRequest,
            "Not Found (HTTP 404); check the base URL",
        ),
        (
            404,
            json!({"object": "error", "message": "The model `x` does not exist.", "type": "NotFoundError", "param": null, "code": 404}),
            ModelMissing,
            "The model `x` does not exist. (HTTP 404)",
        ),
        (
            400,
            json!({"error": {"message": "This model's maximum context length is 8 tokens.", "type": "BadRequestError", "param": null, "code": 400}}),
            Context,
            "This model's maximum context length is 8 tokens. (HTTP 400)",
        ),
        (
            404,
            json!("404 page not found"),
            BadRequest,
            "404 page not found (HTTP 404); check the base URL",
        ),
        (
            500,
            json!({"error": {"message": "1 validation error:\n  {'type': 'literal_error', 'loc': ('body', 'response_format', 'type'), 'msg': \"Input should be 'text' or 'json_object'\"}", "type": "internal_server_error", "param": null, "code": null}}),
            BadRequest,
            "1 validation error: {'type': 'literal_error', 'loc': ('body', 'response_format', 'type'), 'msg': \"Input should be 'text' or 'json_object'\"} (HTTP 500)",
        ),
        (
            500,
            json!({"error": {"message": "can only concatenate str to str", "type": "internal_server_error", "param": null, "code": null}}),
            Overload,
            "can only concatenate str to str (HTTP 500)",
        ),
    ]);
    let endpoint = in_stream(
        &json!({"error": "Unexpected endpoint or method. (POST /chat/completions)"}),
        &account(),
    );
    assert_eq!(
        (endpoint.class, endpoint.message.as_str()),
        (
            BadRequest,
            "Unexpected endpoint or method. (POST /chat/completions); check the base URL"
        )
    );
}

#[test]
fn proxy_and_gateway_errors_are_classified() {
    check(&[
        (
            301,
            json!(""),
            BadRequest,
            "the server redirects elsewhere (HTTP 301); check the base URL",
        ),
        (
            308,
            json!("<html>moved</html>"),
            BadRequest,
            "the server redirects elsewhere (HTTP 308); check the base URL",
        ),
        (
            403,
            json!("<html><title>Blocked</title></html>"),
            Auth,
            "Blocked (HTTP 403); check `SOME_API_KEY`, or the proxy",
        ),
        (
            405,
            json!({"detail": "Method Not Allowed"}),
            BadRequest,
            "Method Not Allowed (HTTP 405); check the base URL",
        ),
        (
            407,
            json!("<html><title>Proxy Authentication Required</title></html>"),
            Auth,
            "Proxy Authentication Required (HTTP 407); check `SOME_API_KEY`, or the proxy",
        ),
        (
            502,
            json!("<html><head><title>502 Bad Gateway</title></head></html>"),
            Overload,
            "502 Bad Gateway (HTTP 502)",
        ),
        (
            520,
            json!("<html></html>"),
            Overload,
            "the server sent a web page (HTTP 520)",
        ),
        (
            404,
            json!(""),
            BadRequest,
            "HTTP 404 without an explanation; check the base URL",
        ),
        (
            400,
            json!({"error": {"message": "400: {'error': 'Invalid model name passed in model=x. Call `/v1/models` to view.'}", "type": "None", "param": "None", "code": "400"}}),
            ModelMissing,
            "400: {'error': 'Invalid model name passed in model=x. Call `/v1/models` to view.'} (HTTP 400)",
        ),
    ]);
}

#[test]
fn an_error_in_a_stream_is_classified_by_its_code() {
    let told = |error: Value| in_stream(&json!({"error": error}), &account()).class;
    for code in [
        "overloaded_error",
        "api_error",
        "timeout_error",
        "unavailable_error",
        "server_error",
        "UNAVAILABLE",
        "INTERNAL",
    ] {
        assert_eq!(
            told(json!({"type": code, "message": "x"})),
            Overload,
            "{code}"
        );
        assert_eq!(
            told(json!({"status": code, "message": "x"})),
            Overload,
            "{code}"
        );
    }
    for code in [
        json!("rate_limit_error"),
        json!("RESOURCE_EXHAUSTED"),
        json!("slow_down"),
        json!(429),
        json!("429"),
    ] {
        assert_eq!(
            told(json!({"code": code, "message": "x"})),
            RateLimit,
            "{code}"
        );
    }
    assert_eq!(told(json!({"code": 401, "message": "x"})), Auth);
    assert_eq!(told(json!({"code": 402, "message": "x"})), Billing);
    assert_eq!(told(json!({"code": 400, "message": "x"})), BadRequest);
    assert_eq!(
        told(json!({"code": null, "message": "x"})),
        Overload,
        "an error of no kind may pass"
    );
    assert_eq!(told(json!("x")), Overload);
    let passed_on = json!({"code": 502, "message": "x", "metadata": {"raw": "{\"error\":{\"message\":\"y\",\"code\":402}}"}});
    assert_eq!(told(passed_on), Overload, "the router's own number stands");
    let without_number = json!({"message": "x", "metadata": {"raw": "{\"error\":{\"message\":\"y\",\"code\":402}}"}});
    assert_eq!(
        told(without_number),
        Billing,
        "where it has none, the upstream's does"
    );
    let nothing = in_stream(&json!({"error": {}}), &account());
    assert!(
        nothing.class == Overload && !nothing.message.is_empty(),
        "{nothing:?}"
    );
}

#[test]
fn a_payment_error_with_a_retry_time_is_a_rate_limit() {
    let told = |retry_after: Option<&str>| {
        let retry_after = retry_after.map(ToOwned::to_owned);
        classify(
            &ErrorResponse {
                status: 402,
                retry_after,
                ..ErrorResponse::default()
            },
            &account(),
            None,
        )
    };
    assert_eq!(told(None).class, Billing);
    let limited = told(Some("20"));
    assert_eq!(
        (limited.class, limited.retry_after),
        (RateLimit, Some(Duration::from_secs(20)))
    );
}

#[test]
fn retry_hints_are_bounded() {
    let hint = |ms: Option<&str>, after: Option<&str>, body: &str| {
        let (retry_after_ms, retry_after) =
            (ms.map(ToOwned::to_owned), after.map(ToOwned::to_owned));
        let response = ErrorResponse {
            status: 429,
            retry_after_ms,
            retry_after,
            body: body.to_owned(),
            ..ErrorResponse::default()
        };
        classify(&response, &account(), Some(Timestamp(0))).retry_after
    };
    for huge in [
        "1e300",
        "99999999999999999999999999",
        "18446744073709551615",
        "1e15",
    ] {
        assert_eq!(hint(Some(huge), None, ""), Some(errors::LONGEST), "{huge}");
        assert_eq!(hint(None, Some(huge), ""), Some(errors::LONGEST), "{huge}");
    }
    assert_eq!(
        hint(None, Some("Thu, 30 Dec 9999 00:00:00 GMT"), ""),
        Some(errors::LONGEST)
    );
    assert_eq!(
        hint(
            None,
            None,
            r#"{"error":{"details":[{"retryDelay":"1e40s"}]}}"#
        ),
        Some(errors::LONGEST)
    );
    for none in ["inf", "NaN", "-5", "", "6m0s", "20ms"] {
        assert_eq!(hint(Some(none), Some(none), ""), None, "{none}");
    }
    assert_eq!(
        hint(
            Some("soon"),
            Some("3"),
            r#"{"error":{"details":[{"retryDelay":"9s"}]}}"#
        ),
        Some(Duration::from_secs(3)),
        "the first that can be read"
    );
}

#[test]
fn fields_named_by_an_error_are_found_in_every_shape() {
    let cases = [
        (
            json!({"error": {"message": "x", "param": "temperature"}}),
            vec!["temperature"],
        ),
        (
            json!({"object": "error", "message": "x", "param": "model"}),
            vec!["model"],
        ),
        (
            json!({"detail": [{"loc": ["body", "seed"], "msg": "x"}, {"loc": ["body", "messages", 0, "role"], "msg": "y"}]}),
            vec!["body.seed", "body.messages.0.role"],
        ),
        (
            json!({"error": {"message": "x", "details": [{"@type": "BadRequest", "fieldViolations": [{"field": "generation_config.top_k", "description": "y"}]}]}}),
            vec!["generation_config.top_k"],
        ),
        (
            json!({"error": {"message": "x", "metadata": {"raw": "{\"error\":{\"message\":\"y\",\"param\":\"top_p\"}}"}}}),
            vec!["top_p"],
        ),
        (
            json!({"error": {"message": "2 validation errors:\n  {'loc': ('body', 'messages', 0, 'role'), 'msg': 'x'}\n  {'loc': ('body',), 'input': {'seed': 1}}"}}),
            vec!["body.messages.0.role", "body"],
        ),
        (
            json!({"error": {"message": "at 'loc': ('body', 'seed'"}}),
            vec![],
        ),
        (json!({"error": "x", "param": null}), vec![]),
        (json!([7]), vec![]),
    ];
    for (body, fields) in cases {
        assert_eq!(named_fields(&body.to_string()), fields, "{body}");
    }
    assert_eq!(named_fields("<html>"), Vec::<String>::new());
}

#[test]
fn an_echoed_key_never_appears_in_a_message() {
    let bodies = [
        json!({"error": {"message": format!("bad {KEY}")}}),
        json!({"error": {"message": "bad", "metadata": {"raw": format!("upstream {KEY}"), "provider_name": KEY}}}),
        json!({"odd": KEY}),
        json!([{"error": KEY}]),
        json!(KEY),
    ];
    for body in bodies {
        for status in [400, 401, 403, 429, 500] {
            assert!(
                !format!("{:?}", told(status, &body.to_string())).contains(KEY),
                "{body}"
            );
        }
        assert!(
            !format!("{:?}", in_stream(&body, &account())).contains(KEY),
            "{body}"
        );
    }
    let escaped = format!(
        "{{\"error\":\"bad \\u0073{}\"}}",
        KEY.trim_start_matches('s')
    );
    assert!(
        !told(400, &escaped).message.contains(KEY),
        "an escape inside the key does not hide it"
    );
}

#[test]
fn messages_are_cut_at_five_hundred_characters() {
    for body in [
        json!({"error": {"message": "é".repeat(5_000)}}),
        json!("日".repeat(5_000)),
        json!({"odd": "x".repeat(5_000)}),
    ] {
        let text = body
            .as_str()
            .map_or_else(|| body.to_string(), ToOwned::to_owned);
        let message = told(401, &text).message;
        assert!((500..560).contains(&message.chars().count()), "{message}");
        let message = in_stream(&body, &account()).message;
        assert!(message.chars().count() <= 560, "{message}");
    }
}
