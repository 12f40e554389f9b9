//! The models in the lists of local servers, in each server's format. Models that cannot chat are left
//! out.

use serde_json::Value;

use super::ServedModel;
use super::model_names::{is_embedding, parameters, parameters_in_name};

/// Reads the list of an Ollama server, and its list of loaded models.
pub(super) fn ollama_models(list: Option<&Value>, loaded: Option<&Value>) -> Vec<ServedModel> {
    let loaded: Vec<String> = loaded
        .map(|list| {
            entries(list, "models")
                .into_iter()
                .filter_map(name)
                .collect()
        })
        .unwrap_or_default();
    let model = |entry: &Value| {
        let id = name(entry)?;
        let capabilities = entry.get("capabilities").and_then(Value::as_array);
        let chats = match capabilities {
            Some(list) => list.iter().any(|capability| capability == "completion"),
            None => {
                !is_embedding(&id)
                    && !families(entry)
                        .iter()
                        .any(|family| is_embedding(family) || family.ends_with("bert"))
            }
        };
        // Ollama names the host behind a remote model; gateways that speak its protocol give all
        // vendors' models this format.
        let remote = ["remote_host", "remote_model"]
            .iter()
            .any(|key| text(entry, key).is_some());
        let elsewhere =
            remote || entry.pointer("/details/format").and_then(Value::as_str) == Some("cloud");
        let parameters = entry
            .pointer("/details/parameter_size")
            .and_then(Value::as_str)
            .and_then(parameters);
        chats.then(|| ServedModel {
            context: entry
                .pointer("/details/context_length")
                .and_then(Value::as_u64),
            parameters: parameters.or_else(|| parameters_in_name(&id)),
            loaded: loaded.contains(&id),
            runs_here: !elsewhere && !is_ollamas_cloud(&id),
            id,
        })
    };
    list.map(|list| {
        entries(list, "models")
            .into_iter()
            .filter_map(model)
            .collect()
    })
    .unwrap_or_default()
}

/// Returns whether the name is that of a model in Ollama's cloud: `gpt-oss:120b-cloud`,
/// `glm:cloud`.
pub fn is_ollamas_cloud(id: &str) -> bool {
    id.ends_with("-cloud") || id.ends_with(":cloud")
}

/// Reads an entry of a llama.cpp server; `context` is the size with which the server was started.
pub(super) fn llama_cpp_model(entry: &Value, context: Option<u64>) -> Option<ServedModel> {
    let id = text(entry, "id")?;
    let meta = |key: &str| {
        entry
            .pointer(&format!("/meta/{key}"))
            .and_then(Value::as_u64)
    };
    // A router reports for each model whether it is loaded; a server with a single model has it
    // loaded.
    let status = entry.pointer("/status/value").and_then(Value::as_str);
    let capabilities = entry.get("capabilities").and_then(Value::as_array);
    let chats = !is_embedding(&id)
        && capabilities.is_none_or(|list| list.iter().any(|capability| capability == "completion"));
    chats.then(|| ServedModel {
        context: meta("n_ctx")
            .or(context.filter(|context| *context > 0))
            .or_else(|| meta("n_ctx_train")),
        parameters: meta("n_params").or_else(|| parameters_in_name(&id)),
        loaded: status.is_none_or(|status| status == "loaded"),
        runs_here: true,
        id,
    })
}

pub(super) fn lm_studio_model(entry: &Value) -> Option<ServedModel> {
    let id = text(entry, "id")?;
    let chats = match text(entry, "type").as_deref() {
        Some("llm" | "vlm") => true,
        Some(_) => false,
        None => !is_embedding(&id),
    };
    let number = |key: &str| entry.get(key).and_then(Value::as_u64);
    chats.then(|| ServedModel {
        context: number("loaded_context_length").or_else(|| number("max_context_length")),
        parameters: parameters_in_name(&id),
        loaded: text(entry, "state").is_some_and(|state| state == "loaded"),
        runs_here: true,
        id,
    })
}

/// Reads an entry in OpenAI's format: vLLM's, or LM Studio's if its own list is missing.
pub(super) fn openai_model(entry: &Value) -> Option<ServedModel> {
    let id = text(entry, "id").filter(|id| !is_embedding(id))?;
    let context = entry.get("max_model_len").and_then(Value::as_u64);
    // vLLM lists loaded models; LM Studio lists those that it can load.
    let loaded = text(entry, "owned_by").is_some_and(|owner| owner == "vllm");
    Some(ServedModel {
        parameters: parameters_in_name(&id),
        id,
        context,
        loaded,
        runs_here: true,
    })
}

pub(super) fn entries<'a>(list: &'a Value, key: &str) -> Vec<&'a Value> {
    list.get(key)
        .and_then(Value::as_array)
        .map(|entries| entries.iter().collect())
        .unwrap_or_default()
}

/// Returns the text of a field, unless it is empty.
pub(super) fn text(json: &Value, key: &str) -> Option<String> {
    json.get(key)
        .and_then(Value::as_str)
        .filter(|text| !text.is_empty())
        .map(ToOwned::to_owned)
}

fn name(entry: &Value) -> Option<String> {
    text(entry, "model").or_else(|| text(entry, "name"))
}

fn families(entry: &Value) -> Vec<String> {
    let list = entry
        .pointer("/details/families")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    let single = entry.pointer("/details/family");
    list.chain(single)
        .filter_map(Value::as_str)
        .map(str::to_lowercase)
        .collect()
}
