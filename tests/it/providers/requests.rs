//! The fields of requests to the vendors' own formats.

use conclave::consultation::protocol::answer::{AnswerForm, AnswerKind};
use conclave::domain::dialect::Dialect;
use conclave::providers::wire::{Account, Scheme};
use serde_json::{Value, json};

use super::{KEY, VENDORS, ask, call, cloud, cloud_at, header, openai_request, remote_with};
use crate::support::provider_server::{ProviderServer, Vendor};

fn schema() -> Value {
    AnswerKind::Independent.schema(AnswerForm::Plain)
}

fn body(vendor: Vendor, model: &str) -> Value {
    cloud_at(vendor, "http://h")
        .codec(&ask(vendor, model))
        .0
        .body
}

#[test]
fn a_request_to_anthropic_has_exactly_these_fields() {
    let expected = json!({
        "model": "claude-sonnet-5-5",
        "max_tokens": 16384,
        "stream": true,
        "system": "You are P.\n\nRules.",
        "messages": [{"role": "user", "content": "Question?\n\nAnswer."}],
        "output_config": {"format": {"type": "json_schema", "schema": schema()}},
    });
    assert_eq!(body(Vendor::Anthropic, "claude-sonnet-5-5"), expected);
}

#[test]
fn a_request_to_openai_has_exactly_these_fields() {
    let format = json!({"name": "independent", "strict": true, "schema": schema()});
    let expected = openai_request(&json!({
        "messages": [
            {"role": "system", "content": "You are P.\n\nRules."},
            {"role": "user", "content": "Question?\n\nAnswer."},
        ],
        "response_format": {"type": "json_schema", "json_schema": format},
    }));
    assert_eq!(body(Vendor::OpenAi, "gpt-6.1-sol"), expected);
}

#[test]
fn a_request_to_gemini_has_exactly_these_fields() {
    let mut schema = schema();
    schema["propertyOrdering"] = json!(["position", "key_points", "rationale", "confidence"]);
    let expected = json!({
        "systemInstruction": {"parts": [{"text": "You are P.\n\nRules."}]},
        "contents": [{"role": "user", "parts": [{"text": "Question?\n\nAnswer."}]}],
        "generationConfig": {
            "maxOutputTokens": 16384,
            "responseMimeType": "application/json",
            "responseJsonSchema": schema,
        },
    });
    assert_eq!(body(Vendor::Google, "gemini-4-argon"), expected);
}

#[test]
fn gemini_gets_the_order_of_properties_at_every_depth() {
    let mut ask = ask(Vendor::Google, "gemini-4-argon");
    ask.answer = AnswerKind::Synthesis;
    let body = cloud_at(Vendor::Google, "http://h").codec(&ask).0.body;
    let viewpoints = "/generationConfig/responseJsonSchema/properties/tensions/items/properties/viewpoints/items/propertyOrdering";
    assert_eq!(
        body.pointer(viewpoints),
        Some(&json!(["agent", "viewpoint"]))
    );
}

#[test]
fn every_schema_is_sent_in_the_property_order_of_its_file() {
    for (vendor, model) in VENDORS {
        for kind in AnswerKind::ALL {
            let mut ask = ask(vendor, model);
            ask.answer = kind;
            let sent = cloud_at(vendor, "http://h").codec(&ask).0.body.to_string();
            let names: Vec<String> = kind.schema(AnswerForm::Plain)["properties"]
                .as_object()
                .unwrap()
                .keys()
                .cloned()
                .collect();
            let places: Vec<Option<usize>> = names
                .iter()
                .map(|name| sent.find(&format!("\"{name}\":{{")))
                .collect();
            assert!(
                places.iter().all(Option::is_some) && places.is_sorted(),
                "{vendor:?} {kind:?} {names:?} {places:?}"
            );
        }
    }
}

#[test]
fn a_model_without_response_schemas_gets_none() {
    assert_eq!(body(Vendor::OpenAi, "gpt-4").get("response_format"), None);
    assert_eq!(
        body(Vendor::Anthropic, "claude-3-5-sonnet").get("output_config"),
        None
    );
    assert!(
        body(Vendor::OpenAi, "gpt-unheard-of")
            .get("response_format")
            .is_some(),
        "an unknown model is taken to be a new one"
    );
}

#[test]
fn an_anthropic_token_is_sent_as_a_bearer() {
    let account = Account {
        key: Some(KEY.into()),
        origin: "`ANTHROPIC_AUTH_TOKEN`".into(),
        scheme: Scheme::Bearer,
        is_word: false,
    };
    let remote = remote_with(Dialect::Anthropic, "http://h", account);
    let (request, _) = remote.codec(&ask(Vendor::Anthropic, "m"));
    assert_eq!(
        header(&request, "authorization"),
        Some(format!("Bearer {KEY}").as_str())
    );
    assert_eq!(header(&request, "x-api-key"), None);
}

#[test]
fn a_model_name_cannot_escape_its_path_segment() {
    let (request, _) =
        cloud_at(Vendor::Google, "http://h").codec(&ask(Vendor::Google, "models/a/../b?c#d"));
    assert_eq!(
        request.url,
        "http://h/v1beta/models/a%2F..%2Fb%3Fc%23d:streamGenerateContent?alt=sse"
    );
}

#[test]
fn keys_appear_in_no_address_or_debug_output() {
    for (vendor, model) in VENDORS {
        let cloud = cloud_at(vendor, "http://h");
        let (request, _) = cloud.codec(&ask(vendor, model));
        assert!(!request.url.contains(KEY) && !request.body.to_string().contains(KEY));
        assert!(
            !format!("{cloud:?} {request:?}").contains(KEY),
            "{vendor:?}"
        );
    }
}

#[tokio::test]
async fn each_vendor_gets_its_path_key_and_version() {
    let server = ProviderServer::start();
    for (vendor, model) in VENDORS {
        call(&cloud(vendor, &server), &ask(vendor, model))
            .await
            .0
            .unwrap();
    }
    let requests = server.requests();
    for ((vendor, model), request) in VENDORS.into_iter().zip(&requests) {
        assert!(request.vendor.is_some());
        assert_eq!(request.model.as_str(), model);
        assert_eq!(
            request.body,
            cloud(vendor, &server).codec(&ask(vendor, model)).0.body
        );
    }
    let paths: Vec<_> = requests
        .iter()
        .map(|request| request.path_and_query.as_str())
        .collect();
    assert_eq!(
        paths,
        [
            "/v1/messages",
            "/v1/chat/completions",
            "/v1beta/models/gemini-4-argon:streamGenerateContent?alt=sse"
        ]
    );
    let header = |at: usize, name: &str| requests[at].headers.get(name).map(String::as_str);
    assert_eq!(header(0, "x-api-key"), Some(KEY));
    assert_eq!(header(0, "anthropic-version"), Some("2026-10-21"));
    assert_eq!(
        header(1, "authorization"),
        Some(format!("Bearer {KEY}").as_str())
    );
    assert_eq!(header(2, "x-goog-api-key"), Some(KEY));
    for request in &requests {
        assert_eq!(request.headers["content-type"], "application/json");
        assert!(request.headers["user-agent"].starts_with("conclave/"));
        assert_eq!(
            request.headers.get("accept-encoding"),
            None,
            "compression holds back streams"
        );
        assert_eq!(
            request
                .headers
                .values()
                .filter(|value| value.contains(KEY))
                .count(),
            1
        );
    }
}
