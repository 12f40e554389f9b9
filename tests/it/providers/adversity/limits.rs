//! Servers that never stop sending: reading stops at a limit, and the connection is closed.

use conclave::consultation::protocol::call::{Failure, FailureClass, StopReason};
use conclave::domain::cost::tokens::UsageSource;
use conclave::providers::dialects::partial_reply::MAX_TEXT_BYTES;
use conclave::providers::wire::sse;

use super::text_of;
use crate::providers::{call, cloud, failure, settled, usual};
use crate::support::provider_server::{Answer, On, ProviderServer, Vendor};

/// Returns the bytes that the operating system may buffer on both ends before they are read, and
/// those in the buffers of the server.
fn in_transit() -> u64 {
    let most = |end: &str| {
        let limits = std::fs::read_to_string(format!("/proc/sys/net/ipv4/tcp_{end}")).ok()?;
        limits.split_whitespace().last()?.parse().ok()
    };
    let ends = ["rmem", "wmem"].map(|end| most(end).unwrap_or(7 * 1024 * 1024));
    ends.iter().sum::<u64>() + 2 * 1024 * 1024
}

const MAX_BODY_BYTES: u64 = 64 * 1024 * 1024;

/// Makes a call that must end after this many bytes, and returns its failure.
async fn flood(vendor: Vendor, answer: Answer, limit: u64) -> Failure {
    let server = ProviderServer::start();
    server.on(On::any(), answer);
    let failure = failure(vendor, &server).await;
    settled(&server).await;
    let sent = server.requests()[0].sent;
    assert!(sent < limit + in_transit(), "{vendor:?} {sent}");
    failure
}

fn endless(start: &str, repeated: impl Into<Vec<u8>>) -> Answer {
    Answer::endless(200, "text/event-stream", start, repeated.into())
}

#[tokio::test]
async fn an_endless_line_or_event_is_abandoned() {
    let text = "x".repeat(65_536);
    let cases = [
        (Vendor::Anthropic, endless("data: ", text.as_str())),
        (Vendor::OpenRouter, endless("data: ", text.as_str())),
        (Vendor::Google, endless("data: ", text.as_str())),
        (Vendor::OpenAi, endless("", format!("data: {text}\n"))),
    ];
    for (vendor, answer) in cases {
        let failure = flood(vendor, answer, sse::MAX_EVENT_BYTES as u64).await;
        assert_eq!(failure.class, FailureClass::Malformed, "{vendor:?}");
        let message = "an event of the stream is larger than 16777216 bytes";
        assert_eq!(failure.message, message, "{vendor:?}");
    }
}

#[tokio::test]
async fn a_stream_of_only_keep_alives_is_abandoned() {
    let comments = format!(": {}\n", "x".repeat(1024)).repeat(64);
    let failure = flood(Vendor::OpenRouter, endless("", comments), MAX_BODY_BYTES).await;
    assert_eq!(failure.class, FailureClass::Malformed, "{failure:?}");
    assert!(failure.message.contains("larger than"), "{failure:?}");
}

#[tokio::test]
async fn an_endless_page_is_abandoned() {
    let lines = format!("{}\n", "<br>".repeat(1_000)).repeat(16);
    for (status, limit) in [(200, MAX_BODY_BYTES), (400, 64 * 1024), (502, 64 * 1024)] {
        let page = Answer::endless(status, "text/html", "<html>", lines.as_bytes());
        let message = flood(Vendor::Google, page, limit).await.message;
        assert!(
            (1..600).contains(&message.chars().count()),
            "{status} {message}"
        );
    }
}

#[tokio::test]
async fn an_endless_text_is_abandoned_with_a_bounded_partial() {
    let text = "x".repeat(65_536);
    let piece = format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n");
    let failure = flood(Vendor::Vllm, endless("", piece), MAX_BODY_BYTES).await;
    assert_eq!(
        failure.class,
        FailureClass::Malformed,
        "{}",
        failure.message
    );
    let length = failure.partial.len();
    assert!(length <= MAX_TEXT_BYTES, "{length} bytes of partial text");
}

#[tokio::test]
async fn an_overlong_answer_is_cut_and_counted_whole() {
    // The last character that fits is cut in the middle.
    let text = format!("x{}", "é".repeat(MAX_TEXT_BYTES));
    for vendor in [
        Vendor::Anthropic,
        Vendor::OpenAi,
        Vendor::Google,
        Vendor::Ollama,
    ] {
        let server = ProviderServer::start();
        server.on(On::any(), Answer::text(&text).pieces(50).usage(321, 45));
        let (outcome, deltas) = call(&cloud(vendor, &server), &usual(vendor)).await;
        let reply = outcome.unwrap();
        assert_eq!(reply.stop, StopReason::TooLong, "{vendor:?}");
        assert_eq!(reply.text.len(), MAX_TEXT_BYTES - 1, "{vendor:?}");
        assert!(text.starts_with(&reply.text), "{vendor:?}");
        assert!(text_of(deltas) == reply.text, "{vendor:?}");
        assert_eq!(reply.usage.output, 45, "{vendor:?}");
        assert_eq!(reply.usage.source, UsageSource::Reported, "{vendor:?}");
    }
}
