//! Streams whose events are odd, damaged or repeated.

use conclave::consultation::protocol::call::{FailureClass, StopReason};
use conclave::domain::tokens::UsageSource;

use super::{CallReport, Partial, TEXT, all_vendors_fail, good, reports_of_all};
use crate::support::provider_server::{Answer, Damage};

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
        assert_eq!(reply.text.as_str(), TEXT, "{vendor:?}");
        assert_eq!(text.as_str(), TEXT, "{vendor:?}");
        assert!(thought, "{vendor:?}");
        assert_eq!(
            reply.usage.output, 45,
            "{vendor:?}: however the vendor adds it up"
        );
        assert_eq!(
            reply.usage.source,
            UsageSource::Reported,
            "{vendor:?}: however the vendor adds it up"
        );
    }
}

#[tokio::test]
async fn an_event_that_is_not_json_is_a_broken_connection() {
    let torn = good().damaged(Damage::Replaced(b"kommt".to_vec(), b"\"".to_vec()));
    all_vendors_fail(
        "a torn event",
        torn,
        FailureClass::Interrupted,
        "not JSON",
        Partial::Some,
    )
    .await;
    let deep = Answer::stream(format!("data: {}\n\n", "[".repeat(100_000)));
    all_vendors_fail(
        "brackets without end",
        deep,
        FailureClass::Transport,
        "not JSON",
        Partial::Nothing,
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
        assert_eq!(reply.usage.prompt(), 321, "{vendor:?}");
        assert_eq!(reply.usage.output, 45, "{vendor:?}");
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
                Err(failure) => {
                    assert_eq!(count, "1e400", "{vendor:?} {failure:?}");
                    let class = if failure.partial.is_empty() {
                        FailureClass::Transport
                    } else {
                        FailureClass::Interrupted
                    };
                    assert_eq!(failure.class, class, "{vendor:?} {failure:?}");
                }
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
