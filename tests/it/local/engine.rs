//! The engine, with the smallest model: run where `CONCLAVE_TEST_MODELS` names a folder that holds
//! its file, skipped elsewhere.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use conclave::consultation::protocol::answer::{AnswerForm, AnswerKind};
use conclave::consultation::protocol::call::{Ask, FailureClass, Prompt, StopReason};
use conclave::domain::ids::{CallId, ModelRef};
use conclave::engine::ports::{Delta, LocalProgress, Provider};
use conclave::providers::local::cut::cut_back;
use conclave::providers::local::files::home::ModelHome;
use conclave::providers::local::files::manifest::SMALLEST;
use conclave::providers::local::job::LocalSettings;
use conclave::providers::local::provider::LocalProvider;
use conclave::providers::local::schema::tighten;
use futures_util::future::join_all;

use super::skipped;

fn smallest() -> Option<PathBuf> {
    #[expect(
        clippy::disallowed_methods,
        reason = "a test has no settings to read it from"
    )]
    let folder = std::env::var_os("CONCLAVE_TEST_MODELS");
    let found = folder.and_then(|folder| ModelHome::at(PathBuf::from(folder)).installed(&SMALLEST));
    if found.is_none() {
        skipped(&format!(
            "`CONCLAVE_TEST_MODELS` names no folder with `{}`",
            SMALLEST.file
        ));
    }
    found
}

fn provider(file: PathBuf) -> LocalProvider {
    LocalProvider::new(settings(file)).unwrap()
}

/// Gives each engine one thread: tests run concurrently, and threads of several engines on the same
/// cores starve each other.
fn settings(file: PathBuf) -> LocalSettings {
    LocalSettings {
        threads: Some(NonZeroUsize::MIN),
        ..LocalSettings::new(SMALLEST.name, file)
    }
}

fn ask(call: u32, persona: &str, answer: AnswerKind) -> Ask {
    let shared =
        "Question: should a small shop keep its orders in SQLite or in Postgres? ".repeat(6);
    let prompt = Prompt {
        persona: format!("You are {persona}."),
        protocol: "Answer in JSON. Take a side and give your reasons.".to_owned(),
        shared,
        task: "Expert A is for SQLite and Expert B is for Postgres. Give your own answer."
            .to_owned(),
        ..Prompt::default()
    };
    Ask {
        call: CallId(call),
        model: ModelRef::new("local", SMALLEST.name),
        prompt,
        answer,
        form: AnswerForm::Plain,
        max_output_tokens: 2_048,
        cache_key: None,
    }
}

async fn answer(
    provider: &LocalProvider,
    ask: &Ask,
) -> (conclave::consultation::protocol::call::Outcome, Vec<Delta>) {
    let mut deltas = Vec::new();
    let outcome = provider.ask(ask, &mut |delta| deltas.push(delta)).await;
    (outcome, deltas)
}

#[tokio::test]
async fn three_experts_share_a_prompt_prefix() {
    let Some(file) = smallest() else { return };
    let provider = provider(file);
    let personas = [
        "a security engineer",
        "the founder of a shop",
        "a sceptical reviewer",
    ];
    let asks: Vec<Ask> = (1..)
        .zip(personas)
        .map(|(call, persona)| ask(call, persona, AnswerKind::Independent))
        .collect();
    let answers = join_all(asks.iter().map(|ask| answer(&provider, ask))).await;

    let schema =
        jsonschema::validator_for(&AnswerKind::Independent.schema(AnswerForm::Plain)).unwrap();
    let tight = tighten(
        &AnswerKind::Independent.schema(AnswerForm::Plain),
        &asks[0].prompt.text(),
        1_024,
    );
    let mut reused = 0;
    for (outcome, deltas) in &answers {
        let reply = outcome.as_ref().unwrap();
        assert_eq!(reply.stop, StopReason::End);
        assert_eq!(reply.served_model.as_deref(), Some(SMALLEST.file));
        schema
            .validate(&serde_json::from_str(&reply.text).unwrap())
            .unwrap();
        let streamed: String = deltas
            .iter()
            .filter_map(|delta| {
                if let Delta::Text(text) = delta {
                    Some(text.as_str())
                } else {
                    None
                }
            })
            .collect();
        assert_eq!(deltas.first(), Some(&Delta::Connected));
        let last = |is: fn(&Delta) -> Option<LocalProgress>| deltas.iter().rev().find_map(is);
        let read = last(|delta| match delta {
            Delta::Reading(progress) => Some(*progress),
            _ => None,
        });
        let read = read.expect("the prompt was read");
        assert!(read.tokens <= read.of, "{read:?}");
        let written = last(|delta| match delta {
            Delta::Writing(progress) => Some(*progress),
            _ => None,
        });
        let written = written.expect("an answer was written");
        assert_eq!(written.tokens, reply.usage.output.min(written.of));
        assert!(written.left.is_some(), "there is a rate");
        assert_eq!(cut_back(&streamed, &tight), reply.text);
        reused += u64::from(reply.usage.cache_read > reply.usage.input);
    }
    assert_eq!(
        reused, 2,
        "the second and third seat find the shared block in memory"
    );
}

#[tokio::test]
async fn a_dropped_call_frees_the_engine() {
    let Some(file) = smallest() else { return };
    let provider = provider(file);
    let (first, second) = (
        ask(1, "a lawyer", AnswerKind::Verdict),
        ask(2, "a lawyer", AnswerKind::Independent),
    );
    let (started, mut wait) = tokio::sync::mpsc::unbounded_channel();
    let mut on = |delta: Delta| drop(started.send(delta));
    tokio::select! {
        biased;
        () = async { while !matches!(wait.recv().await, Some(Delta::Text(_)) | None) {} } => {}
        _ = provider.ask(&first, &mut on) => panic!("it ended before its first words were seen"),
    }
    let (outcome, _) = answer(&provider, &second).await;
    assert_eq!(outcome.unwrap().stop, StopReason::End);
}

#[tokio::test]
async fn a_prompt_that_does_not_fit_is_refused_with_its_excess() {
    let Some(file) = smallest() else { return };
    let provider = LocalProvider::new(LocalSettings {
        context: 1_024,
        ..settings(file)
    })
    .unwrap();
    let mut long = ask(1, "a lawyer", AnswerKind::Independent);
    long.prompt.shared = "one two three four ".repeat(400);
    let failure = answer(&provider, &long).await.0.unwrap_err();
    assert_eq!(failure.class, FailureClass::Context);
    assert!(
        failure
            .message
            .contains("more than the local model's context of 1024"),
        "{}",
        failure.message
    );
}

#[tokio::test]
async fn the_same_prompt_gives_the_same_answer() {
    let Some(file) = smallest() else { return };
    let first = answer(
        &provider(file.clone()),
        &ask(1, "a lawyer", AnswerKind::Independent),
    )
    .await
    .0
    .unwrap();
    let again = answer(
        &provider(file),
        &ask(1, "a lawyer", AnswerKind::Independent),
    )
    .await
    .0
    .unwrap();
    assert_eq!(first.text, again.text);
}

#[tokio::test]
async fn a_file_that_is_not_a_model_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("not-a-model.gguf");
    std::fs::write(&file, "hello").unwrap();
    let failure = answer(
        &provider(file),
        &ask(1, "a lawyer", AnswerKind::Independent),
    )
    .await
    .0
    .unwrap_err();
    assert_eq!(failure.class, FailureClass::ModelMissing);
    assert!(
        failure.message.contains("not-a-model.gguf"),
        "{}",
        failure.message
    );
}

#[tokio::test]
async fn calls_to_a_model_that_is_not_loaded_fail() {
    let provider = provider(PathBuf::from("nowhere.gguf"));
    let mut other = ask(1, "a lawyer", AnswerKind::Independent);
    other.model = ModelRef::new("local", "gpt");
    assert_eq!(
        answer(&provider, &other).await.0.unwrap_err().class,
        FailureClass::ModelMissing
    );
}
