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
        assert_eq!(
            class_of(json!({"type": code, "message": "x"})),
            Overload,
            "{code}"
        );
        assert_eq!(
            class_of(json!({"status": code, "message": "x"})),
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
            class_of(json!({"code": code, "message": "x"})),
            RateLimit,
            "{code}"
        );
    }
    assert_eq!(class_of(json!({"code": 401, "message": "x"})), Auth);
    assert_eq!(class_of(json!({"code": 402, "message": "x"})), Billing);
    assert_eq!(class_of(json!({"code": 400, "message": "x"})), BadRequest);
    assert_eq!(
        class_of(json!({"code": null, "message": "x"})),
        Overload,
        "an error of no kind may pass"
    );
    assert_eq!(class_of(json!("x")), Overload);
    let passed_on = json!({
        "code": 502,
        "message": "x",
        "metadata": {"raw": "{\"error\":{\"message\":\"y\",\"code\":402}}"},
    });
    assert_eq!(
        class_of(passed_on),
        Overload,
        "the router's own number stands"
    );
    let without_number = json!({
        "message": "x",
        "metadata": {"raw": "{\"error\":{\"message\":\"y\",\"code\":402}}"},
    });
    assert_eq!(
        class_of(without_number),
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
            json!({
                "detail": [
                    {"loc": ["body", "seed"], "msg": "x"},
                    {"loc": ["body", "messages", 0, "role"], "msg": "y"},
                ],
            }),
            vec!["body.seed", "body.messages.0.role"],
        ),
        (
            json!({
                "error": {
                    "message": "x",
                    "details": [
                        {
                            "@type": "BadRequest",
                            "fieldViolations": [
                                {"field": "generation_config.top_k", "description": "y"},
                            ],
                        },
                    ],
                },
            }),
            vec!["generation_config.top_k"],
        ),
        (
            json!({
                "error": {
                    "message": "x",
                    "metadata": {"raw": "{\"error\":{\"message\":\"y\",\"param\":\"top_p\"}}"},
                },
            }),
            vec!["top_p"],
        ),
        (
            json!({
                "error": {
                    "message": "2 validation errors:\n  {'loc': ('body', 'messages', 0, 'role'), 'msg': 'x'}\n  {'loc': ('body',), 'input': {'seed': 1}}",
                },
            }),
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
            assert!(
                !format!("{:?}", classified(status, &body.to_string())).contains(KEY),
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
        !classified(400, &escaped).message.contains(KEY),
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
        let message = classified(401, &text).message;
        assert!((500..560).contains(&message.chars().count()), "{message}");
        let message = in_stream(&body, &account()).message;
        assert!(message.chars().count() <= 560, "{message}");
    }
}
