//! Google's generateContent: the request, and the reading of its stream of fragments. Pure.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::consultation::protocol::call::{Ask, StopReason};
use crate::domain::cost::tokens::Usage;

use super::partial_reply::PartialReply;
use crate::providers::form::Form;
use crate::providers::form::Messages;
use crate::providers::form::Structure;
use crate::providers::wire::{Counts, Flow, On, schema, text, with, without_nulls};

pub(crate) fn path(model: &str) -> String {
    format!(
        "/v1beta/models/{}:streamGenerateContent?alt=sse",
        path_segment(model)
    )
}

/// Properties are written in the order of the schema.
pub(crate) fn body(ask: &Ask, form: &Form) -> Value {
    let Messages { system, user } = form.messages(ask);
    let parts: Vec<Value> = user.into_iter().map(|text| json!({"text": text})).collect();
    let system = system.map(|system| json!({"parts": [{"text": system}]}));
    let mime_type = (form.structure != Structure::Prompt).then_some("application/json");
    let schema = (form.structure == Structure::Schema).then(|| fitted(schema(ask)));
    let config = json!({
        "maxOutputTokens": form.max_output_tokens(ask),
        "responseMimeType": mime_type,
    });
    let config = with(config, "responseJsonSchema", schema.unwrap_or_default());
    let body = json!({
        "contents": [{"role": "user", "parts": parts}],
        "generationConfig": null,
        "systemInstruction": system,
    });
    without_nulls(with(body, "generationConfig", without_nulls(config)))
}

/// The schema keywords that Gemini supports; some models ignore others, some refuse them.
const KEYWORDS: [&str; 22] = [
    "$id",
    "$defs",
    "$ref",
    "$anchor",
    "type",
    "format",
    "title",
    "description",
    "enum",
    "items",
    "prefixItems",
    "minItems",
    "maxItems",
    "minimum",
    "maximum",
    "anyOf",
    "oneOf",
    "properties",
    "additionalProperties",
    "required",
    "propertyOrdering",
    "nullable",
];

/// Returns the schema with only the supported keywords, and with `propertyOrdering` at every
/// object, without which the model may answer before it reasons.
fn fitted(schema: Value) -> Value {
    let Value::Object(mut fields) = schema else {
        return schema;
    };
    if let Some(only) = fields
        .shift_remove("const")
        .filter(|only| only.is_string() && !fields.contains_key("enum"))
    {
        fields.insert("enum".into(), json!([only]));
    }
    let refers = fields.contains_key("$ref");
    fields.retain(|key, _| KEYWORDS.contains(&key.as_str()) && (!refers || key.starts_with('$')));
    for (key, value) in &mut fields {
        let whole = std::mem::take(value);
        *value = match (key.as_str(), whole) {
            // These keys are names of properties and definitions, not keywords.
            ("properties" | "$defs", Value::Object(schemas)) => schemas
                .into_iter()
                .map(|(name, schema)| (name, fitted(schema)))
                .collect(),
            ("anyOf" | "oneOf" | "prefixItems", Value::Array(schemas)) => {
                schemas.into_iter().map(fitted).collect()
            }
            ("items" | "additionalProperties", schema) => fitted(schema),
            (_, other) => other,
        };
    }
    if let Some(Value::Object(properties)) = fields.get("properties") {
        let names = properties.keys().cloned().collect::<Vec<_>>();
        fields.insert("propertyOrdering".into(), names.into());
    }
    Value::Object(fields)
}

/// Returns a model's name as one path segment, with any character escaped that could end the
/// segment.
fn path_segment(model: &str) -> String {
    let mut segment = String::with_capacity(model.len());
    for byte in model.strip_prefix("models/").unwrap_or(model).bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                segment.push(char::from(byte));
            }
            // Writing to a `String` cannot fail.
            _ => _ = write!(segment, "%{byte:02X}"),
        }
    }
    segment
}

/// A fragment, or a list of them, as some gateways send.
pub(crate) fn read(json: &Value, reply: &mut PartialReply, on: On<'_>) -> Flow {
    match json {
        Value::Array(fragments) => fragments
            .iter()
            .try_for_each(|fragment| read_fragment(fragment, reply, on)),
        fragment => read_fragment(fragment, reply, on),
    }
}

fn read_fragment(json: &Value, reply: &mut PartialReply, on: On<'_>) -> Flow {
    if !json["error"].is_null() {
        return reply.fail(json);
    }
    if !json.is_object() {
        return reply
            .malformed("a fragment of the stream does not have the form of a generated content");
    }
    if let Some(model) = json["modelVersion"].as_str() {
        reply.served_model = Some(model.to_owned());
    }
    let usage = usage(&json["usageMetadata"]);
    reply.usage = usage.or(reply.usage);
    if let Some(candidate) = json.pointer("/candidates/0") {
        read_candidate(candidate, reply, on);
    }
    if let Some(Value::String(reason)) = json.pointer("/promptFeedback/blockReason") {
        reply.complete = true;
        reply.stop = Some(StopReason::Refused(format!(
            "the prompt was blocked: {reason}"
        )));
    }
    // Counts are cumulative and part of every fragment: those with or after the end are final.
    reply.usage_is_final |= reply.complete && usage.is_some();
    Flow::Continue(())
}

fn read_candidate(candidate: &Value, reply: &mut PartialReply, on: On<'_>) {
    let parts = candidate.pointer("/content/parts");
    for part in parts.and_then(Value::as_array).into_iter().flatten() {
        if part["thought"] == true {
            reply.add_thinking(text(&part["text"]), on);
        } else {
            reply.add_text(text(&part["text"]), on);
        }
    }
    let Some(reason) = candidate["finishReason"]
        .as_str()
        .filter(|reason| *reason != "FINISH_REASON_UNSPECIFIED")
    else {
        return;
    };
    // No end marker follows, but the final usage may.
    reply.complete = true;
    reply.stop = Some(match reason {
        "STOP" => StopReason::End,
        "MAX_TOKENS" => StopReason::Length,
        "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" => {
            let words = candidate["finishMessage"].as_str().unwrap_or(reason);
            StopReason::Refused(words.to_owned())
        }
        _ => StopReason::Other(reason.to_owned()),
    });
}

/// The prompt includes cached tokens, the candidates exclude thoughts.
fn usage(report: &Value) -> Option<Usage> {
    let counts = Counts::of(report);
    let count = |at: &str| counts.at(at).unwrap_or(0);
    let prompt = count("/promptTokenCount").saturating_add(count("/toolUsePromptTokenCount"));
    let reasoning = count("/thoughtsTokenCount");
    counts.valid(Usage {
        output: count("/candidatesTokenCount").saturating_add(reasoning),
        reasoning,
        ..Usage::of_prompt(prompt, count("/cachedContentTokenCount"), 0)
    })
}
