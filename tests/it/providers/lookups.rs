//! Free requests: GETs with bounds on size and time, and discovery of local servers.

use std::time::Duration;

use conclave::consultation::protocol::call::FailureClass;
use conclave::domain::dialect::{Dialect, Quirks};
use conclave::domain::vendors::LocalServerKind;
use conclave::providers::discovery::{self, Address};
use conclave::providers::http::{GetRequest, GetResponse, Http};
use conclave::providers::model_list;
use conclave::providers::wire::{Account, Scheme};

use crate::support::local_server::LocalServer;

use super::KEY;

fn account() -> Account {
    Account {
        key: Some(KEY.into()),
        origin: "`KEY`".to_owned(),
        scheme: Scheme::Usual,
        is_word: false,
    }
}

async fn get(
    server: &LocalServer,
    limit: Duration,
) -> Result<GetResponse, conclave::consultation::protocol::call::Failure> {
    let headers = account().headers(Dialect::OpenAi(Quirks::COMPATIBLE));
    let request = GetRequest {
        url: format!("{}/list?key=none", server.url()),
        headers,
    };
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
async fn redirects_are_not_followed_and_echoed_keys_are_redacted() {
    let server = LocalServer::start().get("/list", 302, "elsewhere");
    let got = get(&server, Duration::from_secs(20)).await.unwrap();
    assert_eq!(got.status, 302);
    assert_eq!(server.get_requests().len(), 1);
    let server = LocalServer::start().get(
        "/list",
        401,
        &format!(r#"{{"error":{{"message":"bad key {KEY}"}}}}"#),
    );
    let failure = get(&server, Duration::from_secs(20))
        .await
        .unwrap()
        .success(&account())
        .unwrap_err();
    assert_eq!(failure.class, FailureClass::Auth);
    assert!(!failure.message.contains(KEY));
    assert!(
        failure.message.starts_with("bad key [key]"),
        "{}",
        failure.message
    );
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
    assert_eq!(
        found
            .iter()
            .map(|server| (server.kind, server.authority.clone()))
            .collect::<Vec<_>>(),
        [(LocalServerKind::LlamaCpp, good.authority())]
    );
    assert!(
        good.get_requests()
            .iter()
            .all(|asked| !asked.headers.contains_key("authorization"))
    );
}

#[tokio::test]
async fn a_vendors_model_list_is_read() {
    let server = LocalServer::start().get(
        "/v1/models",
        200,
        r#"{"data":[{"id":"claude-sonnet-5-5","max_input_tokens":1000000}]}"#,
    );
    let vendor = conclave::domain::vendors::VENDORS[0];
    let endpoint = conclave::providers::wire::Endpoint {
        base_url: server.url(),
        account: account(),
    };
    let request = model_list::request(vendor.dialect, &endpoint);
    let got = Http::default()
        .get(&request, &endpoint.account, Duration::from_secs(20))
        .await
        .unwrap();
    let models = model_list::models(vendor.dialect, &got.body).unwrap();
    assert_eq!(models[0].id.as_str(), "claude-sonnet-5-5");
    assert_eq!(models[0].context, Some(1_000_000));
    assert_eq!(server.get_requests()[0].headers["x-api-key"], KEY);
    assert!(!server.get_requests()[0].path_and_query.contains(KEY));
}
