//! Error responses in each vendor's own shape: their class, and the provider's message.

use std::time::Duration;

use conclave::consultation::protocol::call::FailureClass;

use crate::providers::adversity::{outcomes_of_all, reports_of_all};
use crate::providers::{KEY, failure};
use crate::support::provider_server::{Answer, On, ProviderServer, Vendor};

#[tokio::test]
async fn the_status_sets_the_class_and_the_message_is_preserved() {
    use FailureClass::{Auth, BadRequest, Context, ModelMissing, Overload, RateLimit};
    let cases = [
        (400, "invalid_request_error", BadRequest),
        (401, "authentication_error", Auth),
        // With the hint below, it is credit that returns by itself.
        (402, "billing_error", RateLimit),
        (403, "permission_error", Auth),
        (404, "not_found_error", ModelMissing),
        (413, "request_too_large", Context),
        (422, "invalid_request_error", BadRequest),
        (429, "rate_limit_error", RateLimit),
        (500, "api_error", Overload),
        (529, "overloaded_error", Overload),
    ];
    for (status, code, class) in cases {
        let answer = Answer::error(status, code, "the provider's words").header("retry-after", "7");
        for (vendor, outcome) in outcomes_of_all(&answer).await {
            let failure = outcome.unwrap_err();
            let row = format!("{status} {vendor:?} {failure:?}");
            assert_eq!(failure.class, class, "{row}");
            let (start, status) = ("the provider's words", format!("(HTTP {status})"));
            assert!(failure.message.starts_with(start), "{row}");
            assert!(failure.message.contains(&status), "{row}");
            assert_eq!(failure.retry_after, Some(Duration::from_secs(7)), "{row}");
            assert_eq!(failure.usage, None, "{row}");
            assert_eq!(failure.partial, "", "{row}");
        }
    }
}

/// Errors as their vendors send them after a success was announced, in a stream and in a plain
/// body.
#[tokio::test]
async fn an_error_inside_a_success_preserves_the_message() {
    let shapes = [
        (
            Vendor::Anthropic,
            r#"{"type":"error","error":{"type":"overloaded_error","message":"W"}}"#,
        ),
        (
            Vendor::OpenAi,
            r#"{"error":{"message":"W","type":"server_error","code":"server_error"}}"#,
        ),
        (
            Vendor::Google,
            r#"{"error":{"code":503,"message":"W","status":"UNAVAILABLE"}}"#,
        ),
        (
            Vendor::Google,
            r#"[{"error":{"code":503,"message":"W","status":"UNAVAILABLE"}}]"#,
        ),
        (Vendor::Xai, r#"{"code":"unavailable","error":"W"}"#),
        (
            Vendor::Mistral,
            r#"{"object":"error","message":"W","type":"server_error","code":"3000"}"#,
        ),
        (
            Vendor::OpenRouter,
            r#"{"id":"gen-1","error":{"code":502,"message":"W"},"choices":[]}"#,
        ),
        (Vendor::Ollama, r#"{"error":"W"}"#),
        (
            Vendor::LlamaCpp,
            r#"{"error":{"code":503,"message":"W","type":"unavailable_error"}}"#,
        ),
        (Vendor::LmStudio, r#"{"error":"W"}"#),
        (
            Vendor::Vllm,
            r#"{"object":"error","message":"W","type":"InternalServerError","code":500}"#,
        ),
    ];
    for (vendor, body) in shapes {
        let event = if vendor == Vendor::Ollama {
            format!("{body}\n")
        } else {
            format!("data: {body}\n\n")
        };
        let answers = [
            Answer::stream(event),
            Answer::http(200, "application/json", body),
        ];
        for answer in answers {
            let server = ProviderServer::start();
            server.on(On::any(), answer);
            let failure = failure(vendor, &server).await;
            assert_eq!(failure.class, FailureClass::Overload, "{vendor:?} {body}");
            assert_eq!(failure.message, "W", "{vendor:?} {body}");
        }
    }
}

#[tokio::test]
async fn a_key_in_an_error_is_redacted_in_every_shape() {
    let words = format!("no account for {KEY}");
    for status in [400, 401, 403, 429, 500] {
        for (vendor, outcome) in outcomes_of_all(&Answer::error(status, "error", &words)).await {
            let failure = outcome.unwrap_err();
            let shown = format!("{failure:?}");
            assert!(
                failure.message.starts_with("no account for [key]"),
                "{vendor:?} {shown}"
            );
            assert!(!shown.contains(KEY), "{vendor:?} {shown}");
        }
    }
}

#[tokio::test]
async fn a_key_sent_as_the_answer_is_redacted() {
    let odd = format!("text/{KEY}");
    for content_type in ["text/html", "text/event-stream", "application/json", &odd] {
        let answer = Answer::http(200, content_type, format!("<p>{KEY}</p>"));
        for (vendor, outcome) in outcomes_of_all(&answer).await {
            let shown = format!("{:?}", outcome.unwrap_err());
            assert!(!shown.contains(KEY), "{content_type} {vendor:?}");
        }
    }
}

#[tokio::test]
async fn a_key_split_across_stream_chunks_is_redacted() {
    let words = format!(
        "Your key is {KEY}, and {} is not, and {KEY}{KEY} is twice.",
        KEY.trim_end_matches('9')
    );
    let redacted = words.replace(KEY, "[key]");
    for pieces in [1, 2, 7, 40, words.len()] {
        for report in reports_of_all(&Answer::text(&words).pieces(pieces)).await {
            let case = format!("{pieces} {:?}", report.vendor);
            assert_eq!(report.text, redacted, "{case}");
            assert_eq!(report.outcome.unwrap().text, redacted, "{case}");
        }
        let cut = Answer::text(format!("{words} {}", KEY.split_at(9).0));
        for report in reports_of_all(&cut.pieces(pieces).without_finish()).await {
            let case = format!("{pieces} {:?}: {}", report.vendor, report.text);
            assert!(!report.text.contains(KEY), "{case}");
            assert_eq!(report.outcome.unwrap_err().partial, report.text, "{case}");
        }
    }
}
