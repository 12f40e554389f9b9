//! Checks of a provider: the free request to each vendor, and the result of every response.

use conclave::consultation::protocol::call::FailureClass;
use conclave::engine::ports::Provider;

use super::{KEY, cloud};
use crate::support::provider_server::{Answer, On, ProviderServer, Vendor};
use crate::support::timeout::in_time;

/// The free request to each vendor, and the header that carries the key.
const FREE: [(Vendor, &str, &str); 11] = [
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

async fn check(
    vendor: Vendor,
    server: &ProviderServer,
) -> Result<(), conclave::consultation::protocol::call::Failure> {
    let provider = cloud(vendor, server);
    let check = provider.check().expect("the vendor has a free request");
    in_time("the end of the check", check).await
}

#[tokio::test]
async fn free_requests_carry_the_key_only_in_a_header() {
    for (vendor, path, header) in FREE {
        let server = ProviderServer::start();
        assert_eq!(check(vendor, &server).await, Ok(()), "{vendor:?}");
        assert!(server.requests().is_empty(), "{vendor:?}");
        let [asked] = server.free_requests().try_into().unwrap();
        assert_eq!(asked.vendor, Some(vendor));
        assert_eq!(asked.path_and_query.as_str(), path);
        let with_key: Vec<&str> = asked
            .headers
            .iter()
            .filter(|(_, value)| value.contains(KEY))
            .map(|(name, _)| name.as_str())
            .collect();
        assert_eq!(with_key, [header], "{vendor:?}");
    }
}

#[tokio::test]
async fn failures_do_not_contain_the_key() {
    let cases = [
        (401, "authentication_error", FailureClass::Auth),
        (403, "permission_error", FailureClass::Auth),
        (402, "billing_error", FailureClass::Billing),
        (429, "rate_limit_error", FailureClass::RateLimit),
        (503, "unavailable", FailureClass::Overload),
        (404, "not_found_error", FailureClass::ModelMissing),
    ];
    for (status, code, class) in cases {
        for (vendor, ..) in FREE {
            let server = ProviderServer::start();
            server.on_free(
                On::any(),
                Answer::error(status, code, &format!("not with {KEY}")),
            );
            let failure = check(vendor, &server).await.unwrap_err();
            assert_eq!(failure.class, class, "{status} {vendor:?} {failure:?}");
            assert!(
                !format!("{failure:?}").contains(KEY) && failure.message.contains("[key]"),
                "{status} {vendor:?} {failure:?}"
            );
        }
    }
}

#[tokio::test]
async fn an_absent_or_closing_server_is_a_failed_connection() {
    for (vendor, ..) in FREE {
        let server = ProviderServer::start();
        server.on_free(
            On::any(),
            Answer::http(200, "application/json", "{\"data\": []}").cut_after(4),
        );
        assert_eq!(
            check(vendor, &server).await.unwrap_err().class,
            FailureClass::Transport,
            "{vendor:?}"
        );
        let gone = cloud(vendor, &server);
        drop(server);
        assert_eq!(
            gone.check().unwrap().await.unwrap_err().class,
            FailureClass::Transport,
            "{vendor:?}"
        );
    }
}

#[tokio::test]
async fn a_key_without_remaining_credit_fails_the_check() {
    let server = ProviderServer::start();
    let with_credit = |left: &str| {
        Answer::http(
            200,
            "application/json",
            format!(r#"{{"data": {{"limit": 20, "limit_remaining": {left}}}}}"#),
        )
    };
    for (remaining, usable) in [
        ("null", true),
        ("0.01", true),
        ("0", false),
        ("-3.5", false),
    ] {
        server.on_free(On::any(), with_credit(remaining));
        let class = check(Vendor::OpenRouter, &server)
            .await
            .err()
            .map(|failure| failure.class);
        assert_eq!(
            class,
            (!usable).then_some(FailureClass::Billing),
            "{remaining}"
        );
    }
}

#[tokio::test]
async fn a_dropped_check_closes_its_connection() {
    let server = ProviderServer::start();
    server.on_free(
        On::any(),
        Answer::http(200, "application/json", "[1, 2, 3, 4]").stall(),
    );
    for (at, (vendor, ..)) in FREE.into_iter().enumerate() {
        let provider = cloud(vendor, &server);
        let mut check = provider.check().unwrap();
        tokio::select! {
            result = &mut check => panic!("the server stalls, and yet: {result:?}"),
            () = server.sees("it is asked", |server| server.free_requests().len() == at + 1) => {}
        }
        drop(check);
        server
            .sees("the connection is closed", |server| {
                server.free_requests()[at].finished.is_some()
            })
            .await;
        assert!(!server.free_requests()[at].complete, "{vendor:?}");
    }
}
