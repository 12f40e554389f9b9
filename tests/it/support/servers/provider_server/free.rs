//! The vendors' answers to free requests: whether a key is valid, which models exist, whether a
//! server is up.

use serde_json::{Value, json};

use super::Vendor;

/// Returns the vendor's status and body for a free request; `None` for an unknown path.
pub(super) fn free_answer(vendor: Vendor, path: &str, body: &Value) -> Option<(u16, Value)> {
    let model = |extra: Value| {
        let model = json!({"id": name(vendor), "object": "model", "owned_by": vendor.id()});
        with(model, &extra)
    };
    let list = |extra: Value| json!({"object": "list", "data": [model(extra)]});
    let answer = match (vendor, path) {
        (Vendor::Anthropic, "/v1/models") => {
            let limits = json!({"max_input_tokens": 1_000_000, "max_tokens": 128_000});
            json!({"data": [with(json!({"type": "model", "id": name(vendor)}), &limits)],
                "has_more": true, "first_id": name(vendor), "last_id": name(vendor)})
        }
        (Vendor::Google, "/v1beta/models") => {
            let model = json!({
                "name": format!("models/{}", name(vendor)),
                "inputTokenLimit": 1_048_576,
                "outputTokenLimit": 65_536,
                "supportedGenerationMethods": ["generateContent", "countTokens"],
            });
            json!({"models": [model], "nextPageToken": "x"})
        }
        (
            Vendor::OpenAi | Vendor::Xai | Vendor::LmStudio | Vendor::Ollama | Vendor::Custom(_),
            "/v1/models",
        ) => list(Value::Null),
        (Vendor::ChatGpt, "/v1/models") => {
            let hidden = json!({"slug": "internal", "display_name": "?", "visibility": "hide"});
            json!({"models": [hidden, {"slug": name(vendor), "display_name": "GPT", "visibility": "list"}]})
        }
        (Vendor::Xai, "/v1/language-models") => {
            json!({"models": [model(json!({"prompt_text_token_price": 20_000,
            "completion_text_token_price": 60_000, "max_prompt_length": 2_000_000}))]})
        }
        (Vendor::Mistral, "/v1/models") => list(
            json!({"capabilities": {"completion_chat": true}, "max_context_length": 262_144,
            "default_model_temperature": 0.7}),
        ),
        // The list is public and does not check the key.
        (Vendor::OpenRouter, "/v1/models") => {
            let model = json!({
                "id": name(vendor),
                "context_length": 131_072,
                "pricing": {"prompt": "0.000003", "completion": "0.000015"},
                "supported_parameters": ["structured_outputs", "max_tokens"],
                "top_provider": {"max_completion_tokens": 65_536},
            });
            json!({"data": [model]})
        }
        (Vendor::OpenRouter, "/v1/key") => {
            json!({"data": {"label": "sk-or-v1-…", "limit": 20.0, "limit_remaining": 12.5}})
        }
        (Vendor::Ollama, "/api/version") => json!({"version": "0.14.2"}),
        (Vendor::Ollama, "/api/tags") => {
            let details = json!({"family": "qwen3", "parameter_size": "8B"});
            let model = json!({"name": name(vendor), "model": name(vendor), "details": details});
            json!({"models": [with(model, &json!({"size": 5_000_000_000_u64}))]})
        }
        (Vendor::Ollama, "/api/show")
            if [&body["model"], &body["name"]].contains(&&json!(name(vendor))) =>
        {
            json!({
                "details": {"family": "qwen3", "parameter_size": "8B"},
                "model_info": {"general.architecture": "qwen3", "qwen3.context_length": 40_960},
                "capabilities": ["completion", "thinking"],
            })
        }
        (Vendor::Ollama, "/api/show") => {
            let asked = body["model"].as_str().unwrap_or_default();
            return Some((404, json!({"error": format!("model '{asked}' not found")})));
        }
        (Vendor::LlamaCpp, "/health") => json!({"status": "ok"}),
        (Vendor::LlamaCpp, "/v1/models") => {
            list(json!({"meta": {"n_ctx_train": 40_960, "n_params": 8_000_000_000_u64}}))
        }
        (Vendor::LlamaCpp, "/props") => {
            json!({"default_generation_settings": {"n_ctx": 16_384}, "model_path": "x.gguf"})
        }
        (Vendor::Vllm, "/health") => Value::Null,
        (Vendor::Vllm, "/v1/models") => {
            list(json!({"root": name(vendor), "max_model_len": 32_768}))
        }
        _ => return None,
    };
    Some((200, answer))
}

/// Returns an object with the fields of another.
fn with(mut object: Value, fields: &Value) -> Value {
    let fields = fields.as_object().cloned().unwrap_or_default();
    object.as_object_mut().unwrap().extend(fields);
    object
}

/// Returns the only model that the vendor lists.
pub(crate) fn name(vendor: Vendor) -> &'static str {
    match vendor {
        Vendor::Anthropic => "claude-sonnet-5-5",
        Vendor::OpenAi | Vendor::ChatGpt => "gpt-6.1-sol",
        Vendor::Google => "gemini-4-argon",
        Vendor::Xai => "grok-4.7",
        Vendor::Mistral => "mistral-large-4",
        Vendor::OpenRouter => "anthropic/claude-sonnet-5.5",
        Vendor::Ollama => "qwen3:8b",
        Vendor::LlamaCpp | Vendor::LmStudio | Vendor::Vllm | Vendor::Custom(_) => "any-model",
    }
}
