//! Parts of an error: codes inside a stream, retry hints, named fields, and what a message leaves
//! out.

use std::time::Duration;

use conclave::consultation::protocol::call::FailureClass;
use conclave::domain::time::Timestamp;
use conclave::providers::errors::{self, ErrorResponse, classify, in_stream, named_fields};
use serde_json::{Value, json};

use super::{account, classified};
use crate::providers::KEY;
use FailureClass::{Auth, BadRequest, Billing, Overload, RateLimit};

#[test]
fn an_error_in_a_stream_is_classified_by_its_code() {
    let class_of = |error: Value| in_stream(&json!({"error": error}), &account()).class;
    for code in [
        "overloaded_error",
        "api_error",
        "timeout_error",
        "unavailable_error",
        "server_error",
        "UNAVAILABLE",
        "INTERNAL",
    ] {
        for field in ["type", "status"] {
            let class = class_of(json!({field: code, "message": "x"}));
            assert_eq!(class, Overload, "{field} {code}");
        }
    }
    let raw = r#"{"error":{"message":"y","code":402}}"#;
    let cases = [
        (json!({"code": "rate_limit_error"}), RateLimit),
        (json!({"code": "RESOURCE_EXHAUSTED"}), RateLimit),
        (json!({"code": "slow_down"}), RateLimit),
        (json!({"code": 429}), RateLimit),
        (json!({"code": "429"}), RateLimit),
        (json!({"type": "authentication_error"}), Auth),
        (json!({"code": 401}), Auth),
        (json!({"code": 402}), Billing),
        (json!({"code": 400}), BadRequest),
        // An error of no kind may pass.
        (json!({"code": null}), Overload),
        (json!("x"), Overload),
        // A router's own number stands; where it has none, the upstream's does.
        (json!({"code": 502, "metadata": {"raw": raw}}), Overload),
        (json!({"metadata": {"raw": raw}}), Billing),
    ];
    for (error, class) in cases {
        assert_eq!(class_of(error.clone()), class, "{error}");
    }
    let nothing = in_stream(&json!({"error": {}}), &account());
    assert_eq!(nothing.class, Overload);
    assert_ne!(nothing.message, "");
}

#[test]
fn a_payment_error_with_a_retry_time_is_a_rate_limit() {
    let failure = |retry_after: Option<&str>| {
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
    assert_eq!(failure(None).class, Billing);
    let limited = failure(Some("20"));
    assert_eq!(limited.class, RateLimit);
    assert_eq!(limited.retry_after, Some(Duration::from_secs(20)));
}

#[test]
fn retry_hints_are_bounded() {
    let hint = |ms: Option<&str>, after: Option<&str>, delay: &str| {
        let response = ErrorResponse {
            status: 429,
            retry_after_ms: ms.map(ToOwned::to_owned),
            retry_after: after.map(ToOwned::to_owned),
            body: json!({"error": {"details": [{"retryDelay": delay}]}}).to_string(),
            ..ErrorResponse::default()
        };
        classify(&response, &account(), Some(Timestamp(0))).retry_after
    };
    let longest = Some(errors::LONGEST);
    for huge in [
        "1e300",
        "99999999999999999999999999",
        "18446744073709551615",
        "1e15",
    ] {
        assert_eq!(hint(Some(huge), None, ""), longest, "{huge}");
        assert_eq!(hint(None, Some(huge), ""), longest, "{huge}");
    }
    let date = "Thu, 30 Dec 9999 00:00:00 GMT";
    assert_eq!(hint(None, Some(date), ""), longest);
    assert_eq!(hint(None, None, "1e40s"), longest);
    for none in ["inf", "NaN", "-5", "", "6m0s", "20ms"] {
        assert_eq!(hint(Some(none), Some(none), ""), None, "{none}");
    }
    let first_that_can_be_read = hint(Some("soon"), Some("3"), "9s");
    assert_eq!(first_that_can_be_read, Some(Duration::from_secs(3)));
}

#[test]
fn fields_named_by_an_error_are_found_in_every_shape() {
    let cases: &[(&str, &[&str])] = &[
        (r#"{"error": {"param": "temperature"}}"#, &["temperature"]),
        (r#"{"object": "error", "param": "model"}"#, &["model"]),
        (
            r#"{"detail": [{"loc": ["body", "seed"]}, {"loc": ["body", "messages", 0, "role"]}]}"#,
            &["body.seed", "body.messages.0.role"],
        ),
        (
            r#"{"error": {"details": [{"fieldViolations": [{"field": "a.top_k"}]}]}}"#,
            &["a.top_k"],
        ),
        (
            r#"{"error": {"metadata": {"raw": "{\"error\":{\"param\":\"top_p\"}}"}}}"#,
            &["top_p"],
        ),
        (
            r#"{"error": {"message": "{'loc': ('body', 'a', 0, 'role')}\n  {'loc': ('body',), 'x': 1}"}}"#,
            &["body.a.0.role", "body"],
        ),
        (
            r#"{"error": {"message": "at 'loc': ('body', 'seed'"}}"#,
            &[],
        ),
        (r#"{"error": "x", "param": null}"#, &[]),
        ("[7]", &[]),
        ("<html>", &[]),
    ];
    for (body, fields) in cases {
        assert_eq!(named_fields(body), *fields, "{body}");
    }
}

#[test]
fn an_echoed_key_never_appears_in_a_message() {
    let bodies = [
        json!({"error": {"message": format!("bad {KEY}")}}),
        json!({
            "error": {
                "message": "bad",
                "metadata": {"raw": format!("upstream {KEY}"), "provider_name": KEY},
            },
        }),
        json!({"odd": KEY}),
        json!([{"error": KEY}]),
        json!(KEY),
    ];
    for body in bodies {
        for status in [400, 401, 403, 429, 500] {
            let failure = classified(status, &body.to_string());
            assert!(!format!("{failure:?}").contains(KEY), "{body}");
        }
        let failure = in_stream(&body, &account());
        assert!(!format!("{failure:?}").contains(KEY), "{body}");
    }
    // An escape inside the key does not hide it.
    let rest = KEY.trim_start_matches('s');
    let escaped = classified(400, &format!(r#"{{"error":"bad \u0073{rest}"}}"#));
    assert!(!escaped.message.contains(KEY));
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
        let message = classified(401, &text).message;
        assert!((500..560).contains(&message.chars().count()), "{message}");
        let message = in_stream(&body, &account()).message;
        assert!(message.chars().count() <= 560, "{message}");
    }
}
