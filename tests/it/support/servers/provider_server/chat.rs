//! Chat Completions streams: the same chunks for all servers, with the differences of each.

use serde_json::{Value, json};

use super::Vendor;
use super::script::Finish;
use super::wire::StreamSource;

/// The reported reasoning tokens of an answer with thinking.
const REASONING_TOKENS: u64 = 7;

pub(super) fn chat_frames(source: &StreamSource<'_>) -> Vec<String> {
    let text = source.text;
    let mut frames = Vec::new();
    if source.vendor == Vendor::OpenRouter {
        frames.push(": OPENROUTER PROCESSING\n\n".to_owned());
    }
    frames.push(chunk(
        source,
        &json!({"role": "assistant", "content": "", "refusal": null}),
        &Value::Null,
        None,
    ));
    if !text.thinking.is_empty() {
        frames.push(chunk(
            source,
            &thinking(source.vendor, &text.thinking),
            &Value::Null,
            None,
        ));
    }
    let field = if text.finish == Finish::Refusal {
        "refusal"
    } else {
        "content"
    };
    frames.extend(
        source
            .pieces()
            .iter()
            .map(|piece| chunk(source, &json!({field: piece}), &Value::Null, None)),
    );
    if let Some(error) = &text.error {
        frames.push(error_frame(source, error));
        return frames;
    }
    let finish = match text.finish {
        Finish::Stop | Finish::Refusal => json!("stop"),
        Finish::Length => json!("length"),
        Finish::Missing => Value::Null,
    };
    let usage = text
        .usage
        .filter(|_| source.wants_usage || always_reports_usage(source.vendor))
        .map(|usage| usage_json(source, usage));
    // Mistral reports usage in the chunk that ends the text, the others in one after it.
    let (in_last_chunk, after) = if source.vendor == Vendor::Mistral {
        (usage, None)
    } else {
        (None, usage)
    };
    frames.push(chunk(source, &json!({}), &finish, in_last_chunk.as_ref()));
    if let Some(usage) = after {
        let mut last = json!({
            "id": "chatcmpl-1",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": source.served(),
            "choices": [],
            "usage": usage,
        });
        if source.vendor == Vendor::LlamaCpp {
            last["timings"] =
                json!({"prompt_n": 1, "prompt_ms": 2.5, "predicted_n": 3, "predicted_ms": 4.5});
        }
        frames.push(format!("data: {last}\n\n"));
    }
    frames.push("data: [DONE]\n\n".to_owned());
    frames
}

fn chunk(
    source: &StreamSource<'_>,
    delta: &Value,
    finish: &Value,
    usage: Option<&Value>,
) -> String {
    let mut choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
    let mut chunk = json!({
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": source.served(),
        "usage": usage,
    });
    match source.vendor {
        Vendor::OpenRouter => {
            choice["native_finish_reason"] = finish.clone();
            chunk["provider"] = json!("Upstream");
        }
        Vendor::Mistral if chunk["usage"].is_null() => {
            chunk.as_object_mut().unwrap().remove("usage");
        }
        _ => {}
    }
    chunk["choices"] = json!([choice]);
    format!("data: {chunk}\n\n")
}

/// Returns the delta that contains thinking.
fn thinking(vendor: Vendor, text: &str) -> Value {
    match vendor {
        Vendor::Mistral => {
            json!({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": text}]}]})
        }
        Vendor::OpenRouter | Vendor::Vllm | Vendor::Ollama => {
            json!({"content": "", "reasoning": text})
        }
        _ => json!({"reasoning_content": text}),
    }
}

/// Returns whether the vendor reports usage without being asked.
fn always_reports_usage(vendor: Vendor) -> bool {
    matches!(vendor, Vendor::Xai | Vendor::Mistral | Vendor::OpenRouter)
}

fn usage_json(source: &StreamSource<'_>, (input, output): (u64, u64)) -> Value {
    let reasoning = if source.text.thinking.is_empty() {
        0
    } else {
        REASONING_TOKENS
    };
    let (read, written) = source.text.cached;
    let mut usage = json!({
        "prompt_tokens": input,
        "completion_tokens": output,
        "total_tokens": input + output,
        "prompt_tokens_details": {"cached_tokens": read},
        "completion_tokens_details": {"reasoning_tokens": reasoning},
    });
    if written > 0 {
        usage["prompt_tokens_details"]["cache_write_tokens"] = json!(written);
    }
    match source.vendor {
        // xAI alone reports reasoning tokens in addition to the completion tokens.
        Vendor::Xai => {
            usage["completion_tokens"] = json!(output.saturating_sub(reasoning));
            usage["cost_in_usd_ticks"] = json!(123_450_000_u64);
        }
        Vendor::OpenRouter => usage["cost"] = json!(0.012_345),
        _ => {}
    }
    usage
}

fn error_frame(source: &StreamSource<'_>, error: &Value) -> String {
    let body = match source.vendor {
        Vendor::OpenRouter => {
            json!({
                "id": "gen-1",
                "object": "chat.completion.chunk",
                "model": source.served(),
                "error": error,
                "choices": [{"index": 0, "delta": {"content": ""}, "finish_reason": "error"}],
            })
        }
        _ => json!({"error": error}),
    };
    format!("data: {body}\n\n")
}
