//! Reading of the answers of one address: the kind of server, its condition and its models. Pure.
//!
//! A kind is recognised by features of its own: Ollama by `/api/version`, vLLM and llama.cpp by
//! `owned_by` or the `server` header, LM Studio by its own list of models or its `owned_by`. Shapes
//! follow the servers' documentation and the answers of running servers; missing fields stay
//! unknown.

use serde_json::Value;

use super::served_models::{model, name, text};
use super::{Address, Condition, Server, is_own_network};
use crate::domain::model::vendors::LocalServerKind;
use crate::providers::http::GetResponse;
use crate::providers::wire::entries;

/// Returns the server that answered, each answer with its path; `None` for an unknown program.
pub(super) fn read(address: &Address, answers: &[(&str, GetResponse)]) -> Option<Server> {
    let answer = |path: &str| Some(&answers.iter().find(|(other, _)| *other == path)?.1);
    // `Null` without a successful answer.
    let json = |path: &str| -> Value {
        let got = answer(path).filter(|got| got.is_success());
        let json = got.and_then(|got| serde_json::from_str(&got.body).ok());
        json.unwrap_or_default()
    };
    let version = text(&json("/api/version"), "version");
    let (list, own_list) = (json("/v1/models"), json("/api/v0/models"));
    let (tags, running) = (json("/api/tags"), json("/api/ps"));
    let of = |owner: &str| entries(&list, "data").any(|model| model["owned_by"] == owner);
    let is_llama_cpp = |got: &GetResponse| got.server.eq_ignore_ascii_case("llama.cpp");
    let is_lm_studios = |model: &Value| model.get("compatibility_type").is_some();
    let kind = if version.is_some() {
        LocalServerKind::Ollama
    } else if of("vllm") {
        LocalServerKind::Vllm
    } else if of("llamacpp") || answers.iter().any(|(_, got)| is_llama_cpp(got)) {
        LocalServerKind::LlamaCpp
    } else if of("organization_owner")
        || of("organization-owner")
        || entries(&own_list, "data").any(is_lm_studios)
    {
        LocalServerKind::LmStudio
    } else {
        return None;
    };
    let status = |path| answer(path).map(|got| got.status);
    let condition = match (status("/health"), status("/v1/models")) {
        _ if kind == LocalServerKind::Ollama => Condition::Ready,
        (Some(503), _) | (_, Some(503)) => Condition::Loading,
        (_, Some(401 | 403)) => Condition::Locked,
        _ => Condition::Ready,
    };
    let has_own_list = entries(&own_list, "data").next().is_some();
    let models = match kind {
        LocalServerKind::Ollama => entries(&tags, "models"),
        LocalServerKind::LmStudio if has_own_list => entries(&own_list, "data"),
        _ => entries(&list, "data"),
    };
    let running: Vec<String> = entries(&running, "models").filter_map(name).collect();
    let props = json("/props");
    let context = props.pointer("/default_generation_settings/n_ctx");
    let context = context.and_then(Value::as_u64).filter(|size| *size > 0);
    let on_own_network = is_own_network(&address.host);
    let mut models: Vec<_> = models
        .filter_map(|entry| model(kind, entry, context, &running))
        .collect();
    for model in &mut models {
        model.runs_here &= on_own_network;
    }
    Some(Server {
        kind,
        authority: address.authority().to_owned(),
        base_url: format!("{}{}", address.root, kind.vendor().version_path()),
        version,
        condition,
        on_own_network,
        models,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::providers::discovery::ServedModel;

    fn answered(status: u16, body: &str) -> GetResponse {
        GetResponse {
            status,
            server: String::new(),
            body: body.to_owned(),
        }
    }

    fn report(answers: &[(&str, GetResponse)]) -> Option<Server> {
        read(&Address::parse("127.0.0.1").unwrap(), answers)
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
        let answers = [
            ("/api/version", version),
            ("/api/tags", answered(200, tags)),
        ];
        let mut expected = model("openai/gpt-4o", None, None, false);
        expected.runs_here = false;
        assert_eq!(report(&answers).unwrap().models, [expected]);
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
        assert_eq!(read.kind, LocalServerKind::Ollama);
        assert_eq!(read.version.as_deref(), Some("0.12.6"));
        assert_eq!(read.condition, Condition::Ready);
        let local = model("qwen3:8b", None, Some(8_200_000_000), false);
        let mut cloud = model("gpt-oss:120b-cloud", None, Some(116_800_000_000), false);
        cloud.runs_here = false;
        let loaded = model("tiny:latest", Some(40_960), Some(751_630_000), true);
        assert_eq!(read.models, [local, cloud, loaded]);
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
        let id = "/models/qwen2.5-7b.gguf";
        assert_eq!(read.kind, LocalServerKind::LlamaCpp);
        assert_eq!(
            read.models,
            [model(id, Some(8_192), Some(7_615_616_512), true)]
        );

        let newer = r#"{"models":[{"name":"/m.gguf","capabilities":["completion"]}],"object":"list","data":[{"id":"/m.gguf","aliases":["/m.gguf"],"tags":[],"object":"model",
            "architecture":{"input_modalities":["text"],"output_modalities":["text"]},"created":1795266317,"owned_by":"llamacpp",
            "meta":{"vocab_type":2,"n_vocab":151936,"n_ctx":4096,"n_ctx_train":32768,"n_embd":896,"n_params":630167424,"size":485452288,"ftype":"Q4_K - Medium"}}]}"#;
        let read = report(&[("/v1/models", answered(200, newer))]).unwrap();
        let expected = model("/m.gguf", Some(4_096), Some(630_167_424), true);
        assert_eq!(read.models, [expected]);

        let mut loading = answered(503, r#"{"error":{"code":503,"message":"Loading model"}}"#);
        loading.server = "llama.cpp".into();
        let read = report(&[("/health", loading.clone()), ("/v1/models", loading)]).unwrap();
        assert_eq!(read.kind, LocalServerKind::LlamaCpp);
        assert_eq!(read.condition, Condition::Loading);
        assert_eq!(read.models, []);
        let mut locked = answered(401, r#"{"error":{"code":401,"message":"Invalid API Key"}}"#);
        locked.server = "llama.cpp".into();
        let read = report(&[("/health", answered(200, "{}")), ("/v1/models", locked)]).unwrap();
        assert_eq!(read.condition, Condition::Locked);

        let router = r#"{"data":[{"id":"a-1b","owned_by":"llamacpp","status":{"value":"unloaded"}},{"id":"b-7b","owned_by":"llamacpp","status":{"value":"loaded"}}]}"#;
        let read = report(&[("/v1/models", answered(200, router))]).unwrap();
        assert!(!read.models[0].loaded && read.models[1].loaded);
    }

    #[test]
    fn lm_studio_is_read_from_its_own_list_or_the_common_one() {
        let common = r#"{"data":[{"id":"qwen2.5-7b-instruct","object":"model","owned_by":"organization_owner"},
            {"id":"text-embedding-nomic-embed-text-v1.5","object":"model","owned_by":"organization_owner"}],"object":"list"}"#;
        let read = report(&[("/v1/models", answered(200, common))]).unwrap();
        let expected = model("qwen2.5-7b-instruct", None, Some(7_000_000_000), false);
        assert_eq!(read.kind, LocalServerKind::LmStudio);
        assert_eq!(read.models, [expected]);
        let own = r#"{"object":"list","data":[
            {"id":"qwen2-vl-7b-instruct","type":"vlm","compatibility_type":"mlx","state":"not-loaded","max_context_length":32768},
            {"id":"llama-3.2-1b","type":"llm","compatibility_type":"gguf","state":"loaded","max_context_length":131072,"loaded_context_length":4096},
            {"id":"x","type":"embeddings","compatibility_type":"gguf","state":"loaded","max_context_length":2048}]}"#;
        let (common, own) = (answered(200, common), answered(200, own));
        let read = report(&[("/v1/models", common), ("/api/v0/models", own)]).unwrap();
        let idle = model(
            "qwen2-vl-7b-instruct",
            Some(32_768),
            Some(7_000_000_000),
            false,
        );
        let loaded = model("llama-3.2-1b", Some(4_096), Some(1_000_000_000), true);
        assert_eq!(read.models, [idle, loaded]);
    }

    #[test]
    fn vllm_reports_the_context_it_was_started_with() {
        let list = r#"{"object":"list","data":[{"id":"meta-llama/Llama-3.1-8B-Instruct","object":"model","created":1795252598,"owned_by":"vllm",
            "root":"meta-llama/Llama-3.1-8B-Instruct","parent":null,"max_model_len":32768,"permission":[]}]}"#;
        let read = report(&[("/v1/models", answered(200, list))]).unwrap();
        let id = "meta-llama/Llama-3.1-8B-Instruct";
        assert_eq!(read.kind, LocalServerKind::Vllm);
        assert_eq!(
            read.models,
            [model(id, Some(32_768), Some(8_000_000_000), true)]
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
            let answers = paths.map(|path| (path, stranger.clone()));
            assert_eq!(report(&answers), None, "{stranger:?}");
        }
    }
}
