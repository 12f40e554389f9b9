//! Free requests: the check of a provider, GETs with bounds on size and time, and discovery of
//! local servers.

use std::time::Duration;

use conclave::consultation::protocol::call::{Failure, FailureClass};
use conclave::domain::model::dialect::{Dialect, Quirks};
use conclave::domain::model::vendors::LocalServerKind;
use conclave::engine::ports::Provider;
use conclave::providers::discovery::{self, Address};
use conclave::providers::http::{GetRequest, GetResponse, Http};
use conclave::providers::wire::{Account, Scheme};

use super::{KEY, cloud};
use crate::support::local_server::LocalServer;
use crate::support::provider_server::{Answer, On, ProviderServer, Vendor};
use crate::support::timeout::in_time;

/// The check of each vendor, and the header that carries the key.
const CHECKS: [(Vendor, &str, &str); 11] = [
    (Vendor::Anthropic, "/v1/models?limit=1", "x-api-key"),
    (Vendor::OpenAi, "/v1/models", "authorization"),
    (
        Vendor::Google,
        "/v1beta/models?pageSize=1",
        "x-goog-api-key",
    ),
    (Vendor::Xai, "/xai/v1/models", "authorization"),
    (Vendor::Mistral, "/mistral/v1/models", "authorization"),
    (
        Vendor::OpenRouter,
        "/openrouter/api/v1/key",
        "authorization",
    ),
    (Vendor::Ollama, "/ollama/api/version", "authorization"),
    (Vendor::LlamaCpp, "/llamacpp/health", "authorization"),
    (Vendor::LmStudio, "/lmstudio/v1/models", "authorization"),
    (Vendor::Vllm, "/vllm/health", "authorization"),
    (
        Vendor::Custom("mine"),
        "/custom/mine/v1/models",
        "authorization",
    ),
];

async fn check(vendor: Vendor, server: &ProviderServer) -> Result<(), Failure> {
    let provider = cloud(vendor, server);
    let check = provider.check().expect("the vendor has a free request");
    in_time("the end of the check", check).await
}

#[tokio::test]
async fn checks_carry_the_key_only_in_a_header() {
    for (vendor, path, header) in CHECKS {
        let server = ProviderServer::start();
        assert_eq!(check(vendor, &server).await, Ok(()), "{vendor:?}");
        assert!(server.requests().is_empty(), "{vendor:?}");
        let [asked] = server.free_requests().try_into().unwrap();
        assert_eq!(asked.vendor, Some(vendor));
        assert_eq!(asked.path_and_query, path);
        let mut with_key = asked
            .headers
            .iter()
            .filter(|(_, value)| value.contains(KEY));
        assert_eq!(with_key.next().unwrap().0, header, "{vendor:?}");
        assert_eq!(with_key.next(), None, "{vendor:?}");
    }
}

#[tokio::test]
async fn failed_checks_do_not_contain_the_key() {
    let cases = [
        (401, "authentication_error", FailureClass::Auth),
        (403, "permission_error", FailureClass::Auth),
        (402, "billing_error", FailureClass::Billing),
        (429, "rate_limit_error", FailureClass::RateLimit),
        (503, "unavailable", FailureClass::Overload),
        (404, "not_found_error", FailureClass::ModelMissing),
    ];
    for (status, code, class) in cases {
        let words = format!("not with {KEY}");
        for (vendor, ..) in CHECKS {
            let server = ProviderServer::start();
            server.on_free(On::any(), Answer::error(status, code, &words));
            let failure = check(vendor, &server).await.unwrap_err();
            let shown = format!("{status} {vendor:?} {failure:?}");
            assert_eq!(failure.class, class, "{shown}");
            assert!(!shown.contains(KEY), "{shown}");
            assert!(failure.message.contains("[key]"), "{shown}");
        }
    }
}

#[tokio::test]
async fn an_absent_or_closing_server_is_a_failed_connection() {
    for (vendor, ..) in CHECKS {
        let server = ProviderServer::start();
        let cut = Answer::http(200, "application/json", "{\"data\": []}").cut_after(4);
        server.on_free(On::any(), cut);
        let failure = check(vendor, &server).await.unwrap_err();
        assert_eq!(failure.class, FailureClass::Transport, "{vendor:?}");
        let gone = cloud(vendor, &server);
        drop(server);
        let failure = gone.check().unwrap().await.unwrap_err();
        assert_eq!(failure.class, FailureClass::Transport, "{vendor:?}");
    }
}

#[tokio::test]
async fn a_key_without_remaining_credit_fails_the_check() {
    let server = ProviderServer::start();
    let none = Some(FailureClass::Billing);
    for (remaining, class) in [("null", None), ("0.01", None), ("0", none), ("-3.5", none)] {
        let body = format!(r#"{{"data": {{"limit": 20, "limit_remaining": {remaining}}}}}"#);
        server.on_free(On::any(), Answer::http(200, "application/json", body));
        let failure = check(Vendor::OpenRouter, &server).await.err();
        assert_eq!(failure.map(|failure| failure.class), class, "{remaining}");
    }
}

fn account() -> Account {
    Account {
        key: Some(KEY.into()),
        origin: "`KEY`".to_owned(),
        scheme: Scheme::Usual,
        is_word: false,
    }
}

async fn get(server: &LocalServer, limit: Duration) -> Result<GetResponse, Failure> {
    let headers = account().headers(Dialect::OpenAi(Quirks::COMPATIBLE));
    let url = format!("{}/list?key=none", server.url());
    let form = None;
    let request = GetRequest { url, headers, form };
    Http::default().get(&request, &account(), limit).await
}

#[tokio::test]
async fn an_oversized_or_late_response_is_abandoned() {
    let large = LocalServer::start().get("/list", 200, &"x".repeat(8 * 1024 * 1024 + 1));
    let failure = get(&large, Duration::from_secs(20)).await.unwrap_err();
    assert_eq!(failure.class, FailureClass::Malformed);
    let silent = LocalServer::start().silent();
    let failure = get(&silent, Duration::from_millis(200)).await.unwrap_err();
    let message = format!("`{}` did not answer within 0.2 s", silent.authority());
    assert_eq!(failure.class, FailureClass::Timeout);
    assert_eq!(failure.message, message);
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let server = LocalServer::start().get("/list", 302, "elsewhere");
    let got = get(&server, Duration::from_secs(20)).await.unwrap();
    assert_eq!(got.status, 302);
    assert_eq!(server.get_requests().len(), 1);
}

#[tokio::test]
async fn hanging_servers_do_not_delay_a_search() {
    let silent: Vec<LocalServer> = (0..4).map(|_| LocalServer::start().silent()).collect();
    let good = LocalServer::llama_cpp("m", 1, 2_048);
    let at = |server: &LocalServer| Address::parse(&server.authority()).unwrap();
    let addresses: Vec<Address> = silent.iter().chain([&good]).map(at).collect();
    // Two seconds, and as much again for a busy machine; one after the other would take eight.
    let found = tokio::time::timeout(Duration::from_secs(6), discovery::look(&addresses))
        .await
        .expect("it ends in time");
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].kind, LocalServerKind::LlamaCpp);
    assert_eq!(found[0].authority, good.authority());
    for asked in good.get_requests() {
        assert_eq!(asked.headers.get("authorization"), None);
    }
}
