//! Unusual transfers of a valid answer, and the idle timeout.

use std::time::Duration;

use conclave::consultation::protocol::call::FailureClass;
use futures_util::future::join_all;

use super::{
    ALL_VENDORS, Partial, SHORT_TIMEOUT, STREAMING_VENDORS, all_answer, assert_all_answered,
    assert_all_failed, good, reports_of_all, reports_within,
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
    ];
    let in_bytes = |answer: Answer| answer.damaged(Damage::InBytes);
    let crlf = good().damaged(Damage::LineEndings("\r\n"));
    all_answer(&ALL_VENDORS, "CRLF, byte by byte", in_bytes(crlf)).await;
    all_answer(
        &ALL_VENDORS,
        "an end by closing, byte by byte",
        in_bytes(good().until_close()),
    )
    .await;
    for (what, answer) in cases {
        all_answer(&ALL_VENDORS, what, answer).await;
    }
}

#[tokio::test]
async fn event_stream_extras_are_ignored() {
    let garbage = Damage::Begins(b"\0\x01\xffgarbage\n\n".to_vec());
    all_answer(
        &STREAMING_VENDORS,
        "a line of garbage",
        good().damaged(garbage),
    )
    .await;
    for extra in [
        ": a comment\n\n",
        "retry: 3000\n\n",
        "id: 7\n",
        "event: without data\n\n",
        "data:\n\ndata\n\n",
    ] {
        let answer = good().damaged(Damage::Between(extra.into()));
        all_answer(&STREAMING_VENDORS, extra, answer).await;
    }
}

#[tokio::test]
async fn the_idle_timeout_applies_at_every_stage_of_a_reply() {
    use FailureClass::{Interrupted, Timeout};
    let long = Duration::from_secs(60);
    let cases = [
        (
            "before the head",
            good().delay(long),
            Timeout,
            Partial::Nothing,
        ),
        (
            "before the first byte",
            good().silence(long),
            Timeout,
            Partial::Nothing,
        ),
        (
            "inside the first event",
            good().stall_after(20),
            Timeout,
            Partial::Nothing,
        ),
        (
            "between two events",
            good().stall(),
            Interrupted,
            Partial::Some,
        ),
    ];
    // Side by side, because each is waited for.
    let calls = cases.map(|(what, answer, class, partial)| async move {
        let reports = reports_within(SHORT_TIMEOUT, &ALL_VENDORS, &answer).await;
        assert_all_failed(what, reports, class, "sent nothing for 1 s", partial);
    });
    join_all(calls).await;
}

#[tokio::test]
async fn comments_reset_the_idle_timeout() {
    let timeout = SHORT_TIMEOUT;
    let answer = good().silence(timeout * 5 / 4).keep_alive(timeout / 10);
    let reports = reports_within(timeout, &STREAMING_VENDORS, &answer).await;
    assert_all_answered("comments", reports);
}

#[tokio::test]
async fn a_connection_is_reported_only_when_the_request_is_accepted() {
    for report in reports_of_all(&good().short_after(0)).await {
        assert!(report.connected, "{:?}", report.vendor);
    }
    for report in reports_of_all(&Answer::error(503, "overloaded", "busy")).await {
        assert!(!report.connected, "{:?}", report.vendor);
    }
}
