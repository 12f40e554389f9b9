//! Servers that never stop sending: reading stops at a limit, and the connection is closed.

use conclave::consultation::protocol::call::{Failure, FailureClass, StopReason};
use conclave::domain::tokens::UsageSource;
use conclave::engine::ports::{Delta, Provider};
use conclave::providers::partial_reply::MAX_TEXT_BYTES;
use conclave::providers::sse;

use super::{ask, cloud, settled};
use crate::support::provider_server::{Answer, On, ProviderServer, Vendor, listed_model};
use crate::support::timeout::in_time;

/// Bytes that the operating system buffers on both ends before they are read.
const IN_TRANSIT: u64 = 16 * 1024 * 1024;

/// Makes a call, and returns its failure with the bytes that the server could send.
async fn flood(vendor: Vendor, answer: Answer) -> (Failure, u64) {
    let server = ProviderServer::start();
    server.on(On::any(), answer);
    let (provider, ask) = (cloud(vendor, &server), ask(vendor, listed_model(vendor)));
    let mut on = |_| {};
    let outcome = in_time("the end of reading", provider.ask(&ask, &mut on)).await;
    let failure = outcome.unwrap_err();
    settled(&server).await;
    (failure, server.requests()[0].sent)
}

const ALL: [Vendor; 3] = [Vendor::Anthropic, Vendor::OpenRouter, Vendor::Google];

#[tokio::test]
async fn an_endless_line_is_abandoned() {
    for vendor in ALL {
        let (failure, sent) = flood(
            vendor,
            Answer::endless(200, "text/event-stream", "data: ", vec![b'x'; 65_536]),
        )
        .await;
        assert_eq!(
            failure.class,
            FailureClass::Malformed,
            "{vendor:?} {failure:?}"
        );
        assert!(
            failure.message.contains("larger than 16777216 bytes"),
            "{failure:?}"
        );
        assert!(
            sent < sse::MAX_EVENT_BYTES as u64 + IN_TRANSIT,
            "{vendor:?} {sent}"
        );
    }
}

#[tokio::test]
async fn an_endless_event_is_abandoned() {
    let line = format!("data: {}\n", "x".repeat(65_536));
    let (failure, sent) = flood(
        Vendor::OpenAi,
        Answer::endless(200, "text/event-stream", "", line),
    )
    .await;
    assert_eq!(failure.class, FailureClass::Malformed, "{failure:?}");
    assert!(sent < sse::MAX_EVENT_BYTES as u64 + IN_TRANSIT, "{sent}");
}

#[tokio::test]
async fn a_stream_of_only_keep_alives_is_abandoned() {
    let comments = format!(": {}\n", "x".repeat(1024)).repeat(64);
    let (failure, sent) = flood(
        Vendor::OpenRouter,
        Answer::endless(200, "text/event-stream", "", comments),
    )
    .await;
    assert_eq!(failure.class, FailureClass::Malformed, "{failure:?}");
    assert!(failure.message.contains("larger than"), "{failure:?}");
    assert!(sent < 64 * 1024 * 1024 + IN_TRANSIT, "{sent}");
}

#[tokio::test]
async fn an_endless_page_is_abandoned() {
    let lines = format!("{}\n", "<br>".repeat(1_000)).repeat(16);
    for status in [200, 400, 502] {
        let (failure, sent) = flood(
            Vendor::Google,
            Answer::endless(status, "text/html", "<html>", lines.as_bytes()),
        )
        .await;
        assert!(
            !failure.message.is_empty() && failure.message.chars().count() < 600,
            "{status} {failure:?}"
        );
        let limit = if status == 200 {
            64 * 1024 * 1024
        } else {
            64 * 1024
        };
        assert!(sent < limit + IN_TRANSIT, "{status} {sent}");
    }
}

#[tokio::test]
async fn an_endless_text_is_abandoned_with_a_bounded_partial() {
    let piece = format!(
        "data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{}\"}}}}]}}\n\n",
        "x".repeat(65_536)
    );
    let (failure, sent) = flood(
        Vendor::Vllm,
        Answer::endless(200, "text/event-stream", "", piece),
    )
    .await;
    assert_eq!(
        failure.class,
        FailureClass::Malformed,
        "{:?} {}",
        failure.class,
        failure.message
    );
    assert!(sent < 64 * 1024 * 1024 + IN_TRANSIT, "{sent}");
    assert!(
        failure.partial.len() <= MAX_TEXT_BYTES,
        "{} bytes of partial text",
        failure.partial.len()
    );
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
        let (provider, ask) = (cloud(vendor, &server), ask(vendor, listed_model(vendor)));
        let mut shown = String::new();
        let mut on = |delta| {
            if let Delta::Text(piece) = delta {
                shown.push_str(&piece);
            }
        };
        let outcome = in_time("the end of the call", provider.ask(&ask, &mut on)).await;
        let reply = outcome.unwrap();
        assert_eq!(reply.stop, StopReason::TooLong, "{vendor:?}");
        assert_eq!(reply.text.len(), MAX_TEXT_BYTES - 1, "{vendor:?}");
        assert!(text.starts_with(&reply.text), "{vendor:?}");
        assert!(shown == reply.text, "{vendor:?}");
        assert_eq!(reply.usage.output, 45, "{vendor:?}");
        assert_eq!(reply.usage.source, UsageSource::Reported, "{vendor:?}");
    }
}
