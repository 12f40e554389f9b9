//! Misbehaving servers: the required result of each fault, in every dialect.

mod bodies;
mod contents;
mod early_ends;
mod limits;
mod robustness;
mod transfers;

use std::time::Duration;

use conclave::consultation::protocol::call::{Failure, FailureClass, Outcome, StopReason};
use conclave::domain::cost::tokens::UsageSource;
use conclave::engine::ports::Delta;
use futures_util::future::join_all;

use super::{call, cloud_with, silent_for, usual};
use crate::support::provider_server::{Answer, On, ProviderServer, Vendor};

/// The vendors that answer with server-sent events.
pub(super) const STREAMING_VENDORS: [Vendor; 11] = [
    Vendor::Anthropic,
    Vendor::OpenAi,
    Vendor::Google,
    Vendor::Xai,
    Vendor::Mistral,
    Vendor::OpenRouter,
    Vendor::ChatGpt,
    Vendor::LlamaCpp,
    Vendor::LmStudio,
    Vendor::Vllm,
    Vendor::Custom("mine"),
];

/// All vendors: those, and one that answers with JSON lines.
pub(super) const ALL_VENDORS: [Vendor; 12] = {
    let [a, b, c, d, e, f, g, h, i, j, k] = STREAMING_VENDORS;
    [a, b, c, d, e, f, g, h, i, j, k, Vendor::Ollama]
};

/// Longer than any pause in the tests that do not wait for it to pass.
const LONG_TIMEOUT: Duration = Duration::from_secs(30);
/// For the tests that wait for a timeout: longer than a busy machine pauses.
const SHORT_TIMEOUT: Duration = Duration::from_secs(1);

const TEXT: &str = "Grüße, 世界! Ein Satz, der in mehreren Stücken kommt.";

fn good() -> Answer {
    Answer::text(TEXT).pieces(6).usage(321, 45)
}

/// The outcome of a call and the text that arrived during it.
pub(super) struct CallReport {
    pub(super) vendor: Vendor,
    pub(super) outcome: Outcome,
    pub(super) text: String,
    /// Whether the first sign was the connection.
    connected: bool,
    thought: bool,
}

/// Asks every vendor at once.
pub(super) async fn reports_of_all(answer: &Answer) -> Vec<CallReport> {
    reports_of(&ALL_VENDORS, answer).await
}

pub(super) async fn outcomes_of_all(answer: &Answer) -> Vec<(Vendor, Outcome)> {
    let reports = reports_of_all(answer).await.into_iter();
    reports
        .map(|report| (report.vendor, report.outcome))
        .collect()
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
        let provider = cloud_with(vendor, &server.url(), silent_for(silence));
        let (outcome, deltas) = call(&provider, &usual(vendor)).await;
        CallReport {
            vendor,
            outcome,
            connected: deltas.first() == Some(&Delta::Connected),
            thought: deltas.contains(&Delta::Thinking),
            text: text_of(deltas),
        }
    });
    join_all(calls).await
}

fn text_of(deltas: Vec<Delta>) -> String {
    let texts = deltas.into_iter().filter_map(|delta| match delta {
        Delta::Text(text) => Some(text),
        _ => None,
    });
    texts.collect()
}

/// Asserts that these vendors give the whole answer, with the usage that the provider reported.
async fn all_answer(vendors: &[Vendor], what: &str, answer: Answer) {
    assert_all_answered(what, reports_of(vendors, &answer).await);
}

fn assert_all_answered(what: &str, reports: Vec<CallReport>) {
    for report in reports {
        let case = format!("{what}, {:?}", report.vendor);
        let reply = report
            .outcome
            .unwrap_or_else(|failure| panic!("{case}: {failure:?}"));
        assert_eq!(reply.text, TEXT, "{case}");
        assert_eq!(reply.stop, StopReason::End, "{case}");
        assert_eq!(report.text, TEXT, "{case}");
        assert_eq!(reply.usage.prompt(), 321, "{case}");
        assert_eq!(reply.usage.output, 45, "{case}");
        assert_eq!(reply.usage.source, UsageSource::Reported, "{case}");
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
async fn all_fail(what: &str, answer: Answer, class: FailureClass, words: &str, partial: Partial) {
    assert_all_failed(what, reports_of_all(&answer).await, class, words, partial);
}

fn assert_all_failed(
    what: &str,
    reports: Vec<CallReport>,
    class: FailureClass,
    words: &str,
    partial: Partial,
) {
    for report in reports {
        let failure = report
            .outcome
            .expect_err(&format!("{what}, {:?}", report.vendor));
        let text = report.text;
        let case = format!("{what}, {:?}: {failure:?}", report.vendor);
        assert_fails(&case, &failure, class, words);
        assert_eq!(failure.partial, text, "{case}");
        match partial {
            Partial::Nothing => assert_eq!(text, "", "{case}"),
            Partial::Some => {
                assert!(!text.is_empty() && text.len() < TEXT.len(), "{case}");
                assert!(TEXT.starts_with(&text), "{case}");
                let usage = failure.usage.expect("something was used");
                assert_eq!(usage.source, UsageSource::Estimated, "{case}");
                assert!(usage.prompt() > 0 && usage.output > 0, "{case}");
            }
            Partial::All => assert_eq!(text, TEXT, "{case}"),
        }
    }
}

fn assert_fails(case: &str, failure: &Failure, class: FailureClass, words: &str) {
    assert_eq!(failure.class, class, "{case}");
    let message = &failure.message;
    assert!(message.contains(words), "{case}");
    assert!(message.chars().count() <= 600, "{case}");
    assert!(!message.chars().any(char::is_control), "{case}");
}
