//! The requests to each vendor, field by field.

use serde_json::{Value, json};

use crate::support::binary::Conclave;
use crate::support::model_requests::{ModelRequest, model_requests};
use crate::support::provider_server::{ProviderServer, Vendor};

fn run_consultation() -> Vec<ModelRequest> {
    let server = ProviderServer::start();
    Conclave::at(&server)
        .run(&["consult", "Shall we?"])
        .ends_with(0);
    model_requests(&server)
}

#[test]
fn each_vendor_gets_its_own_fields_and_no_sampling_parameters() {
    for ModelRequest {
        vendor,
        recorded: request,
        schema,
        system,
        user,
        answer,
        ..
    } in run_consultation()
    {
        let expected = match vendor {
            Vendor::Anthropic => json!({
                "model": "claude-sonnet-5-5", "max_tokens": 16384, "stream": true, "system": system,
                "messages": [{"role": "user", "content": user}],
                "output_config": {"format": {"type": "json_schema", "schema": schema}},
            }),
            Vendor::OpenAi => json!({
                "model": "gpt-6.1-sol",
                "max_completion_tokens": 16384,
                "stream": true,
                "stream_options": {"include_usage": true},
                "messages": [
                    {"role": "system", "content": system},
                    {"role": "user", "content": user},
                ],
                "response_format": {
                    "type": "json_schema",
                    "json_schema": {"name": answer, "strict": true, "schema": schema},
                },
            }),
            Vendor::Google => json!({
                "systemInstruction": {"parts": [{"text": system}]},
                "contents": [{"role": "user", "parts": [{"text": user}]}],
                "generationConfig": {
                    "maxOutputTokens": 16384,
                    "responseMimeType": "application/json",
                    "responseJsonSchema": schema,
                },
            }),
            other => panic!("{other:?} has no seat"),
        };
        assert_eq!(request.body, expected, "{vendor:?} {answer}");
    }
}

#[test]
fn schemas_use_only_features_that_all_vendors_support() {
    for request in run_consultation() {
        check_schema(&request.schema, request.answer, request.vendor);
    }
}

/// Checks that objects are closed and require every property, and that only supported keywords are
/// used.
fn check_schema(schema: &Value, place: &str, vendor: Vendor) {
    let fields = schema
        .as_object()
        .unwrap_or_else(|| panic!("{place} is not a schema: {schema}"));
    let supported = [
        "type",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "enum",
        "description",
        "propertyOrdering",
    ];
    for key in fields.keys() {
        assert!(supported.contains(&key.as_str()), "{place} uses `{key}`");
    }
    assert_eq!(
        fields.contains_key("propertyOrdering"),
        vendor == Vendor::Google && schema["type"] == "object",
        "{place}"
    );
    if schema["type"] == "object" {
        let names: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
        let required: Vec<&str> = schema["required"]
            .as_array()
            .unwrap()
            .iter()
            .map(|name| name.as_str().unwrap())
            .collect();
        assert_eq!(names, required, "{place} requires every property");
        assert_eq!(schema["additionalProperties"], false, "{place}");
        for (name, property) in schema["properties"].as_object().unwrap() {
            check_schema(property, &format!("{place}.{name}"), vendor);
        }
    }
    if schema["type"] == "array" {
        check_schema(&schema["items"], &format!("{place}[]"), vendor);
    }
}
