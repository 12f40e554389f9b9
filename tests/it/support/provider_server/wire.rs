//! The vendors' streams, written down from their documentation.

use serde_json::{Value, json};

use super::Vendor;
use super::chat::chat_frames;
use super::script::{Answer, Content, Finish, Text};

/// A wire format; `Chat` differs a little from vendor to vendor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wire {
    Messages,
    Chat,
    Gemini,
    Ollama,
}

/// All that a stream is made from.
pub(super) struct Spoken<'a> {
    pub(super) vendor: Vendor,
    pub(super) wire: Wire,
    pub(super) model: &'a str,
    /// What the model writes, or declines with.
    pub(super) words: &'a str,
    pub(super) text: &'a Text,
    /// Chat Completions tells usage only to those who ask for it.
    pub(super) wants_usage: bool,
}

/// The format that a vendor is asked in.
pub(super) fn wire_of(vendor: Vendor) -> Wire {
    match vendor {
        Vendor::Anthropic => Wire::Messages,
        Vendor::Google => Wire::Gemini,
        Vendor::Ollama => Wire::Ollama,
        Vendor::OpenAi
        | Vendor::Xai
        | Vendor::Mistral
        | Vendor::OpenRouter
        | Vendor::LlamaCpp
        | Vendor::LmStudio
        | Vendor::Vllm
        | Vendor::Custom(_) => Wire::Chat,
    }
}

/// The bytes of a whole answer as the vendor would send them, for tests that need no connection.
pub(crate) fn stream_of(vendor: Vendor, model: &str, answer: &Answer) -> Vec<u8> {
    let wire = wire_of(vendor);
    let frames = match &answer.content {
        Content::Text(text) => {
            let words = text
                .whole
                .as_deref()
                .expect("an answer to a schema needs a request");
            frames(&Spoken {
                vendor,
                wire,
                model,
                words,
                text,
                wants_usage: true,
            })
        }
        Content::Raw { body, .. } => vec![body.clone()],
        Content::Error { .. } | Content::Endless { .. } => panic!("that is no whole stream"),
    };
    answer
        .damage
        .iter()
        .fold(frames, |frames, damage| damage.done_to(frames))
        .concat()
}

pub(super) fn frames(spoken: &Spoken<'_>) -> Vec<Vec<u8>> {
    let frames = match spoken.wire {
        Wire::Messages => anthropic_frames(spoken),
        Wire::Chat => chat_frames(spoken),
        Wire::Gemini => google_frames(spoken),
        Wire::Ollama => ollama_frames(spoken),
    };
    frames.into_iter().map(String::into_bytes).collect()
}

/// The type of a body in this format.
pub(super) fn content_type(wire: Wire) -> &'static str {
    match wire {
        Wire::Messages | Wire::Chat | Wire::Gemini => "text/event-stream",
        Wire::Ollama => "application/x-ndjson",
    }
}

impl Spoken<'_> {
    /// The model that is said to answer.
    pub(super) fn served(&self) -> &str {
        self.text.served.as_deref().unwrap_or(self.model)
    }

    /// The words in pieces of whole characters; none when the model declines.
    pub(super) fn pieces(&self) -> Vec<String> {
        let characters: Vec<char> = self.words.chars().collect();
        characters
            .chunks(characters.len().div_ceil(self.text.pieces.max(1)).max(1))
            .map(|piece| piece.iter().collect())
            .collect()
    }
}

fn anthropic_frames(spoken: &Spoken<'_>) -> Vec<String> {
    let text = spoken.text;
    let event = |data: Value| {
        format!(
            "event: {}\ndata: {data}\n\n",
            data["type"].as_str().unwrap()
        )
    };
    let start_usage = text.usage.map(
        |(input, _)| json!({"input_tokens": input, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 1}),
    );
    let message = json!({"id": "msg_1", "type": "message", "role": "assistant", "model": spoken.served(), "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": start_usage});
    let mut frames = vec![
        event(json!({"type": "message_start", "message": message})),
        event(
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": "", "signature": ""}}),
        ),
        event(
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "Hm."}}),
        ),
        event(json!({"type": "content_block_stop", "index": 0})),
        event(json!({"type": "ping"})),
        event(
            json!({"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}}),
        ),
    ];
    if text.finish != Finish::Refusal {
        let delta = |piece| {
            event(
                json!({"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": piece}}),
            )
        };
        frames.extend(spoken.pieces().into_iter().map(delta));
    }
    if let Some(error) = &text.error {
        frames.push(event(json!({"type": "error", "error": error})));
        return frames;
    }
    let (reason, details) = match text.finish {
        Finish::Stop => (json!("end_turn"), Value::Null),
        Finish::Length => (json!("max_tokens"), Value::Null),
        Finish::Refusal => (
            json!("refusal"),
            json!({"type": "refusal", "category": "cyber", "explanation": spoken.words}),
        ),
        Finish::Unsaid => (Value::Null, Value::Null),
    };
    let usage = text
        .usage
        .map(|(_, output)| json!({"output_tokens": output}));
    frames.push(event(json!({"type": "content_block_stop", "index": 1})));
    frames.push(event(json!({"type": "message_delta", "usage": usage,
        "delta": {"stop_reason": reason, "stop_sequence": null, "stop_details": details}})));
    frames.push(event(json!({"type": "message_stop"})));
    frames
}

fn google_frames(spoken: &Spoken<'_>) -> Vec<String> {
    let text = spoken.text;
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
            candidate["finishMessage"] = json!(spoken.words);
        }
        let mut fragment =
            json!({"candidates": [candidate], "modelVersion": spoken.served(), "responseId": "r1"});
        if let Some((input, _)) = text.usage {
            fragment["usageMetadata"] = json!({"promptTokenCount": input, "candidatesTokenCount": output, "totalTokenCount": input + output});
        }
        data(&fragment)
    };
    let mut frames = vec![fragment(json!([{"text": "Hm.", "thought": true}]), None, 0)];
    if text.finish != Finish::Refusal {
        frames.extend(
            spoken
                .pieces()
                .iter()
                .map(|piece| fragment(json!([{"text": piece}]), None, 1)),
        );
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
        Finish::Unsaid => fragment(json!([{"text": ""}]), None, output),
    });
    frames
}

/// Lines of JSON; Ollama knows no refusal of its own, so that a model that declines says so in its
/// answer.
fn ollama_frames(spoken: &Spoken<'_>) -> Vec<String> {
    let text = spoken.text;
    let line = |message: Value, rest: Value| {
        let mut line = json!({"model": spoken.served(), "created_at": "2026-11-21T09:00:00.123456Z", "message": message, "done": false});
        line.as_object_mut()
            .unwrap()
            .extend(rest.as_object().cloned().unwrap_or_default());
        format!("{line}\n")
    };
    let mut frames = Vec::new();
    if !text.thinking.is_empty() {
        frames.push(line(
            json!({"role": "assistant", "content": "", "thinking": text.thinking}),
            Value::Null,
        ));
    }
    frames.extend(
        spoken
            .pieces()
            .iter()
            .map(|piece| line(json!({"role": "assistant", "content": piece}), Value::Null)),
    );
    if let Some(error) = &text.error {
        let words = error
            .get("message")
            .cloned()
            .unwrap_or_else(|| error.clone());
        frames.push(format!("{}\n", json!({"error": words})));
        return frames;
    }
    let mut end = match text.finish {
        Finish::Stop | Finish::Refusal => json!({"done": true, "done_reason": "stop"}),
        Finish::Length => json!({"done": true, "done_reason": "length"}),
        Finish::Unsaid => json!({}),
    };
    if let Some((input, output)) = text.usage {
        let counts = json!({"total_duration": 9, "prompt_eval_count": input, "prompt_eval_duration": 3, "eval_count": output, "eval_duration": 6});
        end.as_object_mut()
            .unwrap()
            .extend(counts.as_object().cloned().unwrap_or_default());
    }
    frames.push(line(json!({"role": "assistant", "content": ""}), end));
    frames
}
