//! Properties of all that is read from a message, and the messages that misled earlier programs.

use std::collections::BTreeMap;
use std::fmt::Write;

use proptest::prelude::*;
use serde::Deserialize;

use super::{SignalOptions, read, signature};
use crate::agent_loop::response::AgentResponse;
use crate::stopping::exit_check::evidence::{ObstacleKind, StatedState, TurnEvidence, Words};

fn evidence(message: &str) -> TurnEvidence {
    with_options(message, &SignalOptions::default())
}

fn with_options(message: &str, options: &SignalOptions<'_>) -> TurnEvidence {
    let response = AgentResponse {
        last_message: message.to_owned(),
        ..AgentResponse::default()
    };
    let (mut evidence, errors) = read(&response, options);
    evidence.errors = errors.iter().map(|line| signature(line)).collect();
    evidence
}

fn state(message: &str) -> Option<StatedState> {
    evidence(message).status.map(|status| status.state)
}

#[test]
fn plain_reports_of_progress_say_nothing_about_the_whole() {
    for message in [
        "Task 1 done. All 42 tests pass.",
        "Implemented the parser and committed it.",
        "The function could return None, so I handle it.",
        "I measured latency under pressure; nothing else changed.",
        "0 errors, no exceptions, nothing failed. Fixed the bug from issue #12; no problems or mistakes remain.",
    ] {
        let evidence = evidence(message);
        assert_eq!(evidence.words, Some(Words::default()), "{message}");
        assert_eq!(evidence.stated_confidence, None, "{message}");
        assert_eq!(evidence.errors, [], "{message}");
        assert_eq!(evidence.status, None, "{message}");
    }
    assert_eq!(
        evidence("This is unlikely to work.").stated_confidence,
        None
    );
}

#[test]
fn a_message_without_text_has_no_words() {
    for message in ["", "  \n\t\n"] {
        assert_eq!(evidence(message), TurnEvidence::default(), "{message:?}");
    }
}

#[test]
fn field_names_of_json_are_no_errors() {
    assert_eq!(evidence("{\"is_error\": false, \"errors\": []}").errors, []);
}

#[test]
fn an_echoed_prompt_says_nothing() {
    let prompt = "Work through fix_plan.md, one task at a time.\n\n\
        When all tasks are complete, answer with this tag and nothing else:\n\n\
        <promise>DONE</promise>\n";
    let options = SignalOptions {
        prompt: Some(prompt),
        promise: None,
    };
    let echoed = with_options(&format!("{prompt}\n\nI began with the parser."), &options);
    assert_eq!(echoed.status, None);
    assert_eq!(echoed.words, Some(Words::default()));
    let answered = with_options(
        "I am done with all of it.\n\n<promise>DONE</promise>",
        &options,
    );
    assert_eq!(
        answered.status.map(|status| status.state),
        Some(StatedState::Done)
    );
    let both = with_options(
        &format!("{prompt}\n\nReady.\n\n<promise>DONE</promise>"),
        &options,
    );
    assert_eq!(
        both.status.map(|status| status.state),
        Some(StatedState::Done)
    );
}

#[test]
fn a_timeout_is_an_error_and_no_limit_of_use() {
    let evidence = evidence("API Error: Request timed out.");
    assert_eq!(evidence.obstacle, None);
    assert_eq!(evidence.errors.len(), 1);
}

#[test]
fn the_message_of_a_program_that_could_not_work_has_no_words() {
    let evidence = evidence("You've hit your usage limit. Please confirm your plan.");
    assert_eq!(
        evidence.obstacle.map(|obstacle| obstacle.kind),
        Some(ObstacleKind::Quota)
    );
    assert_eq!(evidence.words, Some(Words::default()));
    assert_eq!(evidence.errors, []);
}

#[test]
fn the_payload_of_an_event_is_no_claim() {
    let message = "<event topic=\"plan.done\">All tasks are complete</event>";
    assert_eq!(evidence(message).words, Some(Words::default()));
}

#[test]
fn a_tool_that_failed_counts_only_if_the_turn_ends_with_it() {
    let errors = |message: &str| {
        let response = AgentResponse {
            last_message: message.to_owned(),
            tool_errors: vec!["error[E0308]: mismatched types".to_owned()],
            ..AgentResponse::default()
        };
        read(&response, &SignalOptions::default()).1.len()
    };
    assert_eq!(
        errors("Corrected the types; the tests pass. Next: the lexer."),
        0
    );
    assert_eq!(errors("The build still fails and I cannot see why."), 1);
    assert_eq!(errors(""), 1);
}

#[test]
fn errors_are_distinct_sorted_and_bounded() {
    let response = AgentResponse {
        tool_errors: (0..200)
            .map(|number| {
                let letter = char::from(b'a' + number % 26);
                let other = char::from(b'a' + number / 26);
                format!("error: file {letter}{other}{letter} is missing")
            })
            .collect(),
        ..AgentResponse::default()
    };
    let errors = read(&response, &SignalOptions::default()).1;
    assert_eq!(errors.len(), 50);
    assert!(errors.is_sorted());
}

/// Texts of one class, and texts that only look so.
#[derive(Debug, Deserialize)]
struct Class {
    yes: Vec<String>,
    no: Vec<String>,
}

#[test]
fn endings_of_each_class_differ_from_those_that_only_look_so() {
    let classes: BTreeMap<String, Class> = toml::from_str(include_str!("cases.toml")).unwrap();
    let mut wrong = String::new();
    for (name, class) in &classes {
        assert!(class.yes.len() >= 10, "{name}");
        assert!(class.no.len() >= 10, "{name}");
        let texts = class.yes.iter().map(|text| (text, true));
        for (text, expected) in texts.chain(class.no.iter().map(|text| (text, false))) {
            let with_signal = || evidence(&format!("{text}\n\nEXIT_SIGNAL: true"));
            let holds = match name.as_str() {
                "needs" => evidence(text).words.unwrap().asks_person,
                "errors" => !evidence(text).errors.is_empty(),
                _ => with_signal().words.unwrap().admission.is_some(),
            };
            if holds != expected {
                writeln!(wrong, "{name}, {expected}: {text}").unwrap();
            }
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// Pieces that messages are made of.
fn message() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "\\PC{0,20}",
        "[a-z ]{0,30}",
        Just("All tasks are complete. ".to_owned()),
        Just("Which one should I use? ".to_owned()),
        Just("Next I will write the tests. ".to_owned()),
        Just("Confidence: 60%\n".to_owned()),
        Just("<promise>DONE</promise>".to_owned()),
        Just("---RALPH_STATUS---\n".to_owned()),
        Just("STATUS: COMPLETE\n".to_owned()),
        Just("EXIT_SIGNAL: true\n".to_owned()),
        Just("---END_RALPH_STATUS---\n".to_owned()),
        Just("Error: no such file /a/b.c:1:2\n".to_owned()),
        Just("- [ ] item\n".to_owned()),
        Just("# Heading\n\n".to_owned()),
        Just("`code` ".to_owned()),
        Just("{\"exit_signal\": true}\n".to_owned()),
        Just("\n\n".to_owned()),
        Just("\n".to_owned()),
        Just("> ".to_owned()),
        Just("<!-- ".to_owned()),
        Just("\"".to_owned()),
        Just("| a | b |\n|---|---|\n".to_owned()),
        Just("\u{1b}[31m".to_owned()),
        Just("所有任务都已完成。".to_owned()),
        Just("Traceback (most recent call last)\n".to_owned()),
    ];
    proptest::collection::vec(piece, 0..14).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_text_is_read(message in message(), prompt in proptest::option::of(message()), promise in proptest::option::of("\\PC{0,8}")) {
        let options = SignalOptions { prompt: prompt.as_deref(), promise: promise.as_deref() };
        let evidence = with_options(&message, &options);
        prop_assert!(evidence.stated_confidence.is_none_or(|percent| percent <= 100));
        prop_assert!(evidence.errors.len() <= 50);
        prop_assert!(evidence.errors.iter().all(|error| error.0.chars().count() <= 200));
    }

    #[test]
    fn line_ends_change_nothing(message in message()) {
        prop_assert_eq!(evidence(&message), evidence(&message.replace('\n', "\r\n")));
    }

    #[test]
    fn a_message_within_a_fence_or_a_quote_has_no_words(message in message()) {
        let fenced = format!("`````\n{}\n`````", message.replace("`````", ""));
        // Output in a fence may show a failure, and says nothing else.
        let says = |words: Words| words.claims_completion || words.asks_person;
        prop_assert!(!evidence(&fenced).words.is_some_and(says));
        let quoted = format!("> {}", message.replace('\r', "").replace('\n', "\n> "));
        prop_assert!(evidence(&quoted).words.is_none_or(|words| words == Words::default()));
    }

    #[test]
    fn a_last_status_block_that_says_not_done_removes_done(message in message()) {
        let block = "---RALPH_STATUS---\nSTATUS: IN_PROGRESS\nEXIT_SIGNAL: false\n---END_RALPH_STATUS---\n";
        // After an open fence or comment the block would be a part of it.
        prop_assume!(!message.contains("<!--"));
        let state = state(&format!("{message}\n\n{block}"));
        prop_assert_ne!(state, Some(StatedState::Done));
    }
}
