//! The vendors' streams, written from their documentation.

use serde_json::{Value, json};

use super::Vendor;
use super::chat::chat_frames;
use super::script::{Answer, Content, Finish, Text};

/// A wire format; `Chat` differs slightly between vendors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wire {
    Messages,
    Chat,
    Responses,
    Gemini,
    Ollama,
}

/// Everything that a stream depends on.
pub(super) struct StreamSource<'a> {
    pub(super) vendor: Vendor,
    pub(super) wire: Wire,
    pub(super) model: &'a str,
    /// The model's answer or its refusal.
    pub(super) content: &'a str,
    pub(super) text: &'a Text,
    /// Whether the client asks for usage; some Chat Completions servers send it only then.
    pub(super) wants_usage: bool,
}

/// Returns the vendor's wire format.
pub(super) fn wire_of(vendor: Vendor) -> Wire {
    match vendor {
        Vendor::Anthropic => Wire::Messages,
        Vendor::ChatGpt => Wire::Responses,
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

/// Returns the bytes of a whole answer in the vendor's format, for tests without a connection.
pub(crate) fn stream_of(vendor: Vendor, model: &str, answer: &Answer) -> Vec<u8> {
    let wire = wire_of(vendor);
    let frames = match &answer.content {
        Content::Text(text) => {
            let content = text
                .whole
                .as_deref()
                .expect("a valid answer depends on the request");
            frames(&StreamSource {
                vendor,
                wire,
                model,
                content,
                text,
                wants_usage: true,
            })
        }
        Content::Raw { body, .. } => vec![body.clone()],
        Content::Error { .. } | Content::Endless { .. } => panic!("not a whole stream"),
    };
    answer
        .damage
        .iter()
        .fold(frames, |frames, damage| damage.apply(frames))
        .concat()
}

pub(super) fn frames(source: &StreamSource<'_>) -> Vec<Vec<u8>> {
    let frames = match source.wire {
        Wire::Messages => anthropic_frames(source),
        Wire::Chat => chat_frames(source),
        Wire::Responses => responses_frames(source),
        Wire::Gemini => google_frames(source),
        Wire::Ollama => ollama_frames(source),
    };
    frames.into_iter().map(String::into_bytes).collect()
}

/// Returns the content type of this format.
pub(super) fn content_type(wire: Wire) -> &'static str {
    match wire {
        Wire::Messages | Wire::Chat | Wire::Responses | Wire::Gemini => "text/event-stream",
        Wire::Ollama => "application/x-ndjson",
    }
}

impl StreamSource<'_> {
    /// Returns the model that the stream reports.
    pub(super) fn served(&self) -> &str {
        self.text.served.as_deref().unwrap_or(self.model)
    }

    /// Returns the content in pieces of whole characters.
    pub(super) fn pieces(&self) -> Vec<String> {
        let characters: Vec<char> = self.content.chars().collect();
        characters
            .chunks(characters.len().div_ceil(self.text.pieces.max(1)).max(1))
            .map(|piece| piece.iter().collect())
            .collect()
    }
}

fn anthropic_frames(source: &StreamSource<'_>) -> Vec<String> {
    let text = source.text;
    let event = |data: Value| {
        format!(
            "event: {}\ndata: {data}\n\n",
            data["type"].as_str().unwrap()
        )
    };
    let (read, written) = text.cached;
    let start_usage = text.usage.map(|(input, _)| {
        json!({"input_tokens": input - read - written, "cache_creation_input_tokens": written,
            "cache_read_input_tokens": read, "output_tokens": 1})
    });
    let message = json!({
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": source.served(),
        "content": [],
        "stop_reason": null,
        "stop_sequence": null,
        "usage": start_usage,
    });
    let mut frames = vec![
        event(json!({"type": "message_start", "message": message})),
        event(json!({
            "type": "content_block_start",
            "index": 0,
            "content_block": {"type": "thinking", "thinking": "", "signature": ""},
        })),
        event(json!({
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "thinking_delta", "thinking": "Hm."},
        })),
        event(json!({"type": "content_block_stop", "index": 0})),
        event(json!({"type": "ping"})),
        event(json!({
            "type": "content_block_start",
            "index": 1,
            "content_block": {"type": "text", "text": ""},
        })),
    ];
    if text.finish != Finish::Refusal {
        let delta = |piece| {
            event(json!({
                "type": "content_block_delta",
                "index": 1,
                "delta": {"type": "text_delta", "text": piece},
            }))
        };
        frames.extend(source.pieces().into_iter().map(delta));
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
            json!({"type": "refusal", "category": "cyber", "explanation": source.content}),
        ),
        Finish::Missing => (Value::Null, Value::Null),
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

fn google_frames(source: &StreamSource<'_>) -> Vec<String> {
    let text = source.text;
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
            candidate["finishMessage"] = json!(source.content);
        }
        let mut fragment =
            json!({"candidates": [candidate], "modelVersion": source.served(), "responseId": "r1"});
        if let Some((input, _)) = text.usage {
            fragment["usageMetadata"] = json!({
                "promptTokenCount": input,
                "candidatesTokenCount": output,
                "totalTokenCount": input + output,
            });
            // Zeros are left out.
            if text.cached.0 > 0 {
                fragment["usageMetadata"]["cachedContentTokenCount"] = json!(text.cached.0);
            }
        }
        data(&fragment)
    };
    let mut frames = vec![fragment(json!([{"text": "Hm.", "thought": true}]), None, 0)];
    if text.finish != Finish::Refusal {
        frames.extend(
            source
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
        Finish::Missing => fragment(json!([{"text": ""}]), None, output),
    });
    frames
}

/// Returns lines of JSON. Ollama has no refusals, so a model that refuses says so in its answer.
fn ollama_frames(source: &StreamSource<'_>) -> Vec<String> {
    let text = source.text;
    let line = |message: Value, rest: Value| {
        let mut line = json!({
            "model": source.served(),
            "created_at": "2026-11-21T09:00:00.123456Z",
            "message": message,
            "done": false,
        });
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
        source
            .pieces()
            .iter()
            .map(|piece| line(json!({"role": "assistant", "content": piece}), Value::Null)),
    );
    if let Some(error) = &text.error {
        let message = error
            .get("message")
            .cloned()
            .unwrap_or_else(|| error.clone());
        frames.push(format!("{}\n", json!({"error": message})));
        return frames;
    }
    let mut end = match text.finish {
        Finish::Stop | Finish::Refusal => json!({"done": true, "done_reason": "stop"}),
        Finish::Length => json!({"done": true, "done_reason": "length"}),
        Finish::Missing => json!({}),
    };
    if let Some((input, output)) = text.usage {
        let counts = json!({
            "total_duration": 9,
            "prompt_eval_count": input,
            "prompt_eval_duration": 3,
            "eval_count": output,
            "eval_duration": 6,
        });
        end.as_object_mut()
            .unwrap()
            .extend(counts.as_object().cloned().unwrap_or_default());
    }
    frames.push(line(json!({"role": "assistant", "content": ""}), end));
    frames
}

fn responses_frames(source: &StreamSource<'_>) -> Vec<String> {
    let text = source.text;
    let mut number = 0;
    let mut event = |mut data: Value| {
        data["sequence_number"] = json!(number);
        number += 1;
        let name = data["type"].as_str().unwrap().to_owned();
        format!("event: {name}\ndata: {data}\n\n")
    };
    let response = |status: &str, more: Value| {
        let mut response = json!({"id": "resp_1", "object": "response", "status": status,
            "model": source.served(), "output": [], "error": null, "usage": null});
        for (name, value) in more.as_object().into_iter().flatten() {
            response[name] = value.clone();
        }
        json!({"type": format!("response.{status}"), "response": response})
    };
    let mut created = response("in_progress", Value::Null);
    created["type"] = json!("response.created");
    let item = |at: u32, item: Value| json!({"type": "response.output_item.added", "output_index": at, "item": item});
    let delta = |kind: &str, at: u32, piece: &str| json!({"type": format!("response.{kind}.delta"), "output_index": at, "delta": piece});
    let message = |phase: &str| json!({"type": "message", "role": "assistant", "phase": phase, "content": []});
    let mut frames = vec![
        event(created),
        event(item(0, json!({"type": "reasoning", "summary": []}))),
        event(delta("reasoning_summary_text", 0, "Hm.")),
        event(item(1, message("commentary"))),
        event(delta("output_text", 1, "I think about it.")),
        event(item(2, message("final_answer"))),
    ];
    for piece in source.pieces() {
        let kind = match text.finish {
            Finish::Refusal => "refusal",
            Finish::Stop | Finish::Length | Finish::Missing => "output_text",
        };
        frames.push(event(delta(kind, 2, &piece)));
    }
    if let Some(error) = &text.error {
        frames.push(event(response("failed", json!({"error": error}))));
        return frames;
    }
    let usage = text.usage.map(|(input, output)| {
        json!({"input_tokens": input, "input_tokens_details": {"cached_tokens": text.cached.0},
            "output_tokens": output, "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": input + output})
    });
    let end = match text.finish {
        Finish::Stop | Finish::Refusal => response("completed", json!({"usage": usage})),
        Finish::Length => response(
            "incomplete",
            json!({"usage": usage, "incomplete_details": {"reason": "max_output_tokens"}}),
        ),
        Finish::Missing => return frames,
    };
    frames.push(event(end));
    frames
}
