//! Error responses in each vendor's own shape: their class, and the provider's message.

use std::time::Duration;

use conclave::consultation::protocol::call::FailureClass;

use super::adversity::{CallReport, reports_of_all};
use super::{KEY, ask, call, cloud};
use crate::support::provider_server::{Answer, On, ProviderServer, Vendor, listed_model};

#[tokio::test]
async fn the_status_sets_the_class_and_the_message_is_preserved() {
    use FailureClass::{Auth, BadRequest, Billing, Context, ModelMissing, Overload};
    let cases = [
        (400, "invalid_request_error", BadRequest),
        (401, "authentication_error", Auth),
        (402, "billing_error", Billing),
        (403, "permission_error", Auth),
        (404, "not_found_error", ModelMissing),
        (408, "timeout", Overload),
        (413, "request_too_large", Context),
        (422, "invalid_request_error", BadRequest),
        (500, "api_error", Overload),
        (502, "api_error", Overload),
        (503, "unavailable", Overload),
        (504, "timeout_error", Overload),
        (524, "timeout", Overload),
        (529, "overloaded_error", Overload),
    ];
    for (status, code, class) in cases {
        for CallReport {
            vendor, outcome, ..
        } in reports_of_all(&Answer::error(status, code, "the provider's words")).await
        {
            let failure = outcome.unwrap_err();
            assert_eq!(failure.class, class, "{status} {vendor:?} {failure:?}");
            let message = &failure.message;
            assert!(
                message.starts_with("the provider's words"),
                "{status} {vendor:?} {message}"
            );
            assert!(
                message.contains(&format!("(HTTP {status})")),
                "{status} {vendor:?} {message}"
            );
            assert_eq!(failure.usage, None, "{status} {vendor:?}");
            assert_eq!(failure.partial.as_str(), "", "{status} {vendor:?}");
        }
    }
}

#[tokio::test]
async fn a_retry_hint_is_read_from_every_vendor() {
    let busy = Answer::error(503, "overloaded", "busy").header("retry-after", "7");
    for CallReport {
        vendor, outcome, ..
    } in reports_of_all(&busy).await
    {
        assert_eq!(
            outcome.unwrap_err().retry_after,
            Some(Duration::from_secs(7)),
            "{vendor:?}"
        );
    }
}

/// Errors as their vendors send them after a success was announced, in a stream and in a plain
/// body.
#[tokio::test]
async fn an_error_inside_a_success_preserves_the_message() {
    let shapes = [
        (
            Vendor::Anthropic,
            r#"{"type":"error","error":{"type":"overloaded_error","message":"the provider's words"}}"#,
        ),
        (
            Vendor::OpenAi,
            r#"{"error":{"message":"the provider's words","type":"server_error","param":null,"code":"server_error"}}"#,
        ),
        (
            Vendor::Google,
            r#"{"error":{"code":503,"message":"the provider's words","status":"UNAVAILABLE"}}"#,
        ),
        (
            Vendor::Xai,
            r#"{"code":"unavailable","error":"the provider's words"}"#,
        ),
        (
            Vendor::Mistral,
            r#"{"object":"error","message":"the provider's words","type":"server_error","param":null,"code":"3000"}"#,
        ),
        (
            Vendor::OpenRouter,
            r#"{"id":"gen-1","error":{"code":502,"message":"the provider's words"},"choices":[]}"#,
        ),
        (Vendor::Ollama, r#"{"error":"the provider's words"}"#),
        (
            Vendor::LlamaCpp,
            r#"{"error":{"code":503,"message":"the provider's words","type":"unavailable_error"}}"#,
        ),
        (Vendor::LmStudio, r#"{"error":"the provider's words"}"#),
        (
            Vendor::Vllm,
            r#"{"object":"error","message":"the provider's words","type":"InternalServerError","param":null,"code":500}"#,
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
        for (place, answer) in ["in a stream", "in a plain body"].into_iter().zip(answers) {
            let server = ProviderServer::start();
            server.on(On::any(), answer);
            let failure = call(&cloud(vendor, &server), &ask(vendor, listed_model(vendor)))
                .await
                .0
                .unwrap_err();
            assert_eq!(failure.class, FailureClass::Overload, "{place} {vendor:?}");
            assert_eq!(
                failure.message.as_str(),
                "the provider's words",
                "{place} {vendor:?}"
            );
        }
    }
}

#[tokio::test]
async fn a_key_in_an_error_is_redacted_in_every_shape() {
    let words = format!("no account for {KEY}");
    for status in [400, 401, 403, 429, 500] {
        for CallReport {
            vendor, outcome, ..
        } in reports_of_all(&Answer::error(status, "error", &words)).await
        {
            let failure = outcome.unwrap_err();
            assert!(
                failure.message.starts_with("no account for [key]"),
                "{vendor:?} {failure:?}"
            );
            assert!(
                !format!("{failure:?}").contains(KEY),
                "{vendor:?} {failure:?}"
            );
        }
    }
}

#[tokio::test]
async fn a_key_sent_as_the_answer_is_redacted() {
    for content_type in [
        "text/html",
        "text/event-stream",
        "application/json",
        &format!("text/{KEY}"),
    ] {
        for CallReport {
            vendor, outcome, ..
        } in reports_of_all(&Answer::http(200, content_type, format!("<p>{KEY}</p>"))).await
        {
            assert!(
                !format!("{:?}", outcome.unwrap_err()).contains(KEY),
                "{content_type} {vendor:?}"
            );
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
        for CallReport {
            vendor,
            outcome,
            text,
            ..
        } in reports_of_all(&Answer::text(&words).pieces(pieces)).await
        {
            assert_eq!(text.as_str(), redacted.as_str(), "{pieces} {vendor:?}");
            assert_eq!(
                outcome.unwrap().text.as_str(),
                redacted.as_str(),
                "{pieces} {vendor:?}"
            );
        }
        let cut = Answer::text(format!("{words} {}", KEY.split_at(9).0))
            .pieces(pieces)
            .without_finish();
        for CallReport {
            vendor,
            outcome,
            text,
            ..
        } in reports_of_all(&cut).await
        {
            assert!(
                !text.contains(KEY) && outcome.unwrap_err().partial == text,
                "{pieces} {vendor:?}: {text}"
            );
        }
    }
}
