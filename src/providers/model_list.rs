//! Free requests: a vendor's list of models, the check of a key and the health check, one GET each.
//! Building requests and reading responses is pure.
//!
//! A list of models proves that the address answers and, at most vendors, that the key is accepted.
//! It proves neither credit nor permission for a model. A reseller's list is public, so its key has
//! a separate check.

use serde_json::Value;

use crate::domain::cost::money::MicroUsd;

use super::http::GetRequest;
use super::wire::{Endpoint, address};
use crate::domain::model::dialect::{Dialect, HealthCheck};

/// A model that a vendor lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedModel {
    pub id: String,
    /// The largest prompt in tokens, if the list has it.
    pub context: Option<u64>,
    /// The retirement date as the vendor writes it, if the list has it.
    pub retires: Option<String>,
}

/// The result of a key check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyBudget {
    /// The remaining budget of this key; `None` without a limit.
    pub remaining: Option<MicroUsd>,
}

/// The error for a response that is not a list of models.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the answer is not a list of models")]
pub struct ModelListError;

pub fn request(dialect: Dialect, endpoint: &Endpoint) -> GetRequest {
    let path = match dialect {
        Dialect::Anthropic => "/v1/models?limit=1000",
        Dialect::Gemini => "/v1beta/models?pageSize=1000",
        Dialect::OpenAi(_) | Dialect::Responses => "/models",
        Dialect::Ollama => "/api/tags",
    };
    get(dialect, endpoint, path)
}

/// Returns the request that checks the key, if the list of models does not.
pub fn key_request(dialect: Dialect, endpoint: &Endpoint) -> Option<GetRequest> {
    let Dialect::OpenAi(quirks) = dialect else {
        return None;
    };
    match quirks.health_check {
        HealthCheck::Key(path) => Some(get(dialect, endpoint, path)),
        HealthCheck::Models | HealthCheck::Health => None,
    }
}

/// The free one with the shortest response.
pub fn health_request(dialect: Dialect, endpoint: &Endpoint) -> GetRequest {
    match dialect {
        Dialect::Anthropic => get(dialect, endpoint, "/v1/models?limit=1"),
        Dialect::Gemini => get(dialect, endpoint, "/v1beta/models?pageSize=1"),
        Dialect::Ollama => get(dialect, endpoint, "/api/version"),
        Dialect::Responses => request(dialect, endpoint),
        Dialect::OpenAi(quirks) => match quirks.health_check {
            HealthCheck::Models => request(dialect, endpoint),
            HealthCheck::Key(path) => get(dialect, endpoint, path),
            HealthCheck::Health => {
                let root = endpoint.base_url.strip_suffix("/v1");
                let url = format!("{}/health", root.unwrap_or(&endpoint.base_url));
                GetRequest::new(url, endpoint.account.headers(dialect))
            }
        },
    }
}

fn get(dialect: Dialect, endpoint: &Endpoint, path: &str) -> GetRequest {
    let url = address(&endpoint.base_url, path);
    GetRequest::new(url, endpoint.account.headers(dialect))
}

/// Without those that cannot chat according to the list.
pub fn models(dialect: Dialect, body: &str) -> Result<Vec<ListedModel>, ModelListError> {
    let json: Value = serde_json::from_str(body).map_err(|_| ModelListError)?;
    let key = match dialect {
        Dialect::Anthropic | Dialect::OpenAi(_) => "data",
        // The list of a plan has another name than those of other servers.
        Dialect::Responses if json.get("models").is_none() => "data",
        Dialect::Responses | Dialect::Gemini | Dialect::Ollama => "models",
    };
    // Some servers send a bare list.
    let entries = json
        .get(key)
        .or(Some(&json))
        .and_then(Value::as_array)
        .ok_or(ModelListError)?;
    Ok(entries.iter().filter_map(listed).collect())
}

/// Reads one entry in any vendor's format.
fn listed(entry: &Value) -> Option<ListedModel> {
    let text = |keys: &[&str]| {
        keys.iter()
            .find_map(|key| entry[*key].as_str().filter(|text| !text.is_empty()))
    };
    let number = |keys: &[&str]| keys.iter().find_map(|key| entry[*key].as_u64());
    let methods = entry["supportedGenerationMethods"].as_array();
    let generates =
        methods.is_none_or(|methods| methods.iter().any(|method| method == "generateContent"));
    let chats = entry.pointer("/capabilities/completion_chat") != Some(&Value::Bool(false));
    // A plan's list has models that are not for display.
    let is_shown = entry["visibility"]
        .as_str()
        .is_none_or(|seen| seen == "list");
    let id = text(&["id", "slug", "name"])?;
    (generates && chats && is_shown).then(|| ListedModel {
        id: id.strip_prefix("models/").unwrap_or(id).to_owned(),
        context: number(&[
            "max_input_tokens",
            "inputTokenLimit",
            "max_context_length",
            "context_length",
            "max_model_len",
        ]),
        retires: text(&[
            "retires_at",
            "shutdown_date",
            "expiration_date",
            "deprecation",
        ])
        .map(ToOwned::to_owned),
    })
}

/// `None` if it is something else.
pub fn key_budget(body: &str) -> Option<KeyBudget> {
    let json: Value = serde_json::from_str(body).ok()?;
    let data = json.get("data")?.as_object()?;
    // An overdrawn key has a negative remainder.
    let remaining = data
        .get("limit_remaining")
        .and_then(Value::as_f64)
        .and_then(|usd| MicroUsd::from_usd(usd.max(0.0)));
    Some(KeyBudget { remaining })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::model::dialect::Quirks;
    use crate::domain::model::vendors::VENDORS;
    use crate::providers::wire::{Account, HeaderText, Scheme};

    fn ids(dialect: Dialect, body: &str) -> Vec<String> {
        let models = models(dialect, body).unwrap().into_iter();
        models.map(|model| model.id).collect()
    }

    #[test]
    fn each_vendor_gets_its_own_request_with_the_key_in_a_header() {
        let endpoint = |base_url: &str| Endpoint {
            base_url: base_url.to_owned(),
            account: Account {
                key: Some("sk-secret".into()),
                origin: "`KEY`".to_owned(),
                scheme: Scheme::Usual,
                is_word: false,
            },
        };
        for vendor in &VENDORS {
            let (path, key_header) = match vendor.id {
                "anthropic" => ("/v1/models?limit=1000", "x-api-key"),
                "google" => ("/v1beta/models?pageSize=1000", "x-goog-api-key"),
                "ollama" => ("/api/tags", "authorization"),
                _ => ("/models", "authorization"),
            };
            let request = request(vendor.dialect, &endpoint("https://h"));
            assert_eq!(request.url, format!("https://h{path}"), "{}", vendor.id);
            let mut headers = request.headers;
            headers.retain(|(_, value)| matches!(value, HeaderText::Secret(_)));
            assert_eq!(headers.len(), 1);
            assert_eq!(headers[0].0, key_header);
        }
        let endpoint = endpoint("https://o/api/v1");
        let key_at = |quirks| key_request(Dialect::OpenAi(quirks), &endpoint);
        let request = key_at(Quirks::OPENROUTER).unwrap();
        assert_eq!(request.url, "https://o/api/v1/key");
        assert!(key_at(Quirks::OPENAI).is_none());
    }

    #[test]
    fn the_lists_of_all_vendors_are_read() {
        let anthropic = r#"{"data":[{"type":"model","id":"claude-sonnet-4-5-20250929","display_name":"Claude Sonnet 4.5","created_at":"2025-09-29T00:00:00Z",
            "max_input_tokens":200000,"lifecycle":"deprecated","retires_at":"2026-11-30T00:00:00Z"}],"has_more":false,"first_id":"a","last_id":"b"}"#;
        let read = models(Dialect::Anthropic, anthropic).unwrap();
        let expected = ListedModel {
            id: "claude-sonnet-4-5-20250929".into(),
            context: Some(200_000),
            retires: Some("2026-11-30T00:00:00Z".into()),
        };
        assert_eq!(read, [expected]);
        let google = r#"{"models":[{"name":"models/gemini-4-argon","inputTokenLimit":1048576,"outputTokenLimit":65536,"supportedGenerationMethods":["generateContent","countTokens"]},
            {"name":"models/text-embedding-004","supportedGenerationMethods":["embedContent"]}],"nextPageToken":""}"#;
        assert_eq!(ids(Dialect::Gemini, google), ["gemini-4-argon"]);
        let chat = Dialect::OpenAi(Quirks::COMPATIBLE);
        let mistral = r#"{"object":"list","data":[{"id":"mistral-large-4","capabilities":{"completion_chat":true},"max_context_length":1048576},
            {"id":"mistral-embed","capabilities":{"completion_chat":false}}]}"#;
        assert_eq!(ids(chat, mistral), ["mistral-large-4"]);
        let openai = r#"{"object":"list","data":[{"id":"gpt-4o","object":"model","owned_by":"system","shutdown_date":"2027-01-14"}]}"#;
        let retires = models(chat, openai).unwrap()[0].retires.clone();
        assert_eq!(retires.as_deref(), Some("2027-01-14"));
        let openrouter =
            r#"{"data":[{"id":"a/b","context_length":1050000,"pricing":{"prompt":"0.000002"}}]}"#;
        assert_eq!(ids(chat, openrouter), ["a/b"]);
        let ollama = r#"{"models":[{"name":"qwen3:8b","model":"qwen3:8b"}]}"#;
        assert_eq!(ids(Dialect::Ollama, ollama), ["qwen3:8b"]);
        for body in ["<html>", "{}", r#"{"data":1}"#] {
            assert_eq!(models(chat, body), Err(ModelListError), "{body}");
        }
    }

    #[test]
    fn a_key_check_reports_what_may_still_be_spent() {
        let body = |remaining: &str| {
            format!(
                r#"{{"data":{{"label":"sk-or-v1-0e6...1c96","limit":100,"limit_remaining":{remaining},"usage":25.5}}}}"#
            )
        };
        for (text, micro_usd) in [("74.5", Some(74_500_000)), ("null", None), ("-1", Some(0))] {
            let budget = key_budget(&body(text)).unwrap();
            assert_eq!(budget.remaining.map(|amount| amount.0), micro_usd, "{text}");
        }
        assert_eq!(key_budget("{}"), None);
    }
}
