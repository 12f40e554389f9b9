//! Recorded outputs of `codex exec --json` 0.169.0.

use conclave::consultation::protocol::call::{FailureClass, StopReason};
use conclave::domain::cost::tokens::{Usage, UsageSource};
use conclave::providers::programs::reading::ProgramEnd;
use serde_json::{Value, json};

use super::{CLEAN, FAILED, Read, known, read};

fn codex(events: &[Value], end: ProgramEnd) -> Read {
    let begin = [
        json!({"type": "thread.started", "thread_id": "01a2"}),
        json!({"type": "turn.started"}),
    ];
    let lines: Vec<String> = begin.iter().chain(events).map(Value::to_string).collect();
    let noise = "Reading prompt from stdin...\nWARNING: proceeding, even though we could not";
    read(&known("codex"), &lines, end, noise)
}

fn item(item: Value) -> Value {
    json!({"type": "item.completed", "item": item})
}

fn message(text: &str) -> Value {
    item(json!({"id": "item_0", "type": "agent_message", "text": text}))
}

fn completed() -> Value {
    json!({"type": "turn.completed", "usage": {"input_tokens": 21, "cached_input_tokens": 4,
        "cache_write_input_tokens": 2, "output_tokens": 5, "reasoning_output_tokens": 2}})
}

pub(super) fn failed(text: &str) -> Vec<Value> {
    vec![
        json!({"type": "error", "message": text}),
        json!({"type": "turn.failed", "error": {"message": text}}),
    ]
}

#[test]
fn the_last_message_is_the_answer_and_notices_are_none() {
    let ignored = "Codex is ignoring 2 unrecognized configuration settings: x, y";
    let events = [
        item(json!({"type": "error", "message": ignored})),
        item(json!({"type": "reasoning", "text": "hm"})),
        message("First"),
        json!({"type": "error", "message": "Reconnecting... 2/5 (stream disconnected)"}),
        message("Last"),
        completed(),
    ];
    // The exit code does not outweigh an answer.
    for end in [CLEAN, FAILED] {
        let reply = codex(&events, end).reply();
        assert_eq!(
            (reply.text.as_str(), &reply.stop),
            ("Last", &StopReason::End)
        );
        let usage = Usage {
            input: 15,
            cache_read: 4,
            cache_write: 2,
            output: 5,
            reasoning: 2,
            source: UsageSource::Reported,
        };
        assert_eq!(reply.usage, usage);
        let plan = reply.plan.unwrap();
        assert_eq!(plan.plan.as_deref(), Some("ChatGPT"));
        assert_eq!(plan.window, None);
    }
}

#[test]
fn a_turn_without_a_message_is_a_refusal() {
    let reply = codex(&[completed()], CLEAN).reply();
    assert_eq!(reply.stop, StopReason::Refused(String::new()));
    // Nothing was written at all.
    let nothing =
        json!({"type": "turn.completed", "usage": {"input_tokens": 2, "output_tokens": 0}});
    assert_eq!(
        codex(&[nothing], CLEAN).failure().class,
        FailureClass::Empty
    );
}

#[test]
fn the_work_of_a_tool_stops_the_program() {
    for kind in [
        "command_execution",
        "file_change",
        "mcp_tool_call",
        "web_search",
    ] {
        for event in ["item.started", "item.completed"] {
            let used = json!({"type": event, "item": {"type": kind, "command": "ls"}});
            let read = codex(&[used, message("x")], CLEAN);
            assert_eq!(read.stopped_after, Some(3));
            let failure = read.failure();
            assert_eq!(failure.class, FailureClass::Malformed);
            let words = format!("used a tool (`{kind}`)");
            assert!(failure.message.contains(&words), "{}", failure.message);
        }
    }
}

#[test]
fn a_failure_is_told_in_its_own_words_in_short() {
    let model = r#"{"error": {"message": "The 'x' model is not supported", "type": "x"}}"#;
    let message = codex(&failed(model), FAILED).failure().message;
    assert_eq!(message, "The 'x' model is not supported");
    let long = "unheard of ".repeat(100);
    let message = codex(&failed(&long), FAILED).failure().message;
    assert_eq!(message.chars().count(), 201, "with the mark of the cut");
}

#[test]
fn a_turn_that_ends_early_is_interrupted_or_was_never_answered() {
    let failure = codex(&[message("Half")], FAILED).failure();
    assert_eq!(failure.class, FailureClass::Interrupted);
    assert_eq!(failure.partial, "Half");
    let notice = json!({"type": "error", "message": "Reconnecting... 5/5 (waiting for network)"});
    let failure = codex(&[notice], ProgramEnd::Exited(None)).failure();
    assert_eq!(failure.class, FailureClass::Transport);
    assert!(failure.message.contains("waiting for network"));
    let lines = [];
    let error = "Error: Unknown feature flag: goals";
    let failure = read(&known("codex"), &lines, FAILED, error).failure();
    assert_eq!(failure.class, FailureClass::BadRequest);
}
