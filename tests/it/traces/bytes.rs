//! `history export --format otlp`: the bytes, and which words are in them.

use serde_json::{Value, json};

use super::spans::trace;
use crate::consultation::prelude::Envelope;
use crate::support::binary::Conclave;
use crate::support::otlp::Exported;
use crate::support::provider_server::ProviderServer;
use crate::support::pty::{Output, Terminal};

const QUESTION: &str = "Shall we paint the heptagonal shed?";

fn asked(server: &ProviderServer) -> Conclave {
    ask(Conclave::at(server))
}

fn ask(conclave: Conclave) -> Conclave {
    conclave.run(&["consult", QUESTION]).ends_with(0);
    conclave
}

fn exported(conclave: &Conclave) -> Vec<u8> {
    let file = conclave.folder().join("trace.pb");
    let path = file.to_str().unwrap();
    conclave
        .run(&["history", "export", "--format", "otlp", "-o", path])
        .ends_with(0);
    std::fs::read(file).unwrap()
}

fn journal(conclave: &Conclave) -> Vec<Envelope> {
    let text = std::fs::read_to_string(conclave.log("jsonl")).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn bytes_hold_what_the_spans_hold() {
    let server = ProviderServer::start();
    let conclave = asked(&server);
    let read = Exported::of(&exported(&conclave));
    let trace = trace(&journal(&conclave));
    assert_eq!(read.spans.len(), trace.spans.len());
    for (read, span) in read.spans.iter().zip(&trace.spans) {
        let parent = span.parent.map(|parent| format!("{parent:016x}"));
        let [start, end] = [span.start, span.end].map(|at| at.0 * 1_000_000);
        let expected = json!({
            "trace": format!("{:032x}", trace.id), "id": format!("{:016x}", span.id),
            "parent": parent, "name": span.name, "kind": if span.is_client { 3 } else { 1 },
            "start": start, "end": end, "attributes": span.attributes,
            "status": span.error.as_ref().map(|_| 2),
        });
        assert_eq!(*read, expected);
    }
    let expected =
        json!({"service.name": "conclave", "service.version": env!("CARGO_PKG_VERSION")});
    assert_eq!(Value::Object(read.resource), expected);
}

#[test]
fn exporting_twice_is_the_same_trace_whose_parent_is_of_the_environment_that_began_it() {
    let server = ProviderServer::start();
    let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let conclave = ask(Conclave::at(&server).variable("TRACEPARENT", parent));
    let first = exported(&conclave);
    let other = conclave.variable("TRACEPARENT", parent.replace("4bf", "abc"));
    assert_eq!(first, exported(&other));
    let conclave = other
        .without("TRACEPARENT")
        .variable("OTEL_SERVICE_NAME", "ci");
    let child = Exported::of(&exported(&conclave));
    assert_eq!(child.spans[0]["parent"], "00f067aa0ba902b7");
    assert!(
        child
            .spans
            .iter()
            .all(|span| span["trace"] == "4bf92f3577b34da6a3ce929d0e0e4736")
    );
    assert_eq!(child.resource["service.name"], "ci");
}

/// All texts that a person or a model wrote in this consultation.
fn words(conclave: &Conclave) -> Vec<String> {
    let mut texts = vec![QUESTION.to_owned()];
    for envelope in journal(conclave) {
        let event = serde_json::to_value(&envelope.event).unwrap();
        if event["type"] == "call:finished" {
            texts.push(event["data"]["text"].as_str().unwrap().to_owned());
        }
    }
    let words = texts
        .iter()
        .flat_map(|text| text.split(|c: char| !c.is_alphabetic()));
    words
        .filter(|word| word.len() > 3)
        .map(str::to_lowercase)
        .collect()
}

/// Names of models, experts and attributes, which answers contain as well.
const NAMES: [&str; 7] = [
    "claude", "sonnet", "gemini", "argon", "expert", "agent", "answer",
];

#[test]
fn no_word_of_question_or_answers_leaves_unless_it_is_wanted() {
    let server = ProviderServer::start();
    let conclave = asked(&server);
    let words = words(&conclave);
    assert!(words.len() > 100);
    let lower = |bytes: &[u8]| String::from_utf8_lossy(bytes).to_lowercase();
    let without = lower(&exported(&conclave));
    let leaked = words.iter().filter(|word| without.contains(*word));
    let leaked: Vec<&String> = leaked
        .filter(|word| !NAMES.contains(&word.as_str()))
        .collect();
    assert_eq!(leaked, Vec::<&String>::new());
    let with = lower(&exported(&conclave.variable("CONCLAVE_OTLP_CONTENT", "on")));
    assert!(words.iter().all(|word| with.contains(word)));
}

#[test]
fn texts_are_messages_by_the_conventions_with_secrets_masked() {
    let server = ProviderServer::start();
    let conclave = asked(&server).variable("CONCLAVE_OTLP_CONTENT", "on");
    // A program in a seat can have put a secret into its answer.
    let secret = "ghp_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789";
    let log = conclave.log("jsonl");
    let journal = std::fs::read_to_string(&log).unwrap();
    std::fs::write(&log, journal.replace("heptagonal", secret)).unwrap();
    let bytes = exported(&conclave);
    assert!(!String::from_utf8_lossy(&bytes).contains(secret));
    let read = Exported::of(&bytes);
    let messages = |span: &Value, name: &str| {
        let json = span["attributes"][name].as_str().unwrap();
        serde_json::from_str::<Value>(json).unwrap()
    };
    let question = messages(&read.spans[0], "gen_ai.input.messages");
    assert_eq!(question[0]["role"], "user");
    let text = question[0]["parts"][0]["content"].as_str().unwrap();
    assert!(
        text.starts_with("Shall we paint the [REDACTED_GITHUB_TOKEN"),
        "{text}"
    );
    let call = read.with("conclave.call", &json!(1))[0];
    let output = messages(call, "gen_ai.output.messages");
    assert_eq!(output[0]["role"], "assistant");
    assert_eq!(output[0]["finish_reason"], "stop");
}

#[test]
fn prompts_are_there_if_the_journal_is_whole() {
    let server = ProviderServer::start();
    let conclave = asked(&server).variable("CONCLAVE_OTLP_CONTENT", "on");
    let read = Exported::of(&exported(&conclave));
    for call in read.with("gen_ai.operation.name", &json!("chat")) {
        let input = call["attributes"]["gen_ai.input.messages"]
            .as_str()
            .unwrap();
        assert!(
            input.contains("heptagonal") && input.contains(r#""role":"system""#),
            "{input}"
        );
    }
}

#[test]
fn a_terminal_gets_no_bytes() {
    let server = ProviderServer::start();
    let conclave = asked(&server).variable("TERM", "xterm-256color");
    let arguments = ["history", "export", "--format", "otlp"];
    let (output, screen) = Terminal::start(&conclave, 80, Output::Terminal, &arguments).end();
    assert_eq!(output.code, Some(2));
    let text = screen.text();
    assert!(text.contains("a trace is no text for a terminal"), "{text}");
    assert!(text.contains("--output FILE"), "{text}");
}

#[test]
fn other_commands_have_no_such_format() {
    let conclave = Conclave::new();
    let refused = conclave
        .run(&["consult", "--format", "otlp", "Shall we?"])
        .ends_with(2);
    assert!(
        refused.stderr.contains("invalid value 'otlp'"),
        "{}",
        refused.stderr
    );
}
