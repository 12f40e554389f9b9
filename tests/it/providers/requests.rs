//! The fields of requests to the vendors' own formats.

use conclave::consultation::protocol::answer::{AnswerForm, AnswerKind};
use conclave::domain::model::dialect::Dialect;
use conclave::providers::wire::Scheme;
use serde_json::{Value, json};

use super::{
    KEY, VENDORS, ask, cloud, cloud_at, header, openai_request, remote_with, reply, usual,
};
use crate::support::provider_server::{ProviderServer, Vendor};

fn schema() -> Value {
    AnswerKind::Independent.schema(AnswerForm::Plain)
}

fn body(vendor: Vendor, model: &str) -> Value {
    super::body(&cloud_at(vendor, "http://h"), &ask(vendor, model))
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
    let body = super::body(&cloud_at(Vendor::Google, "http://h"), &ask);
    let viewpoints = "/generationConfig/responseJsonSchema/properties/tensions/items/properties/viewpoints/items/propertyOrdering";
    assert_eq!(
        body.pointer(viewpoints),
        Some(&json!(["agent", "viewpoint"]))
    );
}

#[test]
fn every_schema_is_sent_in_the_property_order_of_its_file() {
    for vendor in VENDORS {
        for kind in AnswerKind::ALL {
            let mut ask = usual(vendor);
            ask.answer = kind;
            let sent = super::body(&cloud_at(vendor, "http://h"), &ask).to_string();
            let schema = kind.schema(AnswerForm::Plain);
            let names = schema["properties"].as_object().unwrap().keys();
            let places = names.map(|name| sent.find(&format!("\"{name}\":{{")).unwrap());
            assert!(places.is_sorted(), "{vendor:?} {kind:?} {sent}");
        }
    }
}

#[test]
fn a_model_without_response_schemas_gets_none() {
    assert_eq!(body(Vendor::OpenAi, "gpt-4").get("response_format"), None);
    let old = body(Vendor::Anthropic, "claude-3-5-sonnet");
    assert_eq!(old.get("output_config"), None);
    // An unknown model is taken to be a new one.
    let unknown = body(Vendor::OpenAi, "gpt-unheard-of");
    assert!(unknown.get("response_format").is_some());
}

#[test]
fn an_anthropic_token_is_sent_as_a_bearer() {
    let remote = remote_with(Dialect::Anthropic, "http://h", Some(KEY), Scheme::Bearer);
    let (request, _) = remote.codec(&ask(Vendor::Anthropic, "m"));
    let bearer = format!("Bearer {KEY}");
    assert_eq!(header(&request, "authorization"), Some(&*bearer));
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
    for vendor in VENDORS {
        let cloud = cloud_at(vendor, "http://h");
        let (request, _) = cloud.codec(&usual(vendor));
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
    let bearer = format!("Bearer {KEY}");
    let google = "/v1beta/models/gemini-4-argon:streamGenerateContent?alt=sse";
    let cases = [
        (Vendor::Anthropic, "/v1/messages", "x-api-key", KEY),
        (
            Vendor::OpenAi,
            "/v1/chat/completions",
            "authorization",
            &bearer,
        ),
        (Vendor::Google, google, "x-goog-api-key", KEY),
    ];
    for (vendor, path, header, key) in cases {
        reply(vendor, &server).await;
        let request = server.requests().pop().unwrap();
        assert_eq!(request.path_and_query, path);
        let ask = usual(vendor);
        assert_eq!(request.body, super::body(&cloud(vendor, &server), &ask));
        let headers = &request.headers;
        assert_eq!(headers[header], key);
        let with_key = headers.values().filter(|value| value.contains(KEY));
        assert_eq!(with_key.count(), 1);
        let version = (vendor == Vendor::Anthropic).then_some("2026-10-21");
        assert_eq!(
            headers.get("anthropic-version").map(String::as_str),
            version
        );
        assert_eq!(headers["content-type"], "application/json");
        assert!(headers["user-agent"].starts_with("conclave/"));
        // Compression holds back streams.
        assert_eq!(headers.get("accept-encoding"), None);
    }
}
