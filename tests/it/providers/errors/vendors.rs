//! Errors of the hosted providers.

use serde_json::{Value, json};

use super::{assert_classified, check, check_bodies};

#[test]
fn anthropic_errors_are_classified() {
    let table = "
        400 BadRequest invalid_request_error max_tokens: Field required
        400 Context invalid_request_error prompt is too long: 210000 tokens > 200000 maximum
        400 Billing invalid_request_error You have reached your specified API usage limits.
        400 Billing invalid_request_error Your credit balance is too low
        401 Auth authentication_error invalid x-api-key
        402 Billing billing_error pay
        403 Auth permission_error not yours
        404 ModelMissing not_found_error model: claude-x
        408 Overload timeout_error slow
        409 Overload conflict_error again
        429 RateLimit rate_limit_error too fast
        500 Overload api_error oh
        504 Overload timeout_error slow
        529 Overload overloaded_error Overloaded";
    check(
        table,
        |_, code, words| json!({"type": "error", "error": {"type": code, "message": words}}),
    );
    let spend_limits = "
        429 Billing enforced_spend_limit_reached no
        429 Billing contract_spend_limit_reached no
        429 RateLimit ramp_limit_exceeded no";
    check(spend_limits, |_, code, words| {
        let details = json!({"error_code": code});
        json!({"error": {"type": "rate_limit_error", "message": words, "details": details}})
    });
    check_bodies(
        "413 Context <html><head><title>413 Request Entity Too Large</title></head></html>
        413 Request Entity Too Large (HTTP 413)
        503 Overload
        HTTP 503 without an explanation",
    );
}

#[test]
fn openai_errors_are_classified() {
    let table = "
        400 BadRequest unsupported_value Unsupported value: 'temperature' does not support 0.8.
        400 Context context_length_exceeded long
        400 Policy content_policy_violation no
        400 Policy invalid_prompt no
        400 Policy - Invalid prompt: violating our usage policy
        401 Auth invalid_api_key Incorrect API key provided
        403 Auth unsupported_country_region_territory Country not supported
        404 ModelMissing model_not_found The model `x` does not exist
        400 ModelMissing model_not_found no such
        429 RateLimit rate_limit_exceeded too fast
        429 Billing insufficient_quota You exceeded your current quota
        429 Billing credit_balance_exhausted empty
        429 Billing billing_hard_limit_reached limit
        429 RateLimit slow_down slowly
        503 RateLimit slow_down slowly
        503 Overload server_is_overloaded busy
        500 Overload - oh";
    check(
        table,
        |_, code, words| json!({"error": {"message": words, "type": "invalid_request_error", "code": code}}),
    );
}

#[test]
fn google_errors_are_classified() {
    let table = "
        400 Auth INVALID_ARGUMENT API key not valid. Please pass a valid API key.
        400 Billing FAILED_PRECONDITION Gemini API free tier is not available in your country.
        400 Context INVALID_ARGUMENT The input token count (9) exceeds the maximum number of tokens allowed (8).
        403 Auth PERMISSION_DENIED no
        404 ModelMissing NOT_FOUND models/x is not found
        500 Overload INTERNAL oh
        503 Overload UNAVAILABLE The model is overloaded.
        504 Overload DEADLINE_EXCEEDED slow";
    check(table, |status, code, words| {
        let status: u16 = status.parse().unwrap();
        json!({"error": {"code": status, "message": words, "status": code}})
    });
    let quotas = "
        429 Billing GenerateRequestsPerDayPerProjectPerModel-FreeTier You exceeded your current quota.
        429 RateLimit GenerateContentInputTokensPerModelPerMinute-FreeTier You exceeded your current quota.";
    check(quotas, |_, id, words| {
        let details = json!([{"@type": "QuotaFailure", "violations": [{"quotaId": id}]}]);
        let status = "RESOURCE_EXHAUSTED";
        json!([{"error": {"code": 429, "message": words, "status": status, "details": details}}])
    });
    check_bodies(
        r#"400 Auth {"error": {"message": "bad", "details": [{"reason": "API_KEY_INVALID"}]}}
        bad (HTTP 400); check `SOME_API_KEY`"#,
    );
}

#[test]
fn xai_and_mistral_errors_are_classified() {
    check_bodies(
        r#"400 BadRequest {"code": "invalid-argument", "error": "Model x does not support reasoningEffort."}
        Model x does not support reasoningEffort. (HTTP 400)
        400 Auth {"code": "invalid", "error": "Incorrect API key provided: xa***ab."}
        Incorrect API key provided: xa***ab. (HTTP 400); check `SOME_API_KEY`
        403 Billing {"code": "x", "error": "Your team has no credits left."}
        Your team has no credits left. (HTTP 403)
        403 Policy {"code": "x", "error": "Content violates usage guidelines."}
        Content violates usage guidelines. (HTTP 403)
        404 ModelMissing {"code": "x", "error": "The model grok-x does not exist"}
        The model grok-x does not exist (HTTP 404)
        422 BadRequest Failed to deserialize the JSON body
        Failed to deserialize the JSON body (HTTP 422)
        400 ModelMissing {"object": "error", "message": "Invalid model: x", "code": "unknown_model"}
        Invalid model: x (HTTP 400)
        429 RateLimit {"object": "error", "message": "Requests rate limit exceeded", "code": 1300}
        Requests rate limit exceeded (HTTP 429)
        400 BadRequest {"object": "error", "message": {"detail": "nested words"}, "code": null}
        nested words (HTTP 400)
        401 Auth {"message": "Unauthorized", "request_id": "1"}
        Unauthorized (HTTP 401); check `SOME_API_KEY`
        402 Billing {"detail": "Payment required"}
        Payment required (HTTP 402)
        422 BadRequest {"detail": [{"loc": ["body", "temperature"], "msg": "Input is above 1"}]}
        body.temperature: Input is above 1 (HTTP 422)"#,
    );
}

#[test]
fn openrouter_errors_are_classified() {
    let table = "
        400 ModelMissing 400 x/y is not a valid model ID
        401 Auth 401 No auth credentials found
        402 Billing 402 Insufficient credits
        403 Policy 403 Blocked by a guardrail
        404 ModelMissing 404 No endpoints found for x/y.
        408 Overload 408 slow
        429 RateLimit 429 slow down
        503 Overload 503 no provider meets your routing
        529 Overload 529 overloaded";
    check(table, |status, code, words| {
        // The number is a string in some of its errors.
        let code = if status == "402" {
            code
        } else {
            json!(status.parse::<u16>().unwrap())
        };
        json!({"error": {"code": code, "message": words, "metadata": {}}, "user_id": "u"})
    });
    let inner = r#"{"error": {"message": "too long", "code": "context_length_exceeded"}}"#;
    let parsed: Value = serde_json::from_str(inner).unwrap();
    for (raw, class, words) in [
        (json!("plain words"), "BadRequest", "plain words"),
        (json!(inner), "Context", "too long"),
        (parsed, "Context", "too long"),
    ] {
        let metadata = json!({"provider_name": "Azure", "raw": raw});
        let body = json!({"error": {"message": "refused", "metadata": metadata}});
        let message = format!("refused (Azure: {words}) (HTTP 400)");
        assert_classified("400", &body.to_string(), class, &message);
    }
    check_bodies(
        r#"403 Policy {"error": {"code": 403, "message": "no", "metadata": {"flagged_input": "x", "provider_name": "OpenAI"}}}
        no (OpenAI) (HTTP 403)
        502 Overload {"error": {"message": "bad", "metadata": {"raw": "oh", "provider_name": null}}}
        bad (oh) (HTTP 502)
        524 Overload <html><TITLE>A timeout occurred</TITLE></html>
        A timeout occurred (HTTP 524)"#,
    );
}
