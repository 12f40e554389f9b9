//! Bodies and heads that are not an answer.

use conclave::consultation::protocol::call::FailureClass;

use super::{
    CallReport, Partial, STREAMING_VENDORS, all_fail, all_vendors_fail, assert_fails, good,
    reports_of, reports_of_all,
};
use crate::support::provider_server::{Answer, Damage, Vendor};

#[tokio::test]
async fn a_success_without_text_is_an_empty_failure() {
    all_vendors_fail(
        "no text",
        Answer::text(""),
        FailureClass::Empty,
        "without any text",
        Partial::Nothing,
    )
    .await;
    for CallReport {
        vendor, outcome, ..
    } in reports_of_all(&Answer::text(" \n\t ")).await
    {
        assert_fails(
            "only blanks",
            vendor,
            &outcome.unwrap_err(),
            FailureClass::Empty,
            "without any text",
        );
    }
}

#[tokio::test]
async fn a_body_that_is_not_an_event_stream_is_described() {
    let page = "<!DOCTYPE html><html><head><title>Sign in</title></head></html>";
    let instead = "instead of a stream of events";
    let cases = [
        (
            "a page",
            Answer::http(200, "text/html; charset=utf-8", page),
            FailureClass::Malformed,
            "text/html",
        ),
        (
            "a page without a type",
            Answer::http(200, "", page),
            FailureClass::Malformed,
            instead,
        ),
        (
            "JSON",
            Answer::http(200, "application/json", r#"{"odd": true}"#),
            FailureClass::Malformed,
            instead,
        ),
        (
            "nothing",
            Answer::http(200, "application/json", ""),
            FailureClass::Malformed,
            instead,
        ),
        (
            "an empty stream",
            Answer::stream(""),
            FailureClass::Transport,
            "the stream ended before any of the answer arrived",
        ),
        (
            "only an end",
            Answer::stream("data: [DONE]\n\n"),
            FailureClass::Transport,
            "the stream ended before any of the answer arrived",
        ),
        (
            "a gateway's page",
            Answer::http(
                502,
                "text/html",
                "<html><title>502 Bad Gateway</title></html>",
            ),
            FailureClass::Overload,
            "502 Bad Gateway (HTTP 502)",
        ),
        (
            "no words at all",
            Answer::http(500, "", ""),
            FailureClass::Overload,
            "HTTP 500 without an explanation",
        ),
        (
            "a redirect",
            Answer::http(307, "", "").header("location", "http://127.0.0.1:9/"),
            FailureClass::BadRequest,
            "check the base URL",
        ),
        (
            "a redirect to nowhere",
            Answer::http(301, "", ""),
            FailureClass::BadRequest,
            "check the base URL",
        ),
    ];
    for (what, answer, class, words) in cases {
        // Only Chat Completions knows `[DONE]`: elsewhere it is an event that is not JSON.
        let own = |vendor| !matches!(vendor, Vendor::Anthropic | Vendor::Google);
        for CallReport {
            vendor, outcome, ..
        } in reports_of(&STREAMING_VENDORS, &answer).await
        {
            let words = if what == "only an end" && !own(vendor) {
                "not JSON"
            } else {
                words
            };
            assert_fails(what, vendor, &outcome.unwrap_err(), class, words);
        }
    }
}

#[tokio::test]
async fn a_body_that_is_not_json_lines_is_described() {
    let page = "<!DOCTYPE html>\n<html></html>\n";
    let cases = [
        (
            "a page",
            Answer::http(200, "text/html", page),
            FailureClass::Malformed,
            "text/html instead of",
        ),
        (
            "a page without a type",
            Answer::http(200, "", page),
            FailureClass::Transport,
            "not JSON",
        ),
        (
            "nothing",
            Answer::http(200, "application/json", ""),
            FailureClass::Malformed,
            "instead of",
        ),
        (
            "no line",
            Answer::http(200, "application/x-ndjson", ""),
            FailureClass::Transport,
            "the stream ended before",
        ),
        (
            "a gateway's page",
            Answer::http(
                502,
                "text/html",
                "<html><title>502 Bad Gateway</title></html>",
            ),
            FailureClass::Overload,
            "502 Bad Gateway (HTTP 502)",
        ),
        (
            "a redirect",
            Answer::http(307, "", "").header("location", "http://127.0.0.1:9/"),
            FailureClass::BadRequest,
            "check the base URL",
        ),
    ];
    for (what, answer, class, words) in cases {
        all_fail(
            &[Vendor::Ollama],
            what,
            answer,
            class,
            words,
            Partial::Nothing,
        )
        .await;
    }
}

#[tokio::test]
async fn unrequested_compression_is_reported() {
    let zipped = good()
        .damaged(Damage::Gzip)
        .header("content-encoding", "gzip");
    all_vendors_fail(
        "a zipped stream",
        zipped,
        FailureClass::Malformed,
        "gzip",
        Partial::Nothing,
    )
    .await;
    let zipped = Answer::http(503, "application/json", r#"{"error": {"message": "busy"}}"#);
    let zipped = zipped
        .damaged(Damage::Gzip)
        .header("content-encoding", "gzip");
    all_vendors_fail(
        "a zipped error",
        zipped,
        FailureClass::Overload,
        "gzip",
        Partial::Nothing,
    )
    .await;
}

#[tokio::test]
async fn an_oversized_response_head_is_a_failed_connection() {
    let long = good().header("x-long", &"x".repeat(600_000));
    all_vendors_fail(
        "a header of 600 KB",
        long,
        FailureClass::Transport,
        "broke",
        Partial::Nothing,
    )
    .await;
    let many = (0..10_000).fold(good(), |answer, _| answer.header("x-many", "x"));
    all_vendors_fail(
        "ten thousand headers",
        many,
        FailureClass::Transport,
        "broke",
        Partial::Nothing,
    )
    .await;
}
