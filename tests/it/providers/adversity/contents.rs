//! Streams whose events are odd, damaged or repeated.

use conclave::consultation::protocol::call::{FailureClass, StopReason};
use conclave::domain::cost::tokens::UsageSource;

use super::{Partial, TEXT, all_fail, good, outcomes_of_all, reports_of, reports_of_all};
use crate::support::provider_server::{Answer, Damage, Vendor};

#[tokio::test]
async fn thinking_is_reported_and_counted_but_left_out_of_the_answer() {
    for report in reports_of_all(&good().thinking("Hm, 世界?")).await {
        let (vendor, reply) = (report.vendor, report.outcome.unwrap());
        assert_eq!(reply.text, TEXT, "{vendor:?}");
        assert_eq!(report.text, TEXT, "{vendor:?}");
        assert!(report.thought, "{vendor:?}");
        // However the vendor adds it up.
        assert_eq!(reply.usage.output, 45, "{vendor:?}");
        assert_eq!(reply.usage.source, UsageSource::Reported, "{vendor:?}");
    }
}

#[tokio::test]
async fn an_answer_without_thinking_reports_none() {
    for report in reports_of(&[Vendor::OpenAi, Vendor::Ollama], &good()).await {
        assert!(!report.thought, "{:?}", report.vendor);
    }
}

#[tokio::test]
async fn an_event_that_is_not_json_is_a_broken_connection() {
    use FailureClass::{Interrupted, Transport};
    let torn = good().damaged(Damage::Replaced(b"kommt".to_vec(), b"\"".to_vec()));
    all_fail("a torn event", torn, Interrupted, "not JSON", Partial::Some).await;
    let deep = Answer::stream(format!("data: {}\n\n", "[".repeat(100_000)));
    all_fail(
        "brackets without end",
        deep,
        Transport,
        "not JSON",
        Partial::Nothing,
    )
    .await;
}

#[tokio::test]
async fn invalid_utf8_is_replaced_and_the_rest_preserved() {
    let damaged = good().damaged(Damage::Replaced("世".into(), b"\xff".to_vec()));
    for (vendor, outcome) in outcomes_of_all(&damaged).await {
        let text = outcome.unwrap().text;
        assert_eq!(text, TEXT.replace('世', "\u{fffd}"), "{vendor:?}");
    }
}

#[tokio::test]
async fn duplicate_events_are_counted_once() {
    for (vendor, outcome) in outcomes_of_all(&good().damaged(Damage::Doubled)).await {
        let reply = outcome.unwrap();
        assert_eq!(reply.usage.prompt(), 321, "{vendor:?}");
        assert_eq!(reply.usage.output, 45, "{vendor:?}");
        assert_eq!(reply.stop, StopReason::End);
    }
}

#[tokio::test]
async fn impossible_token_counts_are_replaced_by_estimates() {
    for count in ["-1", "1e400", "\"many\"", "0", "null"] {
        let (known, odd) = (b":321,".to_vec(), format!(":{count},").into_bytes());
        let answer = good().damaged(Damage::Replaced(known, odd));
        for (vendor, outcome) in outcomes_of_all(&answer).await {
            let case = format!("{count} {vendor:?} {outcome:?}");
            match outcome {
                Ok(reply) => {
                    assert_eq!(reply.usage.source, UsageSource::Estimated, "{case}");
                    assert!((1..1_000).contains(&reply.usage.prompt()), "{case}");
                }
                // No JSON number is that large.
                Err(failure) => {
                    assert_eq!(count, "1e400", "{case}");
                    let class = if failure.partial.is_empty() {
                        FailureClass::Transport
                    } else {
                        FailureClass::Interrupted
                    };
                    assert_eq!(failure.class, class, "{case}");
                }
            }
        }
    }
}

#[tokio::test]
async fn the_reply_names_the_model_that_answered() {
    for (vendor, outcome) in outcomes_of_all(&good().served("another-model")).await {
        let served = outcome.unwrap().served_model;
        assert_eq!(served.as_deref(), Some("another-model"), "{vendor:?}");
    }
}
