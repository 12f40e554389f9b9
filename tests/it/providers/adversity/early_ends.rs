//! Streams that end early, and the text that a failed call saves.

use conclave::consultation::protocol::call::FailureClass;
use conclave::domain::tokens::UsageSource;
use futures_util::future::join_all;

use super::{CallReport, Partial, TEXT, all_vendors_fail, good, reports_of_all};
use crate::providers::{ask, cloud};
use crate::support::provider_server::{
    Damage, On, ProviderServer, Vendor, listed_model, stream_of,
};

#[tokio::test]
async fn an_early_end_preserves_the_partial_text() {
    let (nothing, ended) = (
        "the stream ended before any of the answer arrived",
        "the stream ended before the answer was complete",
    );
    let broke = "broke";
    all_vendors_fail(
        "reset at once",
        good().cut_after(0),
        FailureClass::Transport,
        broke,
        Partial::Nothing,
    )
    .await;
    all_vendors_fail(
        "closed at once",
        good().close_after(0),
        FailureClass::Transport,
        broke,
        Partial::Nothing,
    )
    .await;
    all_vendors_fail(
        "ended at once",
        good().short_after(0),
        FailureClass::Transport,
        nothing,
        Partial::Nothing,
    )
    .await;
    all_vendors_fail(
        "ended by closing at once",
        good().short_after(0).until_close(),
        FailureClass::Transport,
        nothing,
        Partial::Nothing,
    )
    .await;
    all_vendors_fail(
        "reset half way",
        good().cut(),
        FailureClass::Interrupted,
        broke,
        Partial::Some,
    )
    .await;
    all_vendors_fail(
        "ended half way",
        good().short(),
        FailureClass::Interrupted,
        ended,
        Partial::Some,
    )
    .await;
    all_vendors_fail(
        "ended by closing half way",
        good().short().until_close(),
        FailureClass::Interrupted,
        ended,
        Partial::Some,
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
                    let failure = crate::providers::call(client, &ask(vendor, &model))
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
                assert_eq!(failure.class, FailureClass::Interrupted, "{vendor:?}");
                assert_eq!(failure.partial.as_str(), TEXT, "{vendor:?}");
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
                assert_eq!(reply.text.as_str(), TEXT, "{vendor:?}");
                assert_eq!(reply.usage.output, 45, "{vendor:?}");
                assert_eq!(reply.usage.source, UsageSource::Reported, "{vendor:?}");
            }
        }
    }
}

#[tokio::test]
async fn an_end_without_a_finish_reason_is_an_interruption() {
    let ended = "the stream ended before the answer was complete";
    all_vendors_fail(
        "no finish reason",
        good().without_finish(),
        FailureClass::Interrupted,
        ended,
        Partial::All,
    )
    .await;
}
