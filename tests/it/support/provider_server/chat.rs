//! Chat Completions as its many servers send it: the same chunks, with what each does in a way of
//! its own.

use serde_json::{Value, json};

use super::Vendor;
use super::script::Finish;
use super::wire::Spoken;

/// What thinking counts as, where there is some.
const REASONING_TOKENS: u64 = 7;

pub(super) fn chat_frames(spoken: &Spoken<'_>) -> Vec<String> {
    let text = spoken.text;
    let mut frames = Vec::new();
    if spoken.vendor == Vendor::OpenRouter {
        frames.push(": OPENROUTER PROCESSING\n\n".to_owned());
    }
    frames.push(chunk(
        spoken,
        &json!({"role": "assistant", "content": "", "refusal": null}),
        &Value::Null,
        None,
    ));
    if !text.thinking.is_empty() {
        frames.push(chunk(
            spoken,
            &thinking(spoken.vendor, &text.thinking),
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
        spoken
            .pieces()
            .iter()
            .map(|piece| chunk(spoken, &json!({field: piece}), &Value::Null, None)),
    );
    if let Some(error) = &text.error {
        frames.push(error_frame(spoken, error));
        return frames;
    }
    let finish = match text.finish {
        Finish::Stop | Finish::Refusal => json!("stop"),
        Finish::Length => json!("length"),
        Finish::Unsaid => Value::Null,
    };
    let usage = text
        .usage
        .filter(|_| spoken.wants_usage || tells_unasked(spoken.vendor))
        .map(|usage| counts(spoken, usage));
    // Mistral counts in the chunk that ends the text, the others in one after it.
    let (with_the_end, after) = if spoken.vendor == Vendor::Mistral {
        (usage, None)
    } else {
        (None, usage)
    };
    frames.push(chunk(spoken, &json!({}), &finish, with_the_end.as_ref()));
    if let Some(usage) = after {
        let mut last = json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": spoken.served(),
            "choices": [], "usage": usage});
        if spoken.vendor == Vendor::LlamaCpp {
            last["timings"] =
                json!({"prompt_n": 1, "prompt_ms": 2.5, "predicted_n": 3, "predicted_ms": 4.5});
        }
        frames.push(format!("data: {last}\n\n"));
    }
    frames.push("data: [DONE]\n\n".to_owned());
    frames
}

fn chunk(spoken: &Spoken<'_>, delta: &Value, finish: &Value, usage: Option<&Value>) -> String {
    let mut choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
    let mut chunk = json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": spoken.served(), "usage": usage});
    match spoken.vendor {
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

/// Where thinking is shown.
fn thinking(vendor: Vendor, words: &str) -> Value {
    match vendor {
        Vendor::Mistral => {
            json!({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": words}]}]})
        }
        Vendor::OpenRouter | Vendor::Vllm | Vendor::Ollama => {
            json!({"content": "", "reasoning": words})
        }
        _ => json!({"reasoning_content": words}),
    }
}

/// Who counts whether or not it was asked to.
fn tells_unasked(vendor: Vendor) -> bool {
    matches!(vendor, Vendor::Xai | Vendor::Mistral | Vendor::OpenRouter)
}

fn counts(spoken: &Spoken<'_>, (input, output): (u64, u64)) -> Value {
    let reasoning = if spoken.text.thinking.is_empty() {
        0
    } else {
        REASONING_TOKENS
    };
    let mut usage = json!({"prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output,
        "prompt_tokens_details": {"cached_tokens": 0}, "completion_tokens_details": {"reasoning_tokens": reasoning}});
    match spoken.vendor {
        // Here alone reasoning comes on top of the completion.
        Vendor::Xai => {
            usage["completion_tokens"] = json!(output.saturating_sub(reasoning));
            usage["cost_in_usd_ticks"] = json!(123_450_000_u64);
        }
        Vendor::OpenRouter => usage["cost"] = json!(0.012_345),
        _ => {}
    }
    usage
}

fn error_frame(spoken: &Spoken<'_>, error: &Value) -> String {
    let body = match spoken.vendor {
        Vendor::OpenRouter => {
            json!({"id": "gen-1", "object": "chat.completion.chunk", "model": spoken.served(), "error": error,
            "choices": [{"index": 0, "delta": {"content": ""}, "finish_reason": "error"}]})
        }
        _ => json!({"error": error}),
    };
    format!("data: {body}\n\n")
}
