//! Unusual transfers of a valid answer, and the idle timeout.

use std::time::Duration;

use conclave::consultation::protocol::call::FailureClass;
use futures_util::future::join_all;

use super::{
    ALL_VENDORS, CallReport, Partial, SHORT_TIMEOUT, STREAMING_VENDORS, all_answer,
    assert_all_answered, assert_all_failed, good, reports_of_all, reports_within,
};
use crate::support::provider_server::{Answer, Damage};

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
        all_answer(&ALL_VENDORS, what, answer).await;
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
        all_answer(&STREAMING_VENDORS, what, answer).await;
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
            Partial::Nothing,
        ),
        (
            "before the first byte",
            good().silence(long),
            FailureClass::Timeout,
            Partial::Nothing,
        ),
        (
            "inside the first event",
            good().stall_after(20),
            FailureClass::Timeout,
            Partial::Nothing,
        ),
        (
            "between two events",
            good().stall(),
            FailureClass::Interrupted,
            Partial::Some,
        ),
    ];
    // Side by side, because each is waited for.
    join_all(
        cases
            .into_iter()
            .map(|(what, answer, class, partial)| async move {
                assert_all_failed(
                    what,
                    reports_within(SHORT_TIMEOUT, &ALL_VENDORS, &answer).await,
                    class,
                    "sent nothing for 2 s",
                    partial,
                );
            }),
    )
    .await;
}

#[tokio::test]
async fn comments_reset_the_idle_timeout() {
    // Longer than a busy machine pauses.
    let timeout = Duration::from_secs(2);
    let answer = good().silence(timeout * 2).keep_alive(timeout / 10);
    assert_all_answered(
        "comments",
        reports_within(timeout, &STREAMING_VENDORS, &answer).await,
    );
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
