//! The failures that come of errors before, in and after an answer.

use std::time::Duration;

use conclave::consultation::protocol::call::FailureClass;
use conclave::domain::tokens::UsageSource;
use conclave::engine::ports::Delta;
use serde_json::json;

use super::{KEY, VENDORS, ask, call, cloud, cloud_at, decode, impatient};
use crate::support::provider_server::{Answer, On, ProviderServer, Vendor};

#[tokio::test]
async fn an_error_status_is_classified_with_its_retry_hint() {
    let server = ProviderServer::start();
    let busy = Answer::http(
        429,
        "application/json",
        r#"{"error":{"message":"slow down","type":"rate_limit_error"}}"#,
    );
    server.on(On::any(), busy.header("retry-after", "7"));
    for (vendor, model) in VENDORS {
        let (outcome, deltas) = call(&cloud(vendor, &server), &ask(vendor, model)).await;
        let failure = outcome.unwrap_err();
        assert_eq!(failure.class, FailureClass::RateLimit, "{vendor:?}");
        assert_eq!(
            failure.retry_after,
            Some(Duration::from_secs(7)),
            "{vendor:?}"
        );
        assert_eq!(failure.message.as_str(), "slow down (HTTP 429)");
        assert_eq!(failure.usage, None);
        assert!(
            !deltas.contains(&Delta::Connected),
            "a request that was turned away was not accepted"
        );
    }
}

#[tokio::test]
async fn a_retry_date_is_measured_from_the_servers_clock() {
    let server = ProviderServer::start();
    let busy = Answer::http(503, "text/plain", "").header("date", "Sat, 21 Nov 2026 09:00:00 GMT");
    server.on(
        On::any(),
        busy.header("retry-after", "Sat, 21 Nov 2026 09:00:20 GMT"),
    );
    let failure = call(
        &cloud(Vendor::Anthropic, &server),
        &ask(Vendor::Anthropic, "m"),
    )
    .await
    .0
    .unwrap_err();
    assert_eq!(failure.retry_after, Some(Duration::from_secs(20)));
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let server = ProviderServer::start();
    server.on(
        On::any(),
        Answer::http(302, "text/html", "").header("location", "http://127.0.0.1:9/elsewhere"),
    );
    for (vendor, model) in VENDORS {
        let failure = call(&cloud(vendor, &server), &ask(vendor, model))
            .await
            .0
            .unwrap_err();
        assert_eq!(
            failure.class,
            FailureClass::BadRequest,
            "{vendor:?} {}",
            failure.message
        );
        assert!(
            failure.message.contains("check the base URL"),
            "{}",
            failure.message
        );
    }
    assert_eq!(server.requests().len(), 3);
}

#[tokio::test]
async fn a_large_error_page_is_read_up_to_a_limit() {
    let server = ProviderServer::start();
    server.on(
        On::any(),
        Answer::http(500, "text/plain", "x".repeat(1_000_000)),
    );
    let failure = call(&cloud(Vendor::OpenAi, &server), &ask(Vendor::OpenAi, "m"))
        .await
        .0
        .unwrap_err();
    assert!(
        failure.class == FailureClass::Overload && failure.message.chars().count() < 520,
        "{}",
        failure.message
    );
}

#[tokio::test]
async fn an_error_in_a_stream_fails_the_call_with_its_partial_text() {
    let server = ProviderServer::start();
    for (text, class) in [
        ("", FailureClass::Overload),
        ("half an answer", FailureClass::Interrupted),
    ] {
        let error =
            json!({"type": "overloaded_error", "message": "Overloaded", "status": "UNAVAILABLE"});
        server.on(On::any(), Answer::error_in_stream(text, error));
        for (vendor, model) in VENDORS {
            let failure = call(&cloud(vendor, &server), &ask(vendor, model))
                .await
                .0
                .unwrap_err();
            assert_eq!(failure.class, class, "{vendor:?}");
            assert_eq!(failure.message.as_str(), "Overloaded", "{vendor:?}");
            assert_eq!(failure.partial.as_str(), text, "{vendor:?}");
        }
    }
}

#[test]
fn a_rate_limit_in_mid_answer_is_an_interruption() {
    let text = r#"{"choices":[{"delta":{"content":"half"}}]}"#;
    let limit = r#"{"error":{"message":"too fast","code":429}}"#;
    assert_eq!(
        decode(Vendor::OpenAi, &[limit]).unwrap_err().class,
        FailureClass::RateLimit
    );
    let failure = decode(Vendor::OpenAi, &[text, limit]).unwrap_err();
    assert_eq!(
        failure.class,
        FailureClass::Interrupted,
        "again would pay twice for the same text"
    );
    assert_eq!(
        failure.partial.as_str(),
        "half",
        "again would pay twice for the same text"
    );
}

#[tokio::test]
async fn an_error_in_a_plain_body_of_a_success_is_an_error() {
    let server = ProviderServer::start();
    server.on(
        On::any(),
        Answer::http(
            200,
            "application/json",
            r#"[{"error":{"message":"no credit","code":402}}]"#,
        ),
    );
    for (vendor, model) in VENDORS {
        let failure = call(&cloud(vendor, &server), &ask(vendor, model))
            .await
            .0
            .unwrap_err();
        assert_eq!(failure.class, FailureClass::Billing, "{vendor:?}");
        assert_eq!(failure.message.as_str(), "no credit", "{vendor:?}");
    }
}

#[tokio::test]
async fn a_body_without_events_is_malformed() {
    let server = ProviderServer::start();
    let cases = [
        (
            Answer::http(200, "text/html", "<html>welcome</html>"),
            "the server answered with text/html instead of a stream of events",
        ),
        (
            Answer::stream("data: {not json}\n\n"),
            "an event of the stream is not JSON",
        ),
        (
            Answer::stream("\u{0}\u{1}garbage\n\n\n"),
            "the stream ended before any of the answer arrived",
        ),
    ];
    for (answer, message) in cases {
        server.on(On::any(), answer);
        for (vendor, model) in VENDORS {
            let failure = call(&cloud(vendor, &server), &ask(vendor, model))
                .await
                .0
                .unwrap_err();
            assert!(
                matches!(
                    failure.class,
                    FailureClass::Malformed | FailureClass::Transport
                ),
                "{vendor:?} {:?}",
                failure.class
            );
            assert!(
                failure.message.starts_with(message),
                "{vendor:?} {}",
                failure.message
            );
        }
    }
}

#[tokio::test]
async fn a_wrong_key_is_reported_with_its_variable() {
    let server = ProviderServer::start();
    let echoed = format!(
        r#"{{"error":{{"message":"Incorrect API key provided: {KEY}","code":"invalid_api_key"}}}}"#
    );
    server.on(On::any(), Answer::http(401, "application/json", echoed));
    for ((vendor, model), variable) in
        VENDORS
            .into_iter()
            .zip(["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"])
    {
        let failure = call(&cloud(vendor, &server), &ask(vendor, model))
            .await
            .0
            .unwrap_err();
        let message = format!("Incorrect API key provided: [key] (HTTP 401); check `{variable}`");
        assert_eq!(failure.class, FailureClass::Auth);
        assert_eq!(failure.message, message);
    }
}

#[test]
fn a_key_echoed_in_a_stream_is_redacted() {
    for (vendor, _) in VENDORS {
        let event = format!(
            r#"{{"type":"error","error":{{"message":"bad {KEY}","type":"authentication_error"}}}}"#
        );
        let failure = decode(vendor, &[&event]).unwrap_err();
        assert!(
            failure.class == FailureClass::Auth && !format!("{failure:?}").contains(KEY),
            "{failure:?}"
        );
    }
}

#[tokio::test]
async fn an_absent_server_is_named_without_path_or_key() {
    // Port 9 (discard) is never listened on here.
    for (vendor, model) in VENDORS {
        let failure = call(&cloud_at(vendor, "http://127.0.0.1:9"), &ask(vendor, model))
            .await
            .0
            .unwrap_err();
        assert_eq!(failure.class, FailureClass::Transport);
        assert_eq!(
            failure.message.as_str(),
            "connection refused by `127.0.0.1:9`"
        );
        assert_eq!(
            failure.usage,
            Some(Box::default()),
            "what was never asked for is known to cost nothing"
        );
    }
}

#[tokio::test]
async fn silence_before_the_first_byte_is_a_timeout() {
    let server = ProviderServer::start();
    server.on(On::any(), Answer::valid().delay(Duration::from_secs(60)));
    for (vendor, model) in VENDORS {
        let failure = call(&impatient(vendor, &server), &ask(vendor, model))
            .await
            .0
            .unwrap_err();
        assert_eq!(failure.class, FailureClass::Timeout, "{vendor:?}");
        assert!(
            failure.message.ends_with("sent nothing for 0.6 s"),
            "{}",
            failure.message
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
        for (vendor, _) in VENDORS {
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
    let failure = decode(
        Vendor::OpenAi,
        &[
            r#"{"choices":[{"delta":{"content":"12345678"}}]}"#,
            "{broken",
        ],
    )
    .unwrap_err();
    let usage = failure.usage.unwrap();
    assert_eq!(failure.class, FailureClass::Interrupted);
    assert_eq!(failure.partial.as_str(), "12345678");
    assert_eq!(usage.output, 2);
    assert_eq!(usage.source, UsageSource::Estimated);
}

#[tokio::test]
async fn a_server_without_tls_is_reported() {
    let server = ProviderServer::start();
    let url = server.url().replace("http://", "https://");
    let failure = call(&cloud_at(Vendor::Google, &url), &ask(Vendor::Google, "m"))
        .await
        .0
        .unwrap_err();
    let host = url.trim_start_matches("https://");
    assert_eq!(failure.class, FailureClass::Transport);
    assert!(
        failure
            .message
            .starts_with(&format!("cannot connect to `{host}`: "))
            && !failure.message.contains("v1beta"),
        "{}",
        failure.message
    );
}

#[tokio::test]
async fn a_wrong_path_points_at_the_base_url() {
    let server = ProviderServer::start();
    let failure = call(
        &cloud_at(Vendor::Google, &format!("{}/wrong", server.url())),
        &ask(Vendor::Google, "m"),
    )
    .await
    .0
    .unwrap_err();
    assert_eq!(failure.class, FailureClass::BadRequest);
    assert_eq!(
        failure.message.as_str(),
        "no such path (HTTP 404); check the base URL"
    );
}
