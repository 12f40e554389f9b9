//! What the answers of a look mean: the kind of server, and the models that can chat. Pure.
//!
//! A kind is recognised by what only its servers say: Ollama by `/api/version`, vLLM and llama.cpp by
//! `owned_by` or the `server` header, LM Studio by its own list of models or its `owned_by`. Shapes
//! follow the servers' documentation and the answers of running ones; fields that are not there are
//! not known.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::providers::http::GetResponse;

use super::{Condition, ServedModel};
use crate::domain::vendors::LocalServerKind;

/// The answers of one address, by path.
#[derive(Clone, Debug, Default)]
pub(super) struct Answers(BTreeMap<&'static str, GetResponse>);

/// What is made of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ServerReport {
    pub(super) kind: LocalServerKind,
    pub(super) version: Option<String>,
    pub(super) condition: Condition,
    pub(super) models: Vec<ServedModel>,
}

impl Answers {
    pub(super) fn new(answers: impl IntoIterator<Item = (&'static str, GetResponse)>) -> Self {
        Self(answers.into_iter().collect())
    }

    fn json(&self, path: &str) -> Option<Value> {
        let got = self.0.get(path).filter(|got| got.is_success())?;
        serde_json::from_str(&got.body).ok()
    }

    fn status(&self, path: &str) -> Option<u16> {
        self.0.get(path).map(|got| got.status)
    }

    fn is_llama_cpp(&self) -> bool {
        self.0
            .values()
            .any(|got| got.server.eq_ignore_ascii_case("llama.cpp"))
    }
}

/// Says which server answered; `None` for a stranger.
pub(super) fn read(answers: &Answers) -> Option<ServerReport> {
    let version = answers
        .json("/api/version")
        .and_then(|json| text(&json, "version"));
    if let Some(version) = version {
        return Some(ServerReport {
            kind: LocalServerKind::Ollama,
            version: Some(version),
            condition: Condition::Ready,
            models: ollama(answers),
        });
    }
    let listed = answers.json("/v1/models");
    let models: Vec<&Value> = listed
        .as_ref()
        .map(|list| entries(list, "data"))
        .unwrap_or_default();
    let owned_by = |owners: &[&str]| {
        models.iter().any(|model| {
            text(model, "owned_by").is_some_and(|owner| owners.contains(&owner.as_str()))
        })
    };
    let own_list = answers.json("/api/v0/models");
    let own_models: Vec<&Value> = own_list
        .as_ref()
        .map(|list| entries(list, "data"))
        .unwrap_or_default();
    let kind = if owned_by(&["vllm"]) {
        LocalServerKind::Vllm
    } else if owned_by(&["llamacpp"]) || answers.is_llama_cpp() {
        LocalServerKind::LlamaCpp
    } else if owned_by(&["organization_owner", "organization-owner"])
        || own_models
            .iter()
            .any(|model| model.get("compatibility_type").is_some())
    {
        LocalServerKind::LmStudio
    } else {
        return None;
    };
    let condition = match (answers.status("/health"), answers.status("/v1/models")) {
        (Some(503), _) | (_, Some(503)) => Condition::Loading,
        (_, Some(401 | 403)) => Condition::Locked,
        _ => Condition::Ready,
    };
    let models = match kind {
        LocalServerKind::LmStudio if !own_models.is_empty() => {
            own_models.into_iter().filter_map(lm_studio_model).collect()
        }
        LocalServerKind::LlamaCpp => {
            let context = answers.json("/props").and_then(|props| {
                props
                    .pointer("/default_generation_settings/n_ctx")
                    .and_then(Value::as_u64)
            });
            models
                .into_iter()
                .filter_map(|model| llama_cpp_model(model, context))
                .collect()
        }
        LocalServerKind::Ollama | LocalServerKind::LmStudio | LocalServerKind::Vllm => {
            models.into_iter().filter_map(openai_model).collect()
        }
    };
    Some(ServerReport {
        kind,
        version: None,
        condition,
        models,
    })
}

fn ollama(answers: &Answers) -> Vec<ServedModel> {
    let loaded: Vec<String> = answers
        .json("/api/ps")
        .map(|list| {
            entries(&list, "models")
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
        // Ollama names the host behind it; gateways that speak its protocol give every vendor's
        // models this format.
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
    answers
        .json("/api/tags")
        .map(|list| {
            entries(&list, "models")
                .into_iter()
                .filter_map(model)
                .collect()
        })
        .unwrap_or_default()
}

/// True for a name that stands for a model in Ollama's cloud: `gpt-oss:120b-cloud`, `glm:cloud`.
pub fn is_ollamas_cloud(id: &str) -> bool {
    id.ends_with("-cloud") || id.ends_with(":cloud")
}

/// `context` is what the server was started with, for all of its models.
fn llama_cpp_model(entry: &Value, context: Option<u64>) -> Option<ServedModel> {
    let id = text(entry, "id")?;
    let meta = |key: &str| {
        entry
            .pointer(&format!("/meta/{key}"))
            .and_then(Value::as_u64)
    };
    // A server that routes to several models says of each whether it is loaded; one with a single
    // model has it loaded.
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

fn lm_studio_model(entry: &Value) -> Option<ServedModel> {
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

/// An entry of a list in OpenAI's form: vLLM's, and LM Studio's where its own list is not there.
fn openai_model(entry: &Value) -> Option<ServedModel> {
    let id = text(entry, "id").filter(|id| !is_embedding(id))?;
    let context = entry.get("max_model_len").and_then(Value::as_u64);
    // What vLLM lists is loaded; LM Studio lists what it could load.
    let loaded = text(entry, "owned_by").is_some_and(|owner| owner == "vllm");
    Some(ServedModel {
        parameters: parameters_in_name(&id),
        id,
        context,
        loaded,
        runs_here: true,
    })
}

fn entries<'a>(list: &'a Value, key: &str) -> Vec<&'a Value> {
    list.get(key)
        .and_then(Value::as_array)
        .map(|entries| entries.iter().collect())
        .unwrap_or_default()
}

/// A field's text, unless it is empty.
fn text(json: &Value, key: &str) -> Option<String> {
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

/// A model that turns text into vectors, by its name: it cannot answer.
fn is_embedding(name: &str) -> bool {
    let name = name.to_lowercase();
    ["embed", "rerank", "minilm", "bge-"]
        .iter()
        .any(|sign| name.contains(sign))
}

/// `8.2B`, `567.75M`: a count as servers write it.
fn parameters(text: &str) -> Option<u64> {
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

/// The count that a name carries by convention: `qwen3:1.7b`, `Llama-3.1-8B-Instruct`. Where there
/// are several (`30b-a3b`), the largest.
fn parameters_in_name(name: &str) -> Option<u64> {
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

    fn answered(status: u16, body: &str) -> GetResponse {
        GetResponse {
            status,
            server: String::new(),
            body: body.to_owned(),
        }
    }

    fn report(answers: &[(&'static str, GetResponse)]) -> Option<ServerReport> {
        read(&Answers::new(answers.iter().cloned()))
    }

    fn model(id: &str, context: Option<u64>, parameters: Option<u64>, loaded: bool) -> ServedModel {
        ServedModel {
            id: id.to_owned(),
            context,
            parameters,
            loaded,
            runs_here: true,
        }
    }

    #[test]
    fn models_behind_an_ollama_gateway_do_not_run_here() {
        let tags = r#"{"models":[{"name":"openai/gpt-4o","model":"openai/gpt-4o","size":0,
            "details":{"parent_model":"","format":"cloud","family":"openai","parameter_size":"cloud","quantization_level":"none"}}]}"#;
        let version = answered(200, r#"{"version":"0.6.5"}"#);
        let read = report(&[
            ("/api/version", version),
            ("/api/tags", answered(200, tags)),
        ])
        .unwrap();
        assert_eq!(
            read.models,
            [ServedModel {
                runs_here: false,
                ..model("openai/gpt-4o", None, None, false)
            }]
        );
    }

    #[test]
    fn ollama_is_recognised_by_its_version_and_lists_chat_models() {
        let tags = r#"{"models":[
            {"name":"qwen3:8b","model":"qwen3:8b","modified_at":"2026-10-03T23:34:03Z","size":5225388164,"digest":"500a1f067a9f",
             "details":{"parent_model":"","format":"gguf","family":"qwen3","families":["qwen3"],"parameter_size":"8.2B","quantization_level":"Q4_K_M"}},
            {"name":"nomic-embed-text:latest","model":"nomic-embed-text:latest","details":{"family":"nomic-bert","families":["nomic-bert"],"parameter_size":"137M"}},
            {"name":"all:latest","model":"all:latest","details":{"family":"bert","parameter_size":"23M"}},
            {"name":"gpt-oss:120b-cloud","model":"gpt-oss:120b-cloud","remote_model":"gpt-oss:120b","remote_host":"https://ollama.com:443","size":384,
             "details":{"parameter_size":"116.8B","family":"gptoss"}},
            {"name":"new:1b","model":"new:1b","capabilities":["embedding"],"details":{}},
            {"name":"tiny:latest","model":"tiny:latest","capabilities":["completion","tools"],"details":{"parameter_size":"751.63M","context_length":40960}}]}"#;
        let ps = r#"{"models":[{"name":"tiny:latest","model":"tiny:latest","size_vram":1,"context_length":4096}]}"#;
        let read = report(&[
            ("/api/version", answered(200, r#"{"version":"0.12.6"}"#)),
            ("/api/tags", answered(200, tags)),
            ("/api/ps", answered(200, ps)),
        ])
        .unwrap();
        assert_eq!(
            (read.kind, read.version.as_deref(), read.condition),
            (LocalServerKind::Ollama, Some("0.12.6"), Condition::Ready)
        );
        let cloud = ServedModel {
            runs_here: false,
            ..model("gpt-oss:120b-cloud", None, Some(116_800_000_000), false)
        };
        assert_eq!(
            read.models,
            [
                model("qwen3:8b", None, Some(8_200_000_000), false),
                cloud,
                model("tiny:latest", Some(40_960), Some(751_630_000), true)
            ]
        );
    }

    #[test]
    fn llama_cpp_is_recognised_by_owner_header_or_properties() {
        let list = r#"{"object":"list","models":[{"name":"m","capabilities":["completion"]}],"data":[{"id":"/models/qwen2.5-7b.gguf","object":"model","created":1795252598,"owned_by":"llamacpp",
            "meta":{"vocab_type":2,"n_vocab":152064,"n_ctx_train":131072,"n_embd":3584,"n_params":7615616512,"size":4677120000}}]}"#;
        let props = r#"{"default_generation_settings":{"id":0,"n_ctx":8192},"total_slots":4,"model_path":"/models/qwen2.5-7b.gguf"}"#;
        let read = report(&[
            ("/v1/models", answered(200, list)),
            ("/health", answered(200, r#"{"status":"ok"}"#)),
            ("/props", answered(200, props)),
        ])
        .unwrap();
        assert_eq!(
            (read.kind, read.models),
            (
                LocalServerKind::LlamaCpp,
                vec![model(
                    "/models/qwen2.5-7b.gguf",
                    Some(8_192),
                    Some(7_615_616_512),
                    true
                )]
            )
        );

        let newer = r#"{"models":[{"name":"/m.gguf","capabilities":["completion"]}],"object":"list","data":[{"id":"/m.gguf","aliases":["/m.gguf"],"tags":[],"object":"model",
            "architecture":{"input_modalities":["text"],"output_modalities":["text"]},"created":1795266317,"owned_by":"llamacpp",
            "meta":{"vocab_type":2,"n_vocab":151936,"n_ctx":4096,"n_ctx_train":32768,"n_embd":896,"n_params":630167424,"size":485452288,"ftype":"Q4_K - Medium"}}]}"#;
        let read = report(&[("/v1/models", answered(200, newer))]).unwrap();
        assert_eq!(
            read.models,
            [model("/m.gguf", Some(4_096), Some(630_167_424), true)]
        );

        let loading = GetResponse {
            server: "llama.cpp".into(),
            ..answered(503, r#"{"error":{"code":503,"message":"Loading model"}}"#)
        };
        let read = report(&[("/health", loading.clone()), ("/v1/models", loading)]).unwrap();
        assert_eq!(
            (read.kind, read.condition, read.models),
            (LocalServerKind::LlamaCpp, Condition::Loading, vec![])
        );
        let locked = GetResponse {
            server: "llama.cpp".into(),
            ..answered(401, r#"{"error":{"code":401,"message":"Invalid API Key"}}"#)
        };
        assert_eq!(
            report(&[("/health", answered(200, "{}")), ("/v1/models", locked)])
                .unwrap()
                .condition,
            Condition::Locked
        );

        let router = r#"{"data":[{"id":"a-1b","owned_by":"llamacpp","status":{"value":"unloaded"}},{"id":"b-7b","owned_by":"llamacpp","status":{"value":"loaded"}}]}"#;
        let read = report(&[("/v1/models", answered(200, router))]).unwrap();
        assert_eq!(
            read.models
                .iter()
                .map(|model| model.loaded)
                .collect::<Vec<_>>(),
            [false, true]
        );
    }

    #[test]
    fn lm_studio_is_read_from_its_own_list_or_the_common_one() {
        let common = r#"{"data":[{"id":"qwen2.5-7b-instruct","object":"model","owned_by":"organization_owner"},
            {"id":"text-embedding-nomic-embed-text-v1.5","object":"model","owned_by":"organization_owner"}],"object":"list"}"#;
        let read = report(&[("/v1/models", answered(200, common))]).unwrap();
        assert_eq!(
            (read.kind, read.models),
            (
                LocalServerKind::LmStudio,
                vec![model(
                    "qwen2.5-7b-instruct",
                    None,
                    Some(7_000_000_000),
                    false
                )]
            )
        );
        let own = r#"{"object":"list","data":[
            {"id":"qwen2-vl-7b-instruct","type":"vlm","compatibility_type":"mlx","state":"not-loaded","max_context_length":32768},
            {"id":"llama-3.2-1b","type":"llm","compatibility_type":"gguf","state":"loaded","max_context_length":131072,"loaded_context_length":4096},
            {"id":"x","type":"embeddings","compatibility_type":"gguf","state":"loaded","max_context_length":2048}]}"#;
        let read = report(&[
            ("/v1/models", answered(200, common)),
            ("/api/v0/models", answered(200, own)),
        ])
        .unwrap();
        assert_eq!(
            read.models,
            [
                model(
                    "qwen2-vl-7b-instruct",
                    Some(32_768),
                    Some(7_000_000_000),
                    false
                ),
                model("llama-3.2-1b", Some(4_096), Some(1_000_000_000), true)
            ]
        );
    }

    #[test]
    fn vllm_reports_the_context_it_was_started_with() {
        let list = r#"{"object":"list","data":[{"id":"meta-llama/Llama-3.1-8B-Instruct","object":"model","created":1795252598,"owned_by":"vllm",
            "root":"meta-llama/Llama-3.1-8B-Instruct","parent":null,"max_model_len":32768,"permission":[]}]}"#;
        let read = report(&[("/v1/models", answered(200, list))]).unwrap();
        let expected = model(
            "meta-llama/Llama-3.1-8B-Instruct",
            Some(32_768),
            Some(8_000_000_000),
            true,
        );
        assert_eq!(
            (read.kind, read.models),
            (LocalServerKind::Vllm, vec![expected])
        );
    }

    #[test]
    fn an_unknown_server_is_passed_over() {
        let strangers = [
            answered(200, "<html>Tomcat</html>"),
            answered(404, ""),
            answered(200, "{}"),
            answered(200, r#"{"data":[{"id":"x","owned_by":"openai"}]}"#),
            answered(200, r#"{"error":"Unexpected endpoint or method."}"#),
            answered(200, "[]"),
        ];
        for stranger in strangers {
            let paths = [
                "/v1/models",
                "/health",
                "/props",
                "/api/version",
                "/api/v0/models",
            ];
            assert_eq!(
                report(&paths.map(|path| (path, stranger.clone()))),
                None,
                "{stranger:?}"
            );
        }
    }

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
