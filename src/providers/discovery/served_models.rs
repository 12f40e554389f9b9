//! The models in the lists of local servers, in each server's format. Models that cannot chat are
//! left out.

use serde_json::Value;

use super::ServedModel;
use super::model_names::{is_embedding, parameters, parameters_in_name};

/// Reads the list of an Ollama server, and its list of loaded models.
pub(super) fn ollama_models(list: &Value, loaded: &Value) -> Vec<ServedModel> {
    let loaded: Vec<String> = entries(loaded, "models").filter_map(name).collect();
    entries(list, "models")
        .filter_map(|entry| ollama_model(entry, &loaded))
        .collect()
}

fn ollama_model(entry: &Value, loaded: &[String]) -> Option<ServedModel> {
    let id = name(entry)?;
    let details = &entry["details"];
    let families = entries(details, "families").chain([&details["family"]]);
    let mut families = families.filter_map(Value::as_str).map(str::to_lowercase);
    let chats = match entry["capabilities"].as_array() {
        Some(list) => list.iter().any(|capability| capability == "completion"),
        None => {
            !is_embedding(&id)
                && !families.any(|family| is_embedding(&family) || family.ends_with("bert"))
        }
    };
    // Ollama names the host behind a remote model; gateways that speak its protocol give all
    // vendors' models this format.
    let elsewhere = text(entry, "remote_host").is_some()
        || text(entry, "remote_model").is_some()
        || details["format"] == "cloud";
    chats.then(|| ServedModel {
        context: details["context_length"].as_u64(),
        parameters: details["parameter_size"]
            .as_str()
            .and_then(parameters)
            .or_else(|| parameters_in_name(&id)),
        loaded: loaded.contains(&id),
        runs_here: !elsewhere && !is_ollamas_cloud(&id),
        id,
    })
}

/// Returns whether the name is that of a model in Ollama's cloud: `gpt-oss:120b-cloud`,
/// `glm:cloud`.
pub fn is_ollamas_cloud(id: &str) -> bool {
    id.ends_with("-cloud") || id.ends_with(":cloud")
}

/// Reads an entry of a llama.cpp server; `context` is the size with which the server was started.
pub(super) fn llama_cpp_model(entry: &Value, context: Option<u64>) -> Option<ServedModel> {
    let id = text(entry, "id")?;
    let meta = &entry["meta"];
    // A router reports for each model whether it is loaded; a server with a single model has it
    // loaded.
    let status = entry.pointer("/status/value").and_then(Value::as_str);
    let capabilities = entry["capabilities"].as_array();
    let chats = !is_embedding(&id)
        && capabilities.is_none_or(|list| list.iter().any(|capability| capability == "completion"));
    chats.then(|| ServedModel {
        context: meta["n_ctx"]
            .as_u64()
            .or(context.filter(|context| *context > 0))
            .or_else(|| meta["n_ctx_train"].as_u64()),
        parameters: meta["n_params"]
            .as_u64()
            .or_else(|| parameters_in_name(&id)),
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
    chats.then(|| ServedModel {
        context: entry["loaded_context_length"]
            .as_u64()
            .or_else(|| entry["max_context_length"].as_u64()),
        parameters: parameters_in_name(&id),
        loaded: entry["state"] == "loaded",
        runs_here: true,
        id,
    })
}

/// Reads an entry in OpenAI's format: vLLM's, or LM Studio's if its own list is missing.
pub(super) fn openai_model(entry: &Value) -> Option<ServedModel> {
    let id = text(entry, "id").filter(|id| !is_embedding(id))?;
    Some(ServedModel {
        context: entry["max_model_len"].as_u64(),
        parameters: parameters_in_name(&id),
        // vLLM lists loaded models; LM Studio lists those that it can load.
        loaded: entry["owned_by"] == "vllm",
        runs_here: true,
        id,
    })
}

pub(super) fn entries<'a>(list: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    list[key].as_array().into_iter().flatten()
}

/// Returns the text of a field, unless it is empty.
pub(super) fn text(json: &Value, key: &str) -> Option<String> {
    let text = json[key].as_str().filter(|text| !text.is_empty());
    text.map(ToOwned::to_owned)
}

fn name(entry: &Value) -> Option<String> {
    text(entry, "model").or_else(|| text(entry, "name"))
}
