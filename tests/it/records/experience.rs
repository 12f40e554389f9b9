//! What is learnt from records: only from enough of them, only of the models that are asked, and never from what cannot be read.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use conclave::consultation::answer::AnswerKind;
use conclave::consultation::plan::OutputTokens;
use conclave::domain::ids::ModelRef;
use conclave::records::experience::Experience;
use serde_json::{Value, json};

fn model() -> ModelRef {
    ModelRef::new("openai", "gpt-6.1-sol")
}

fn attempt(output: u64, latency_ms: u64) -> Value {
    json!({"call": 1, "purpose": "answer", "model": "openai:gpt-6.1-sol", "stop": "end", "error": null,
        "tokens": {"input": 9, "output": output, "estimated": false}, "latency_ms": latency_ms})
}

/// The same with one field changed.
fn with(mut attempt: Value, field: &str, value: Value) -> Value {
    attempt[field] = value;
    attempt
}

fn write(logs: &Path, name: &str, attempts: &[Value]) {
    let agents = [json!({"agent_id": "a", "answer": "independent", "attempts": attempts})];
    let record = json!({"schema_version": "1.0", "responses": {"round_1": {"complete": true, "agents": agents}}});
    std::fs::write(logs.join(name), record.to_string()).unwrap();
}

fn read(logs: &Path) -> Experience {
    Experience::read(logs, &BTreeSet::from([&model()]))
}

fn learnt(logs: &Path) -> Option<OutputTokens> {
    read(logs).learnt_output().remove(&model()).map(|by_answer| by_answer[&AnswerKind::Independent])
}

#[test]
fn five_answers_tell_how_long_the_next_one_will_be() {
    let folder = tempfile::tempdir().unwrap();
    let logs = folder.path();
    assert_eq!(learnt(&logs.join("nowhere")), None);
    write(logs, "consult-1.json", &[100, 400, 200, 300].map(|output| attempt(output, 0)));
    assert_eq!(learnt(logs), None);
    write(logs, "consult-2.json", &[attempt(1_000, 0)]);
    assert_eq!(learnt(logs), Some(OutputTokens { low: 100, expected: 300, high: 1_000 }));
    write(logs, "consult-2.json", &[attempt(310, 0)]);
    assert_eq!(learnt(logs), Some(OutputTokens { low: 100, expected: 300, high: 450 }), "half as much again is possible");
}

#[test]
fn only_whole_answers_that_were_counted_by_their_provider_are_samples() {
    let folder = tempfile::tempdir().unwrap();
    let odd = [
        with(attempt(9, 1), "stop", json!("length")),
        with(attempt(9, 1), "stop", json!({"refused": "no"})),
        with(attempt(9, 1), "stop", Value::Null),
        with(attempt(9, 1), "purpose", json!("repair")),
        with(attempt(9, 1), "model", json!("openai:other")),
        with(attempt(9, 1), "model", json!("no model")),
        with(attempt(9, 1), "tokens", json!({"output": 9, "estimated": true})),
        with(attempt(9, 1), "tokens", Value::Null),
        json!({}),
    ];
    write(folder.path(), "consult-1.json", &[&odd[..], &[70; 5].map(|output| attempt(output, 1))].concat());
    assert_eq!(learnt(folder.path()), Some(OutputTokens { low: 70, expected: 70, high: 105 }));
    assert_eq!(read(folder.path()).learnt_output().len(), 1);
}

#[test]
fn what_cannot_be_read_is_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let logs = folder.path();
    write(logs, "consult-1.json", &[80; 5].map(|output| attempt(output, 1)));
    for (name, text) in [
        ("consult-2.json", "{"),
        ("consult-3.json", r#"{"responses": []}"#),
        ("consult-4.json", r#"{"responses": {"round_1": {"agents": [{"attempts": [{"tokens": {"output": "many"}}]}]}}}"#),
        ("consult-5.json", "{}"),
        ("notes.json", "{}"),
    ] {
        std::fs::write(logs.join(name), text).unwrap();
    }
    std::fs::create_dir(logs.join("consult-6.json")).unwrap();
    let long = format!(r#"{{"padding": "{}"}}"#, "x".repeat(3 << 20));
    std::fs::write(logs.join("consult-7.json"), long).unwrap();
    assert_eq!(learnt(logs).unwrap().expected, 80);
}

#[test]
fn only_the_newest_records_count() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "consult-000.json", &[9_000; 200].map(|output| attempt(output, 1)));
    for at in 1..=60 {
        write(folder.path(), &format!("consult-{at:03}.json"), &[attempt(50, 1)]);
    }
    assert_eq!(learnt(folder.path()), Some(OutputTokens { low: 50, expected: 50, high: 75 }));
}

#[test]
fn twenty_beginnings_tell_when_a_call_is_late() {
    let folder = tempfile::tempdir().unwrap();
    let samples: Vec<Value> = (1..=20).map(|at| attempt(1, at * 100)).collect();
    write(folder.path(), "consult-1.json", &samples[1..]);
    assert_eq!(read(folder.path()).hedge_delays(), BTreeMap::new());
    write(folder.path(), "consult-1.json", &samples);
    assert_eq!(read(folder.path()).hedge_delays(), BTreeMap::from([(model(), Duration::from_millis(1_900))]));
}
