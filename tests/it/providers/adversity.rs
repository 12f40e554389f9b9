//! Servers that misbehave, at every dialect: what must come of each misbehaviour is stated here,
//! case by case.

use std::time::Duration;

use conclave::consultation::protocol::call::{Failure, FailureClass, Outcome, StopReason};
use conclave::domain::tokens::UsageSource;
use conclave::engine::ports::{Delta, Provider};
use futures_util::future::join_all;

use super::{ask, cloud, cloud_with};
use crate::support::provider_server::{
    Answer, Damage, On, ProviderServer, Vendor, listed_model, stream_of,
};

/// Every vendor whose answers are streams of events.
pub(super) const SPEAKERS: [Vendor; 10] = [
    Vendor::Anthropic,
    Vendor::OpenAi,
    Vendor::Google,
    Vendor::Xai,
    Vendor::Mistral,
    Vendor::OpenRouter,
    Vendor::LlamaCpp,
    Vendor::LmStudio,
    Vendor::Vllm,
    Vendor::Custom("mine"),
];

/// Every vendor: those, and one whose answers are lines of JSON.
pub(super) const EVERYONE: [Vendor; 11] = {
    let [a, b, c, d, e, f, g, h, i, j] = SPEAKERS;
    [a, b, c, d, e, f, g, h, i, j, Vendor::Ollama]
};

/// Of no matter where nobody falls silent.
const USUAL: Duration = Duration::from_secs(30);
/// Where a silence has to be waited for.
const SHORT: Duration = Duration::from_millis(600);

const TEXT: &str = "Grüße, 世界! Ein Satz, der in mehreren Stücken kommt.";

fn good() -> Answer {
    Answer::text(TEXT).pieces(6).usage(321, 45)
}

/// What a call brought, and the text that was told on the way.
pub(super) struct CallReport {
    pub(super) vendor: Vendor,
    pub(super) outcome: Outcome,
    pub(super) text: String,
    connected: bool,
    thought: bool,
}

/// Asks every vendor at once.
pub(super) async fn reports_of_all(answer: &Answer) -> Vec<CallReport> {
    reports_of(&EVERYONE, answer).await
}

async fn reports_of(vendors: &[Vendor], answer: &Answer) -> Vec<CallReport> {
    reports_within(USUAL, vendors, answer).await
}

/// Asks these vendors at once, and waits for so long for the next byte of each.
async fn reports_within(idle: Duration, vendors: &[Vendor], answer: &Answer) -> Vec<CallReport> {
    let server = ProviderServer::start();
    server.on(On::any(), answer.clone());
    let server = &server;
    let calls = vendors.iter().map(|vendor| async move {
        let vendor = *vendor;
        let (provider, ask) = (
            cloud_with(vendor, &server.url(), idle),
            ask(vendor, listed_model(vendor)),
        );
        let mut told = Vec::new();
        let outcome = provider.ask(&ask, &mut |delta| told.push(delta)).await;
        let (connected, thought) = (
            told.contains(&Delta::Connected),
            told.contains(&Delta::Thinking),
        );
        let text = told
            .into_iter()
            .filter_map(|delta| {
                if let Delta::Text(text) = delta {
                    Some(text)
                } else {
                    None
                }
            })
            .collect();
        CallReport {
            vendor,
            outcome,
            text,
            connected,
            thought,
        }
    });
    join_all(calls).await
}

/// All of these give the whole answer, with what it used as the provider counted it.
async fn all_answer(vendors: &[Vendor], what: &str, answer: Answer) {
    assert_all_answered(what, reports_of(vendors, &answer).await);
}

fn assert_all_answered(what: &str, told: Vec<CallReport>) {
    for CallReport {
        vendor,
        outcome,
        text,
        ..
    } in told
    {
        let reply = outcome.unwrap_or_else(|failure| panic!("{what}, {vendor:?}: {failure:?}"));
        assert_eq!(
            (reply.text.as_str(), &reply.stop),
            (TEXT, &StopReason::End),
            "{what}, {vendor:?}"
        );
        assert_eq!(text, TEXT, "{what}, {vendor:?}");
        assert_eq!(
            (reply.usage.prompt(), reply.usage.output, reply.usage.source),
            (321, 45, UsageSource::Reported),
            "{what}, {vendor:?}"
        );
    }
}

/// How much of the text must be left of a call that failed.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Left {
    Nothing,
    Some,
    All,
}

/// Everyone fails so, with words that contain these, and keeps what came.
async fn everyone_fails(what: &str, answer: Answer, class: FailureClass, words: &str, left: Left) {
    all_fail(&EVERYONE, what, answer, class, words, left).await;
}

async fn all_fail(
    vendors: &[Vendor],
    what: &str,
    answer: Answer,
    class: FailureClass,
    words: &str,
    left: Left,
) {
    assert_all_failed(what, reports_of(vendors, &answer).await, class, words, left);
}

fn assert_all_failed(
    what: &str,
    told: Vec<CallReport>,
    class: FailureClass,
    words: &str,
    left: Left,
) {
    for CallReport {
        vendor,
        outcome,
        text,
        ..
    } in told
    {
        let failure = outcome.expect_err(&format!("{what}, {vendor:?}"));
        assert_fails(what, vendor, &failure, class, words);
        assert_eq!(
            failure.partial, text,
            "{what}, {vendor:?}: what was told is what is kept"
        );
        match left {
            Left::Nothing => assert_eq!(failure.partial, "", "{what}, {vendor:?}"),
            Left::Some => assert!(
                !text.is_empty() && text.len() < TEXT.len() && TEXT.starts_with(&text),
                "{what}, {vendor:?}: {text}"
            ),
            Left::All => assert_eq!(text, TEXT, "{what}, {vendor:?}"),
        }
        if left == Left::Some {
            let usage = failure
                .usage
                .unwrap_or_else(|| panic!("{what}, {vendor:?}: something was used"));
            assert_eq!(usage.source, UsageSource::Estimated, "{what}, {vendor:?}");
            assert!(
                usage.prompt() > 0 && usage.output > 0,
                "{what}, {vendor:?}: {usage:?}"
            );
        }
    }
}

fn assert_fails(what: &str, vendor: Vendor, failure: &Failure, class: FailureClass, words: &str) {
    assert_eq!(failure.class, class, "{what}, {vendor:?}: {failure:?}");
    assert!(
        failure.message.contains(words),
        "{what}, {vendor:?}: {failure:?}"
    );
    assert!(
        failure.message.chars().count() <= 600 && !failure.message.chars().any(char::is_control),
        "{what}, {vendor:?}: {failure:?}"
    );
}

#[tokio::test]
async fn unusual_but_valid_transfers_give_the_whole_answer() {
    let tenth = Duration::from_millis(100);
    let cases = [
        ("as documented", good()),
        ("a pause before the head", good().delay(tenth)),
        ("a pause before the first byte", good().silence(tenth)),
        ("every byte alone", good().damaged(Damage::InBytes)),
        ("LF", good().damaged(Damage::LineEndings("\n"))),
        ("CRLF", good().damaged(Damage::LineEndings("\r\n"))),
        ("CR", good().damaged(Damage::LineEndings("\r"))),
        (
            "CRLF, byte by byte",
            good()
                .damaged(Damage::LineEndings("\r\n"))
                .damaged(Damage::InBytes),
        ),
        (
            "a byte order mark",
            good().damaged(Damage::Begins(b"\xef\xbb\xbf".to_vec())),
        ),
        (
            "blank lines",
            good().damaged(Damage::Between(b"\n\r\n\r".to_vec())),
        ),
        (
            "no line break at the end",
            good().damaged(Damage::WithoutLastBlankLine),
        ),
        (
            "another content type",
            good().content_type("application/json"),
        ),
        ("no content type", good().content_type("")),
        (
            "an unknown character set",
            good().content_type("text/event-stream; charset=latin-9"),
        ),
        ("an end by closing", good().until_close()),
        (
            "an end by closing, byte by byte",
            good().until_close().damaged(Damage::InBytes),
        ),
    ];
    for (what, answer) in cases {
        all_answer(&EVERYONE, what, answer).await;
    }
}

#[tokio::test]
async fn event_stream_extras_are_ignored() {
    let cases = [
        (
            "a line of garbage",
            good().damaged(Damage::Begins(b"\0\x01\xffgarbage\n\n".to_vec())),
        ),
        (
            "comments",
            good().damaged(Damage::Between(b": still here\n\n".to_vec())),
        ),
        (
            "retry lines",
            good().damaged(Damage::Between(b"retry: 3000\n\n".to_vec())),
        ),
        (
            "numbered events",
            good().damaged(Damage::Between(b"id: 7\n".to_vec())),
        ),
        (
            "events with no data",
            good().damaged(Damage::Between(b"event: ping\n\n".to_vec())),
        ),
        (
            "events with empty data",
            good().damaged(Damage::Between(b"data:\n\ndata\n\n".to_vec())),
        ),
    ];
    for (what, answer) in cases {
        all_answer(&SPEAKERS, what, answer).await;
    }
}

#[tokio::test]
async fn the_idle_timeout_applies_at_every_stage_of_a_reply() {
    let long = Duration::from_secs(60);
    let cases = [
        (
            "before the head",
            good().delay(long),
            FailureClass::Timeout,
            Left::Nothing,
        ),
        (
            "before the first byte",
            good().silence(long),
            FailureClass::Timeout,
            Left::Nothing,
        ),
        (
            "inside the first event",
            good().stall_after(20),
            FailureClass::Timeout,
            Left::Nothing,
        ),
        (
            "between two events",
            good().stall(),
            FailureClass::Interrupted,
            Left::Some,
        ),
    ];
    // Side by side, because each is waited for.
    join_all(
        cases
            .into_iter()
            .map(|(what, answer, class, left)| async move {
                assert_all_failed(
                    what,
                    reports_within(SHORT, &EVERYONE, &answer).await,
                    class,
                    "sent nothing for 0.6 s",
                    left,
                );
            }),
    )
    .await;
}

#[tokio::test]
async fn comments_reset_the_idle_timeout() {
    let answer = good().silence(SHORT * 2).keep_alive(SHORT / 10);
    assert_all_answered("comments", reports_within(SHORT, &SPEAKERS, &answer).await);
}

#[tokio::test]
async fn an_early_end_preserves_the_partial_text() {
    let (nothing, ended) = (
        "the stream ended before anything of an answer had come",
        "the stream ended before the answer was complete",
    );
    let broke = "broke";
    everyone_fails(
        "reset at once",
        good().cut_after(0),
        FailureClass::Transport,
        broke,
        Left::Nothing,
    )
    .await;
    everyone_fails(
        "closed at once",
        good().close_after(0),
        FailureClass::Transport,
        broke,
        Left::Nothing,
    )
    .await;
    everyone_fails(
        "ended at once",
        good().short_after(0),
        FailureClass::Transport,
        nothing,
        Left::Nothing,
    )
    .await;
    everyone_fails(
        "ended by closing at once",
        good().short_after(0).until_close(),
        FailureClass::Transport,
        nothing,
        Left::Nothing,
    )
    .await;
    everyone_fails(
        "reset half way",
        good().cut(),
        FailureClass::Interrupted,
        broke,
        Left::Some,
    )
    .await;
    everyone_fails(
        "ended half way",
        good().short(),
        FailureClass::Interrupted,
        ended,
        Left::Some,
    )
    .await;
    everyone_fails(
        "ended by closing half way",
        good().short().until_close(),
        FailureClass::Interrupted,
        ended,
        Left::Some,
    )
    .await;
}

#[tokio::test]
async fn a_connection_cut_at_any_byte_never_gives_a_complete_answer() {
    for vendor in [
        Vendor::Anthropic,
        Vendor::Mistral,
        Vendor::Google,
        Vendor::Ollama,
    ] {
        let server = ProviderServer::start();
        let client = &cloud(vendor, &server);
        let length = stream_of(vendor, listed_model(vendor), &good()).len();
        let mut calls = Vec::new();
        // As far as to where the end of the answer is said.
        for at in (1..length * 2 / 3).step_by(length / 29) {
            let ends = [
                good().cut_after(at),
                good().close_after(at),
                good().short_after(at),
                good().short_after(at).until_close(),
            ];
            for (how, answer) in ends.into_iter().enumerate() {
                // Each case has a model of its own, so that they can be asked side by side.
                let model = format!("ends-{how}-at-{at}");
                server.on(On::model(&model), answer);
                calls.push(async move {
                    let failure = super::call(client, &ask(vendor, &model))
                        .await
                        .0
                        .unwrap_err();
                    let class = if failure.partial.is_empty() {
                        FailureClass::Transport
                    } else {
                        FailureClass::Interrupted
                    };
                    assert_eq!(failure.class, class, "{vendor:?} {model}: {failure:?}");
                    assert!(
                        TEXT.starts_with(&failure.partial),
                        "{vendor:?} {model}: {failure:?}"
                    );
                });
            }
        }
        assert!(calls.len() > 60, "{} cases", calls.len());
        join_all(calls).await;
    }
}

#[tokio::test]
async fn a_missing_last_event_matters_only_without_a_finish_reason() {
    for CallReport {
        vendor, outcome, ..
    } in reports_of_all(&good().damaged(Damage::WithoutLast(1))).await
    {
        match (vendor, outcome) {
            (Vendor::Anthropic | Vendor::Google | Vendor::Ollama, Err(failure)) => {
                assert_eq!(
                    (failure.class, failure.partial.as_str()),
                    (FailureClass::Interrupted, TEXT),
                    "{vendor:?}"
                );
                let source = if vendor == Vendor::Anthropic {
                    UsageSource::Reported
                } else {
                    UsageSource::Estimated
                };
                assert_eq!(
                    failure.usage.map(|usage| usage.source),
                    Some(source),
                    "{vendor:?}"
                );
            }
            (Vendor::Anthropic | Vendor::Google | Vendor::Ollama, Ok(reply)) => {
                panic!("{vendor:?}: {reply:?}")
            }
            (_, outcome) => {
                let reply = outcome.unwrap();
                assert_eq!(
                    (reply.text.as_str(), reply.usage.output, reply.usage.source),
                    (TEXT, 45, UsageSource::Reported),
                    "{vendor:?}"
                );
            }
        }
    }
}

#[tokio::test]
async fn an_end_without_a_finish_reason_is_an_interruption() {
    let ended = "the stream ended before the answer was complete";
    everyone_fails(
        "no finish reason",
        good().without_finish(),
        FailureClass::Interrupted,
        ended,
        Left::All,
    )
    .await;
}

#[tokio::test]
async fn a_success_without_text_is_an_empty_failure() {
    everyone_fails(
        "no text",
        Answer::text(""),
        FailureClass::Empty,
        "without any text",
        Left::Nothing,
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
            "the stream ended before anything of an answer had come",
        ),
        (
            "only an end",
            Answer::stream("data: [DONE]\n\n"),
            FailureClass::Transport,
            "the stream ended before anything of an answer had come",
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
        if what != "only an end" {
            all_fail(&SPEAKERS, what, answer, class, words, Left::Nothing).await;
            continue;
        }
        for CallReport {
            vendor, outcome, ..
        } in reports_of(&SPEAKERS, &answer).await
        {
            let own = !matches!(vendor, Vendor::Anthropic | Vendor::Google);
            let failure = outcome.unwrap_err();
            assert_eq!(
                failure.class,
                if own { class } else { FailureClass::Malformed },
                "{vendor:?} {failure:?}"
            );
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
            FailureClass::Malformed,
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
        all_fail(&[Vendor::Ollama], what, answer, class, words, Left::Nothing).await;
    }
}

#[tokio::test]
async fn unrequested_compression_is_reported() {
    let zipped = good()
        .damaged(Damage::Gzip)
        .header("content-encoding", "gzip");
    everyone_fails(
        "a zipped stream",
        zipped,
        FailureClass::Malformed,
        "gzip",
        Left::Nothing,
    )
    .await;
    let zipped = Answer::http(503, "application/json", r#"{"error": {"message": "busy"}}"#);
    let zipped = zipped
        .damaged(Damage::Gzip)
        .header("content-encoding", "gzip");
    everyone_fails(
        "a zipped error",
        zipped,
        FailureClass::Overload,
        "gzip",
        Left::Nothing,
    )
    .await;
}

#[tokio::test]
async fn an_oversized_response_head_is_a_failed_connection() {
    let long = good().header("x-long", &"x".repeat(600_000));
    everyone_fails(
        "a header of 600 KB",
        long,
        FailureClass::Transport,
        "broke",
        Left::Nothing,
    )
    .await;
    let many = (0..10_000).fold(good(), |answer, _| answer.header("x-many", "x"));
    everyone_fails(
        "ten thousand headers",
        many,
        FailureClass::Transport,
        "broke",
        Left::Nothing,
    )
    .await;
}

#[tokio::test]
async fn thinking_is_reported_and_counted_but_left_out_of_the_answer() {
    for CallReport {
        vendor,
        outcome,
        text,
        thought,
        ..
    } in reports_of_all(&good().thinking("Hm, 世界?")).await
    {
        let reply = outcome.unwrap_or_else(|failure| panic!("{vendor:?}: {failure:?}"));
        assert_eq!(
            (reply.text.as_str(), text.as_str(), thought),
            (TEXT, TEXT, true),
            "{vendor:?}"
        );
        assert_eq!(
            (reply.usage.output, reply.usage.source),
            (45, UsageSource::Reported),
            "{vendor:?}: however the vendor adds it up"
        );
    }
}

#[tokio::test]
async fn an_event_that_is_not_json_fails_the_call_with_its_partial_text() {
    let torn = good().damaged(Damage::Replaced(b"kommt".to_vec(), b"\"".to_vec()));
    everyone_fails(
        "a torn event",
        torn,
        FailureClass::Malformed,
        "not JSON",
        Left::Some,
    )
    .await;
    let deep = Answer::stream(format!("data: {}\n\n", "[".repeat(100_000)));
    everyone_fails(
        "brackets without end",
        deep,
        FailureClass::Malformed,
        "not JSON",
        Left::Nothing,
    )
    .await;
}

#[tokio::test]
async fn invalid_utf8_is_replaced_and_the_rest_preserved() {
    for CallReport {
        vendor, outcome, ..
    } in reports_of_all(&good().damaged(Damage::Replaced("世".into(), b"\xff".to_vec()))).await
    {
        assert_eq!(
            outcome.unwrap().text,
            TEXT.replace('世', "\u{fffd}"),
            "{vendor:?}"
        );
    }
}

#[tokio::test]
async fn duplicate_events_are_counted_once() {
    for CallReport {
        vendor, outcome, ..
    } in reports_of_all(&good().damaged(Damage::Doubled)).await
    {
        let reply = outcome.unwrap();
        assert_eq!(
            (reply.usage.prompt(), reply.usage.output),
            (321, 45),
            "{vendor:?}"
        );
        assert_eq!(reply.stop, StopReason::End);
    }
}

#[tokio::test]
async fn impossible_token_counts_are_replaced_by_estimates() {
    for count in ["-1", "1e400", "\"many\"", "0", "null"] {
        let odd = good().damaged(Damage::Replaced(
            b":321,".to_vec(),
            format!(":{count},").into_bytes(),
        ));
        for CallReport {
            vendor, outcome, ..
        } in reports_of_all(&odd).await
        {
            match outcome {
                Ok(reply) => {
                    assert_eq!(
                        reply.usage.source,
                        UsageSource::Estimated,
                        "{count} {vendor:?} {:?}",
                        reply.usage
                    );
                    assert!(
                        (1..1_000).contains(&reply.usage.prompt()),
                        "{count} {vendor:?} {:?}",
                        reply.usage
                    );
                }
                // No JSON number is that large.
                Err(failure) => assert_eq!(
                    (count, failure.class),
                    ("1e400", FailureClass::Malformed),
                    "{vendor:?} {failure:?}"
                ),
            }
        }
    }
}

#[tokio::test]
async fn the_reply_names_the_model_that_answered() {
    for CallReport {
        vendor, outcome, ..
    } in reports_of_all(&good().served("another-model")).await
    {
        assert_eq!(
            outcome.unwrap().served_model.as_deref(),
            Some("another-model"),
            "{vendor:?}"
        );
    }
}

#[tokio::test]
async fn a_connection_is_reported_only_when_the_request_is_accepted() {
    for CallReport {
        vendor, connected, ..
    } in reports_of_all(&good().short_after(0)).await
    {
        assert!(connected, "{vendor:?}");
    }
    for CallReport {
        vendor, connected, ..
    } in reports_of_all(&Answer::error(503, "overloaded", "busy")).await
    {
        assert!(!connected, "{vendor:?}");
    }
}
