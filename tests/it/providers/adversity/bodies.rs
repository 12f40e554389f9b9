//! Bodies and heads that are not an answer.

use conclave::consultation::protocol::call::FailureClass;

use super::{
    Partial, STREAMING_VENDORS, all_fail, assert_all_failed, assert_fails, good, outcomes_of_all,
    reports_of,
};
use crate::support::provider_server::{Answer, Damage, Vendor};
use FailureClass::{BadRequest, Empty, Malformed, Overload, Transport};

#[tokio::test]
async fn a_success_without_text_is_an_empty_failure() {
    let words = "without any text";
    all_fail("no text", Answer::text(""), Empty, words, Partial::Nothing).await;
    for (vendor, outcome) in outcomes_of_all(&Answer::text(" \n\t ")).await {
        let case = format!("only blanks, {vendor:?}");
        assert_fails(&case, &outcome.unwrap_err(), Empty, words);
    }
}

const PAGE: &str = "<!DOCTYPE html><html><head><title>Sign in</title></head></html>";
const BEFORE: &str = "the stream ended before any of the answer arrived";

#[tokio::test]
async fn a_body_that_is_no_answer_is_described() {
    let http = |status: u16, kind: &str, body: &str| Answer::http(status, kind, body);
    let gateway = "<html><title>502 Bad Gateway</title></html>";
    let cases = [
        (
            http(200, "text/html; charset=utf-8", PAGE),
            Malformed,
            "text/html; charset=utf-8 instead of",
        ),
        (
            http(200, "application/json", ""),
            Malformed,
            "instead of a stream of events",
        ),
        (
            http(502, "text/html", gateway),
            Overload,
            "502 Bad Gateway (HTTP 502)",
        ),
        (
            http(500, "", ""),
            Overload,
            "HTTP 500 without an explanation",
        ),
        (
            http(307, "", "").header("location", "http://127.0.0.1:9/"),
            BadRequest,
            "check the base URL",
        ),
        (http(301, "", ""), BadRequest, "check the base URL"),
    ];
    for (answer, class, words) in cases {
        all_fail(words, answer, class, words, Partial::Nothing).await;
    }
}

#[tokio::test]
async fn a_success_without_events_or_lines_is_described() {
    let http = |kind: &str, body: &str| Answer::http(200, kind, body);
    let instead = "instead of a stream of events";
    let streamed = [
        (http("", PAGE), Malformed, instead),
        (
            http("application/json", r#"{"odd": true}"#),
            Malformed,
            instead,
        ),
        (Answer::stream(""), Transport, BEFORE),
    ];
    for (answer, class, words) in streamed {
        let reports = reports_of(&STREAMING_VENDORS, &answer).await;
        assert_all_failed(words, reports, class, words, Partial::Nothing);
    }
    let in_lines = [
        (http("", &format!("{PAGE}\n")), "not JSON"),
        (http("application/x-ndjson", ""), "the stream ended before"),
    ];
    for (answer, words) in in_lines {
        let reports = reports_of(&[Vendor::Ollama], &answer).await;
        assert_all_failed(words, reports, Transport, words, Partial::Nothing);
    }
    // Only Chat Completions knows `[DONE]`: elsewhere it is an event that is not JSON.
    let only_an_end = Answer::stream("data: [DONE]\n\n");
    for report in reports_of(&STREAMING_VENDORS, &only_an_end).await {
        let vendor = report.vendor;
        let words = match vendor {
            Vendor::Anthropic | Vendor::Google | Vendor::ChatGpt => "not JSON",
            _ => BEFORE,
        };
        let case = format!("only an end, {vendor:?}");
        assert_fails(&case, &report.outcome.unwrap_err(), Transport, words);
    }
}

#[tokio::test]
async fn unrequested_compression_is_reported() {
    let busy = Answer::http(503, "application/json", r#"{"error": {"message": "busy"}}"#);
    for (what, answer, class) in [
        ("a stream", good(), Malformed),
        ("an error", busy, Overload),
    ] {
        let zipped = answer
            .damaged(Damage::Gzip)
            .header("content-encoding", "gzip");
        all_fail(what, zipped, class, "gzip", Partial::Nothing).await;
    }
}

#[tokio::test]
async fn an_oversized_response_head_is_a_failed_connection() {
    let long = good().header("x-long", &"x".repeat(600_000));
    let many = (0..10_000).fold(good(), |answer, _| answer.header("x-many", "x"));
    for (what, answer) in [("a header of 600 KB", long), ("ten thousand headers", many)] {
        all_fail(what, answer, Transport, "broke", Partial::Nothing).await;
    }
}
