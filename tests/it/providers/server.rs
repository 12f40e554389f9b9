//! The test server itself: it answers as each vendor documents.

use serde_json::{Value, json};

use super::{ask, call, cloud};
use crate::support::provider_server::{Answer, On, ProviderServer, Vendor, listed_model};
use crate::support::timeout::in_time;

/// The free requests of each vendor, and a place in the response that names a model or a state.
const FREE: [(Vendor, &str, &str, &str); 12] = [
    (
        Vendor::Anthropic,
        "/v1/models?limit=1",
        "/data/0/id",
        "claude-sonnet-5-5",
    ),
    (Vendor::OpenAi, "/models", "/data/0/id", "gpt-6.1-sol"),
    (
        Vendor::Google,
        "/v1beta/models?pageSize=1",
        "/models/0/name",
        "models/gemini-4-argon",
    ),
    (Vendor::Xai, "/models", "/data/0/id", "grok-4.7"),
    (Vendor::Mistral, "/models", "/data/0/id", "mistral-large-4"),
    (
        Vendor::OpenRouter,
        "/models",
        "/data/0/pricing/prompt",
        "0.000003",
    ),
    (Vendor::OpenRouter, "/key", "/data/label", "sk-or-v1-…"),
    (Vendor::Ollama, "/api/version", "/version", "0.14.2"),
    (Vendor::Ollama, "/api/tags", "/models/0/name", "qwen3:8b"),
    (Vendor::LlamaCpp, "/models", "/data/0/id", "any-model"),
    (Vendor::LmStudio, "/models", "/data/0/id", "any-model"),
    (Vendor::Vllm, "/models", "/data/0/root", "any-model"),
];

async fn get(server: &ProviderServer, vendor: Vendor, path: &str) -> (u16, Value) {
    let client = conclave::providers::http::Http::default();
    let url = server.base_url(vendor) + path;
    let request = client.client_for(&url).unwrap().get(&url);
    let request = if vendor == Vendor::Anthropic {
        request.header("anthropic-version", "2026-10-21")
    } else {
        request
    };
    let (status, body) = in_time("a response", async {
        let response = request.send().await.unwrap();
        (response.status().as_u16(), response.bytes().await.unwrap())
    })
    .await;
    (status, serde_json::from_slice(&body).unwrap_or_default())
}

#[tokio::test]
async fn free_requests_are_recorded_apart_from_paid_ones() {
    let server = ProviderServer::start();
    for (vendor, path, place, value) in FREE {
        let (status, body) = get(&server, vendor, path).await;
        assert_eq!(status, 200, "{vendor:?} {path}: {body}");
        assert_eq!(
            body.pointer(place),
            Some(&json!(value)),
            "{vendor:?} {path}: {body}"
        );
    }
    assert_eq!(server.requests().len(), 0);
    let asked: Vec<_> = server
        .free_requests()
        .into_iter()
        .map(|request| (request.vendor, request.complete))
        .collect();
    assert_eq!(asked, FREE.map(|(vendor, ..)| (Some(vendor), true)));
}

#[tokio::test]
async fn free_requests_have_their_own_script() {
    let server = ProviderServer::start();
    server.on_free(
        On::vendor(Vendor::Mistral),
        Answer::error(401, "unauthorized", "no such key"),
    );
    assert_eq!(
        get(&server, Vendor::Mistral, "/models").await,
        (
            401,
            json!({"object": "error", "message": "no such key",
        "type": "unauthorized", "param": null, "code": "unauthorized"})
        )
    );
    assert_eq!(get(&server, Vendor::Xai, "/models").await.0, 200);
    assert_eq!(get(&server, Vendor::Xai, "/elsewhere").await.0, 404);
}

#[tokio::test]
async fn a_script_can_apply_to_one_model_of_one_vendor() {
    let server = ProviderServer::start();
    server.on(
        On::vendor(Vendor::Custom("a")).and_model("m").nth(2),
        Answer::text("meant"),
    );
    let mut meant = Vec::new();
    for (vendor, model) in [("a", "m"), ("b", "m"), ("a", "n"), ("a", "m"), ("a", "m")] {
        let reply = call(
            &cloud(Vendor::Custom(vendor), &server),
            &ask(Vendor::Custom(vendor), model),
        )
        .await
        .0
        .unwrap();
        meant.push(reply.text == "meant");
    }
    assert_eq!(meant, [false, false, false, true, false]);
    assert_eq!(server.requests()[1].vendor, Some(Vendor::Custom("b")));
}

#[tokio::test]
async fn each_vendor_with_a_key_has_its_own() {
    let server = ProviderServer::start();
    let mut keys: Vec<_> = server
        .all_variables()
        .into_iter()
        .filter(|(name, _)| name.ends_with("_API_KEY"))
        .collect();
    assert_eq!(keys.len(), 6);
    keys.dedup_by(|one, other| one.1 == other.1);
    assert_eq!(keys.len(), 6);
    assert_eq!(listed_model(Vendor::Custom("mine")), "any-model");
}
