//! The failures that come of errors before, in and after an answer.

use std::time::Duration;

use conclave::consultation::protocol::call::FailureClass;
use conclave::domain::cost::tokens::UsageSource;
use serde_json::json;

use super::{KEY, VENDORS, cloud_at, decode, failed, failure, usual};
use crate::support::provider_server::{Answer, On, ProviderServer, Vendor};

#[tokio::test]
async fn a_retry_date_is_measured_from_the_servers_clock() {
    let server = ProviderServer::start();
    let busy = Answer::http(503, "text/plain", "")
        .header("date", "Sat, 21 Nov 2026 09:00:00 GMT")
        .header("retry-after", "Sat, 21 Nov 2026 09:00:20 GMT");
    server.on(On::any(), busy);
    let failure = failure(Vendor::Anthropic, &server).await;
    assert_eq!(failure.retry_after, Some(Duration::from_secs(20)));
}

#[tokio::test]
async fn an_error_in_mid_answer_fails_the_call_with_its_partial_text() {
    let server = ProviderServer::start();
    let error =
        json!({"type": "overloaded_error", "message": "Overloaded", "status": "UNAVAILABLE"});
    server.on(On::any(), Answer::error_in_stream("half an answer", error));
    for vendor in VENDORS {
        let failure = failure(vendor, &server).await;
        assert_eq!(failure.class, FailureClass::Interrupted, "{vendor:?}");
        assert_eq!(failure.message, "Overloaded", "{vendor:?}");
        assert_eq!(failure.partial, "half an answer", "{vendor:?}");
    }
}

#[test]
fn a_rate_limit_in_mid_answer_is_an_interruption() {
    let text = r#"{"choices":[{"delta":{"content":"half"}}]}"#;
    let limit = r#"{"error":{"message":"too fast","code":429}}"#;
    let before = decode(Vendor::OpenAi, &[limit]).unwrap_err();
    assert_eq!(before.class, FailureClass::RateLimit);
    let failure = decode(Vendor::OpenAi, &[text, limit]).unwrap_err();
    assert_eq!(
        failure.class,
        FailureClass::Interrupted,
        "again would pay twice for the same text"
    );
    assert_eq!(failure.partial, "half");
}

#[tokio::test]
async fn a_wrong_key_is_reported_with_its_variable() {
    let server = ProviderServer::start();
    let words = format!("Incorrect API key provided: {KEY}");
    server.on(On::any(), Answer::error(401, "invalid_api_key", &words));
    let variables = ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"];
    for (vendor, variable) in VENDORS.into_iter().zip(variables) {
        let failure = failure(vendor, &server).await;
        let message = format!("Incorrect API key provided: [key] (HTTP 401); check `{variable}`");
        assert_eq!(failure.class, FailureClass::Auth);
        assert_eq!(failure.message, message);
    }
}

#[tokio::test]
async fn an_absent_server_is_named_without_path_or_key() {
    // Port 9 (discard) is never listened on here.
    for vendor in VENDORS {
        let failure = failed(&cloud_at(vendor, "http://127.0.0.1:9"), &usual(vendor)).await;
        assert_eq!(failure.class, FailureClass::Transport);
        assert_eq!(failure.message, "connection refused by `127.0.0.1:9`");
        assert_eq!(
            failure.usage,
            Some(Box::default()),
            "what was never asked for is known to cost nothing"
        );
    }
}

#[test]
fn an_event_of_another_shape_is_malformed() {
    for event in [
        "[]",
        "1",
        "null",
        "\"x\"",
        r#"{"choices":"x"}"#,
        r#"{"candidates":7}"#,
        r#"{"usage":"x","usageMetadata":[]}"#,
    ] {
        for vendor in VENDORS {
            let failure = decode(vendor, &[event]).unwrap_err();
            assert!(
                matches!(
                    failure.class,
                    FailureClass::Malformed | FailureClass::Transport
                ),
                "{vendor:?} {event} {failure:?}"
            );
        }
    }
}

#[test]
fn a_failure_after_content_carries_estimated_usage() {
    let text = r#"{"choices":[{"delta":{"content":"12345678"}}]}"#;
    let failure = decode(Vendor::OpenAi, &[text, "{broken"]).unwrap_err();
    let usage = failure.usage.unwrap();
    assert_eq!(failure.class, FailureClass::Interrupted);
    assert_eq!(failure.partial, "12345678");
    assert_eq!(usage.output, 2);
    assert_eq!(usage.source, UsageSource::Estimated);
}

#[tokio::test]
async fn a_server_without_tls_is_reported() {
    let server = ProviderServer::start();
    let url = server.url().replace("http://", "https://");
    let failure = failed(&cloud_at(Vendor::Google, &url), &usual(Vendor::Google)).await;
    let host = url.trim_start_matches("https://");
    let message = failure.message;
    assert_eq!(failure.class, FailureClass::Transport);
    assert!(
        message.starts_with(&format!("cannot connect to `{host}`: ")),
        "{message}"
    );
    assert!(!message.contains("v1beta"), "{message}");
}

#[tokio::test]
async fn a_wrong_path_points_at_the_base_url() {
    let server = ProviderServer::start();
    let wrong = cloud_at(Vendor::Google, &format!("{}/wrong", server.url()));
    let failure = failed(&wrong, &usual(Vendor::Google)).await;
    assert_eq!(failure.class, FailureClass::BadRequest);
    assert_eq!(
        failure.message,
        "no such path (HTTP 404); check the base URL"
    );
}
