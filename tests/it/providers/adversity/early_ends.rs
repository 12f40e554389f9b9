//! Streams that end early, and the text that a failed call saves.

use conclave::consultation::protocol::call::FailureClass;
use conclave::domain::cost::tokens::UsageSource;

use super::{Partial, TEXT, all_fail, good, outcomes_of_all};
use crate::support::provider_server::{Damage, Vendor};
use FailureClass::{Interrupted, Transport};

#[tokio::test]
async fn an_early_end_preserves_the_partial_text() {
    let before = "the stream ended before any of the answer arrived";
    let ended = "the stream ended before the answer was complete";
    let at_once = [
        ("reset", good().cut_after(0), "broke"),
        ("closed", good().close_after(0), "broke"),
        ("ended", good().short_after(0), before),
        (
            "ended by closing",
            good().short_after(0).until_close(),
            before,
        ),
    ];
    for (what, answer, words) in at_once {
        all_fail(what, answer, Transport, words, Partial::Nothing).await;
    }
    let half_way = [
        ("reset half way", good().cut(), "broke"),
        ("ended half way", good().short(), ended),
        (
            "ended by closing half way",
            good().short().until_close(),
            ended,
        ),
    ];
    for (what, answer, words) in half_way {
        all_fail(what, answer, Interrupted, words, Partial::Some).await;
    }
    let unfinished = good().without_finish();
    all_fail(
        "no finish reason",
        unfinished,
        Interrupted,
        ended,
        Partial::All,
    )
    .await;
}

#[tokio::test]
async fn a_missing_last_event_matters_only_without_a_finish_reason() {
    for (vendor, outcome) in outcomes_of_all(&good().damaged(Damage::WithoutLast(1))).await {
        let ends = [
            Vendor::Anthropic,
            Vendor::Google,
            Vendor::ChatGpt,
            Vendor::Ollama,
        ];
        if ends.contains(&vendor) {
            let failure = outcome.unwrap_err();
            assert_eq!(failure.class, Interrupted, "{vendor:?}");
            assert_eq!(failure.partial, TEXT, "{vendor:?}");
            let source = match vendor {
                Vendor::Anthropic => UsageSource::Reported,
                _ => UsageSource::Estimated,
            };
            assert_eq!(failure.usage.unwrap().source, source, "{vendor:?}");
        } else {
            let reply = outcome.unwrap();
            assert_eq!(reply.text, TEXT, "{vendor:?}");
            assert_eq!(reply.usage.output, 45, "{vendor:?}");
            assert_eq!(reply.usage.source, UsageSource::Reported, "{vendor:?}");
        }
    }
}
