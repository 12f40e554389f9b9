//! The vendors' streams, written down from their documentation.

use serde_json::{Value, json};

use super::Vendor;
use super::script::{Answer, Content, Finish, Text};

/// The bytes of a whole answer as the vendor would send them, for tests that need no connection.
pub(crate) fn stream_of(vendor: Vendor, model: &str, answer: &Answer) -> Vec<u8> {
    match &answer.content {
        Content::Valid => Vec::new(),
        Content::Text(text) => frames(vendor, model, text).concat(),
        Content::Raw { body, .. } => body.clone(),
    }
}

pub(super) fn frames(vendor: Vendor, model: &str, text: &Text) -> Vec<Vec<u8>> {
    let pieces = pieces(&text.whole, text.pieces);
    let frames = match vendor {
        Vendor::Anthropic => anthropic_frames(model, text, &pieces),
        Vendor::OpenAi => openai_frames(model, text, &pieces),
        Vendor::Google => google_frames(model, text, &pieces),
    };
    frames.into_iter().map(String::into_bytes).collect()
}

/// The text in about `count` pieces of whole characters.
fn pieces(text: &str, count: usize) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    characters.chunks(characters.len().div_ceil(count.max(1)).max(1)).map(|piece| piece.iter().collect()).collect()
}

fn anthropic_frames(model: &str, text: &Text, pieces: &[String]) -> Vec<String> {
    let event = |data: Value| format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap());
    let start_usage = text.usage.map(
        |(input, _)| json!({"input_tokens": input, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 1}),
    );
    let message = json!({"id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": start_usage});
    let mut frames = vec![
        event(json!({"type": "message_start", "message": message})),
        event(json!({"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": "", "signature": ""}})),
        event(json!({"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "Hm."}})),
        event(json!({"type": "content_block_stop", "index": 0})),
        event(json!({"type": "ping"})),
        event(json!({"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}})),
    ];
    if text.finish != Finish::Refusal {
        frames.extend(
            pieces
                .iter()
                .map(|piece| event(json!({"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": piece}}))),
        );
    }
    if let Some(error) = &text.error {
        frames.push(event(json!({"type": "error", "error": error})));
        return frames;
    }
    let (reason, details) = match text.finish {
        Finish::Stop => ("end_turn", Value::Null),
        Finish::Length => ("max_tokens", Value::Null),
        Finish::Refusal => ("refusal", json!({"type": "refusal", "category": "cyber", "explanation": text.whole})),
    };
    let usage = text.usage.map(|(_, output)| json!({"output_tokens": output}));
    frames.push(event(json!({"type": "content_block_stop", "index": 1})));
    frames.push(event(json!({"type": "message_delta", "usage": usage,
        "delta": {"stop_reason": reason, "stop_sequence": null, "stop_details": details}})));
    frames.push(event(json!({"type": "message_stop"})));
    frames
}

fn openai_frames(model: &str, text: &Text, pieces: &[String]) -> Vec<String> {
    let data = |data: &Value| format!("data: {data}\n\n");
    let chunk = |delta: Value, finish: Value| {
        data(&json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": model, "usage": null,
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}))
    };
    let field = if text.finish == Finish::Refusal { "refusal" } else { "content" };
    let mut frames = vec![chunk(json!({"role": "assistant", "content": "", "refusal": null}), Value::Null)];
    frames.extend(pieces.iter().map(|piece| chunk(json!({field: piece}), Value::Null)));
    if let Some(error) = &text.error {
        frames.push(data(&json!({"error": error})));
        return frames;
    }
    frames.push(chunk(json!({}), json!(if text.finish == Finish::Length { "length" } else { "stop" })));
    if let Some((input, output)) = text.usage {
        let usage = json!({"prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output,
            "prompt_tokens_details": {"cached_tokens": 0}, "completion_tokens_details": {"reasoning_tokens": 0}});
        frames.push(data(&json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": model, "choices": [], "usage": usage})));
    }
    frames.push("data: [DONE]\n\n".to_owned());
    frames
}

fn google_frames(model: &str, text: &Text, pieces: &[String]) -> Vec<String> {
    let data = |data: &Value| format!("data: {data}\r\n\r\n");
    let fragment = |parts: Value, finish: Option<&str>, output: u64| {
        let mut candidate = json!({"index": 0});
        if !parts.is_null() {
            candidate["content"] = json!({"role": "model", "parts": parts});
        }
        if let Some(finish) = finish {
            candidate["finishReason"] = json!(finish);
        }
        if finish == Some("SAFETY") {
            candidate["finishMessage"] = json!(text.whole);
        }
        let mut fragment = json!({"candidates": [candidate], "modelVersion": model, "responseId": "r1"});
        if let Some((input, _)) = text.usage {
            fragment["usageMetadata"] =
                json!({"promptTokenCount": input, "candidatesTokenCount": output, "totalTokenCount": input + output});
        }
        data(&fragment)
    };
    let mut frames = vec![fragment(json!([{"text": "Hm.", "thought": true}]), None, 0)];
    if text.finish != Finish::Refusal {
        frames.extend(pieces.iter().map(|piece| fragment(json!([{"text": piece}]), None, 1)));
    }
    if let Some(error) = &text.error {
        frames.push(data(&json!({"error": error})));
        return frames;
    }
    let output = text.usage.map_or(0, |(_, output)| output);
    frames.push(match text.finish {
        Finish::Stop => fragment(json!([{"text": ""}]), Some("STOP"), output),
        Finish::Length => fragment(Value::Null, Some("MAX_TOKENS"), output),
        Finish::Refusal => fragment(Value::Null, Some("SAFETY"), output),
    });
    frames
}
