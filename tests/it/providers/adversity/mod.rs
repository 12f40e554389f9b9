//! Misbehaving servers: the required result of each fault, in every dialect.

mod bodies;
mod contents;
mod early_ends;
mod transfers;

use std::time::Duration;

use conclave::consultation::protocol::call::{Failure, FailureClass, Outcome, StopReason};
use conclave::domain::tokens::UsageSource;
use conclave::engine::ports::{Delta, Provider};
use futures_util::future::join_all;

use super::{ask, cloud_with, silent_for};
use crate::support::provider_server::{Answer, On, ProviderServer, Vendor, listed_model};
use crate::support::timeout::in_time;

/// The vendors that answer with server-sent events.
pub(super) const STREAMING_VENDORS: [Vendor; 10] = [
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

/// All vendors: those, and one that answers with JSON lines.
pub(super) const ALL_VENDORS: [Vendor; 11] = {
    let [a, b, c, d, e, f, g, h, i, j] = STREAMING_VENDORS;
    [a, b, c, d, e, f, g, h, i, j, Vendor::Ollama]
};

/// Longer than any pause in the tests that do not wait for it to pass.
const LONG_TIMEOUT: Duration = Duration::from_secs(30);
/// For the tests that wait for a timeout.
const SHORT_TIMEOUT: Duration = Duration::from_secs(2);

const TEXT: &str = "Grüße, 世界! Ein Satz, der in mehreren Stücken kommt.";

fn good() -> Answer {
    Answer::text(TEXT).pieces(6).usage(321, 45)
}

/// The outcome of a call, and the text that arrived during it.
pub(super) struct CallReport {
    pub(super) vendor: Vendor,
    pub(super) outcome: Outcome,
    pub(super) text: String,
    connected: bool,
    thought: bool,
}

/// Asks every vendor at once.
pub(super) async fn reports_of_all(answer: &Answer) -> Vec<CallReport> {
    reports_of(&ALL_VENDORS, answer).await
}

async fn reports_of(vendors: &[Vendor], answer: &Answer) -> Vec<CallReport> {
    reports_within(LONG_TIMEOUT, vendors, answer).await
}

/// Asks these vendors at once, and allows them this much silence.
async fn reports_within(silence: Duration, vendors: &[Vendor], answer: &Answer) -> Vec<CallReport> {
    let server = ProviderServer::start();
    server.on(On::any(), answer.clone());
    let server = &server;
    let calls = vendors.iter().map(|vendor| async move {
        let vendor = *vendor;
        let (provider, ask) = (
            cloud_with(vendor, &server.url(), silent_for(silence)),
            ask(vendor, listed_model(vendor)),
        );
        let mut deltas = Vec::new();
        let mut on = |delta| deltas.push(delta);
        let outcome = in_time("the end of the call", provider.ask(&ask, &mut on)).await;
        let (connected, thought) = (
            deltas.contains(&Delta::Connected),
            deltas.contains(&Delta::Thinking),
        );
        let text = deltas
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

/// Asserts that these vendors give the whole answer, with the usage that the provider reported.
async fn all_answer(vendors: &[Vendor], what: &str, answer: Answer) {
    assert_all_answered(what, reports_of(vendors, &answer).await);
}

fn assert_all_answered(what: &str, reports: Vec<CallReport>) {
    for CallReport {
        vendor,
        outcome,
        text,
        ..
    } in reports
    {
        let reply = outcome.unwrap_or_else(|failure| panic!("{what}, {vendor:?}: {failure:?}"));
        assert_eq!(reply.text.as_str(), TEXT, "{what}, {vendor:?}");
        assert_eq!(&reply.stop, &StopReason::End, "{what}, {vendor:?}");
        assert_eq!(text, TEXT, "{what}, {vendor:?}");
        assert_eq!(reply.usage.prompt(), 321, "{what}, {vendor:?}");
        assert_eq!(reply.usage.output, 45, "{what}, {vendor:?}");
        assert_eq!(
            reply.usage.source,
            UsageSource::Reported,
            "{what}, {vendor:?}"
        );
    }
}

/// How much of the text a failed call must have saved.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Partial {
    Nothing,
    Some,
    All,
}

/// Asserts that every vendor fails with this class, a message that contains `words` and this part
/// of the text.
async fn all_vendors_fail(
    what: &str,
    answer: Answer,
    class: FailureClass,
    words: &str,
    partial: Partial,
) {
    all_fail(&ALL_VENDORS, what, answer, class, words, partial).await;
}

async fn all_fail(
    vendors: &[Vendor],
    what: &str,
    answer: Answer,
    class: FailureClass,
    words: &str,
    partial: Partial,
) {
    assert_all_failed(
        what,
        reports_of(vendors, &answer).await,
        class,
        words,
        partial,
    );
}

fn assert_all_failed(
    what: &str,
    reports: Vec<CallReport>,
    class: FailureClass,
    words: &str,
    partial: Partial,
) {
    for CallReport {
        vendor,
        outcome,
        text,
        ..
    } in reports
    {
        let failure = outcome.expect_err(&format!("{what}, {vendor:?}"));
        assert_fails(what, vendor, &failure, class, words);
        assert_eq!(
            failure.partial, text,
            "{what}, {vendor:?}: the failure has the text that arrived"
        );
        match partial {
            Partial::Nothing => assert_eq!(failure.partial, "", "{what}, {vendor:?}"),
            Partial::Some => assert!(
                !text.is_empty() && text.len() < TEXT.len() && TEXT.starts_with(&text),
                "{what}, {vendor:?}: {text}"
            ),
            Partial::All => assert_eq!(text, TEXT, "{what}, {vendor:?}"),
        }
        if partial == Partial::Some {
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
