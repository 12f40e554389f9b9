//! Whatever a program writes, its call has one outcome.

use conclave::consultation::protocol::call::StopReason;
use conclave::providers::programs::reading::ProgramEnd;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::claude::{done, init, limits, piece, result, start, stop, tool};
use super::{known, read};

fn any_line() -> impl Strategy<Value = String> {
    let fields = [
        "type", "subtype", "event", "message", "item", "result", "usage", "error",
    ];
    let words = [
        "system",
        "init",
        "stream_event",
        "assistant",
        "result",
        "rate_limit_event",
        "success",
        "item.completed",
        "turn.completed",
        "turn.failed",
        "agent_message",
        "message_delta",
        "content_block_start",
        "tool_use",
        "error",
        "text_delta",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        proptest::sample::select(words.to_vec()).prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    let json = leaf.prop_recursive(4, 24, 5, move |inner| {
        let field = proptest::sample::select(fields.to_vec()).prop_map(str::to_owned);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::hash_map(field, inner, 0..6)
                .prop_map(|map| map.into_iter().collect::<serde_json::Map<_, _>>().into()),
        ]
    });
    let known = [
        init(),
        start(),
        piece("x"),
        tool("StructuredOutput"),
        stop("max_tokens"),
        done(),
        limits(json!({"isUsingOverage": true, "resetsAt": i64::MAX})),
        result(json!({"result": "x"})),
        result(json!({"is_error": true})),
        json!({"type": "item.completed", "item": {"type": "agent_message", "text": "x"}}),
        json!({"type": "turn.completed", "usage": {"input_tokens": 1, "cached_input_tokens": 9}}),
    ];
    prop_oneof![
        "\\PC{0,20}",
        json.prop_map(|value| value.to_string()),
        proptest::sample::select(known.to_vec()).prop_map(|value| value.to_string()),
    ]
}

proptest! {
    #[test]
    fn any_lines_end_in_one_outcome(
        lines in prop::collection::vec(any_line(), 0..12),
        stderr in ".{0,40}",
        code in any::<Option<i32>>(),
    ) {
        for name in ["claude-code", "codex"] {
            let end = ProgramEnd::Exited(code);
            let read = read(&known(name), &lines, end, &stderr);
            match read.outcome {
                Ok(reply) => prop_assert!(reply.stop != StopReason::End || !reply.text.is_empty()),
                Err(failure) => prop_assert!(failure.message.chars().count() <= 600),
            }
        }
    }
}
