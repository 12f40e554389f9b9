//! The models in the lists of local servers, in each server's format. Models that cannot chat are
//! left out.

use serde_json::Value;

use super::ServedModel;
use crate::domain::model::vendors::LocalServerKind;
use crate::providers::wire::entries;

/// `None` for others. `context` is the one of the whole server, `running` the names of the models
/// that it has loaded, where it states them apart.
pub(super) fn model(
    kind: LocalServerKind,
    entry: &Value,
    context: Option<u64>,
    running: &[String],
) -> Option<ServedModel> {
    let id = text(entry, "id").or_else(|| name(entry))?;
    let (details, meta) = (&entry["details"], &entry["meta"]);
    let is_ollama = kind == LocalServerKind::Ollama;
    let capabilities = entry["capabilities"].as_array();
    let chats = match (entry["type"].as_str(), capabilities) {
        (Some(kind), _) => matches!(kind, "llm" | "vlm"),
        (None, Some(list)) => {
            let completes = list.iter().any(|capability| capability == "completion");
            completes && (is_ollama || !is_embedding(&id))
        }
        (None, None) => {
            let families = entries(details, "families").chain([&details["family"]]);
            let mut families = families.filter_map(Value::as_str).map(str::to_lowercase);
            let embeds = |family: String| is_embedding(&family) || family.ends_with("bert");
            !is_embedding(&id) && !families.any(embeds)
        }
    };
    let number = |values: &[&Value]| values.iter().find_map(|value| value.as_u64());
    let longest = [
        &meta["n_ctx_train"],
        &entry["loaded_context_length"],
        &entry["max_context_length"],
        &entry["max_model_len"],
    ];
    let stated = details["parameter_size"].as_str().and_then(parameters);
    let status = entry.pointer("/status/value").and_then(Value::as_str);
    let elsewhere = text(entry, "remote_host").is_some()
        || text(entry, "remote_model").is_some()
        || details["format"] == "cloud"
        || is_ollama && is_ollamas_cloud(&id);
    chats.then(|| ServedModel {
        context: number(&[&details["context_length"], &meta["n_ctx"]])
            .or(context)
            .or_else(|| number(&longest)),
        parameters: stated
            .or_else(|| meta["n_params"].as_u64())
            .or_else(|| parameters_in_name(&id)),
        loaded: match kind {
            LocalServerKind::Ollama => running.contains(&id),
            LocalServerKind::LlamaCpp => status.is_none_or(|status| status == "loaded"),
            LocalServerKind::LmStudio => entry["state"] == "loaded",
            LocalServerKind::Vllm => entry["owned_by"] == "vllm",
        },
        runs_here: !elsewhere,
        id,
    })
}

/// `gpt-oss:120b-cloud`, `glm:cloud`.
pub fn is_ollamas_cloud(id: &str) -> bool {
    id.ends_with("-cloud") || id.ends_with(":cloud")
}

pub(super) fn text(json: &Value, key: &str) -> Option<String> {
    let text = json[key].as_str().filter(|text| !text.is_empty());
    text.map(ToOwned::to_owned)
}

pub(super) fn name(entry: &Value) -> Option<String> {
    text(entry, "model").or_else(|| text(entry, "name"))
}

/// Returns whether the name is that of an embedding model, which cannot chat.
pub(super) fn is_embedding(name: &str) -> bool {
    let name = name.to_lowercase();
    ["embed", "rerank", "minilm", "bge-"]
        .iter()
        .any(|sign| name.contains(sign))
}

/// `8.2B`, `567.75M`.
pub(super) fn parameters(text: &str) -> Option<u64> {
    let text = text.trim();
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let factor = match unit {
        "K" | "k" => 1e3,
        "M" | "m" => 1e6,
        "B" | "b" => 1e9,
        "T" | "t" => 1e12,
        _ => return None,
    };
    let starts_with_digit = digits.starts_with(|c: char| c.is_ascii_digit());
    let count = digits.parse::<f64>().ok().filter(|_| starts_with_digit)?;
    let count = (count * factor).round();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the range is checked just before"
    )]
    (1.0..1e18).contains(&count).then_some(count as u64)
}

/// Of several (`30b-a3b`) the largest counts.
pub(super) fn parameters_in_name(name: &str) -> Option<u64> {
    let words = name.split(['-', ':', '_', '/', ' ', '@']);
    words
        .filter(|word| word.ends_with(['b', 'B', 'm', 'M']))
        .filter_map(parameters)
        .filter(|count| *count >= 10_000_000)
        .max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_parameters_are_read_as_servers_and_names_write_them() {
        let counts = ["8.2B", "751.63M", "1T", "B", "", "x8B", "-1B"].map(parameters);
        assert_eq!(
            counts,
            [
                Some(8_200_000_000),
                Some(751_630_000),
                Some(1_000_000_000_000),
                None,
                None,
                None,
                None
            ]
        );
        let named = [
            "qwen3:1.7b",
            "Qwen3-30B-A3B",
            "smollm2-135m-instruct",
            "phi",
            "v1-b",
            "x-4m",
        ]
        .map(parameters_in_name);
        assert_eq!(
            named,
            [
                Some(1_700_000_000),
                Some(30_000_000_000),
                Some(135_000_000),
                None,
                None,
                None
            ]
        );
    }
}
