//! Google's generateContent: the request, and the reading of its stream of fragments. Pure.

use std::fmt::Write;
use std::ops::ControlFlow;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::consultation::protocol::call::{Ask, StopReason};
use crate::domain::tokens::Usage;
use crate::engine::ports::Delta;

use super::form::{Form, Messages, Structure};
use super::partial_reply::PartialReply;
use super::wire::{schema, with, without_nulls};

/// Returns the path of the request for one call.
pub(super) fn path(model: &str) -> String {
    format!(
        "/v1beta/models/{}:streamGenerateContent?alt=sse",
        path_segment(model)
    )
}

/// Returns the body of the request for one call. Properties are written in the order of the schema.
pub(super) fn body(ask: &Ask, form: &Form) -> Value {
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
    let names = fields
        .get("properties")
        .and_then(Value::as_object)
        .map(|properties| properties.keys().cloned().collect::<Vec<_>>());
    if let Some(names) = names {
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

/// Reads one event of a reply: a fragment, or a list of them, as some gateways send.
pub(super) fn read(
    json: &Value,
    reply: &mut PartialReply,
    on: &mut dyn FnMut(Delta),
) -> ControlFlow<()> {
    match json {
        Value::Array(fragments) => fragments
            .iter()
            .try_for_each(|fragment| read_fragment(fragment, reply, on)),
        fragment => read_fragment(fragment, reply, on),
    }
}

fn read_fragment(
    json: &Value,
    reply: &mut PartialReply,
    on: &mut dyn FnMut(Delta),
) -> ControlFlow<()> {
    if !json["error"].is_null() {
        return reply.fail(json);
    }
    let Ok(fragment) = Fragment::deserialize(json) else {
        return reply
            .malformed("a fragment of the stream does not have the form of a generated content");
    };
    reply.served_model = fragment.model_version.or(reply.served_model.take());
    let usage = WireUsage::deserialize(fragment.usage_metadata).ok();
    let counted = usage.is_some();
    reply.usage = usage.map(|usage| usage.normalised()).or(reply.usage);
    if let Some(candidate) = fragment.candidates.into_iter().flatten().next() {
        read_candidate(candidate, reply, on);
    }
    if let Some(reason) = fragment
        .prompt_feedback
        .and_then(|feedback| feedback.block_reason)
    {
        reply.complete = true;
        reply.stop = Some(StopReason::Refused(format!(
            "the prompt was blocked: {reason}"
        )));
    }
    // Counts are cumulative and part of every fragment: those with or after the end are final.
    reply.usage_is_final |= reply.complete && counted;
    ControlFlow::Continue(())
}

fn read_candidate(candidate: Candidate, reply: &mut PartialReply, on: &mut dyn FnMut(Delta)) {
    let parts = candidate.content.and_then(|content| content.parts);
    for part in parts.into_iter().flatten() {
        let text = part.text.unwrap_or_default();
        if part.thought.unwrap_or(false) {
            reply.add_thinking(&text, on);
        } else {
            reply.add_text(&text, on);
        }
    }
    if let Some(reason) = candidate
        .finish_reason
        .filter(|reason| reason != "FINISH_REASON_UNSPECIFIED")
    {
        // No end marker follows, but the final usage may.
        reply.complete = true;
        let words = candidate.finish_message.unwrap_or_else(|| reason.clone());
        reply.stop = Some(match reason.as_str() {
            "STOP" => StopReason::End,
            "MAX_TOKENS" => StopReason::Length,
            "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" => {
                StopReason::Refused(words)
            }
            _ => StopReason::Other(reason),
        });
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Fragment {
    candidates: Option<Vec<Candidate>>,
    prompt_feedback: Option<PromptFeedback>,
    #[serde(default)]
    usage_metadata: Value,
    model_version: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate {
    content: Option<Content>,
    finish_reason: Option<String>,
    finish_message: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Content {
    parts: Option<Vec<ContentPart>>,
}

#[derive(Debug, Deserialize)]
struct ContentPart {
    text: Option<String>,
    thought: Option<bool>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PromptFeedback {
    block_reason: Option<String>,
}

/// Usage on the wire; zeros are left out. The prompt includes cached tokens, the candidates exclude
/// thoughts.
#[derive(Debug, Deserialize)]
struct WireUsage {
    #[serde(rename = "promptTokenCount")]
    prompt: Option<u64>,
    #[serde(rename = "cachedContentTokenCount")]
    cached: Option<u64>,
    #[serde(rename = "candidatesTokenCount")]
    candidates: Option<u64>,
    #[serde(rename = "thoughtsTokenCount")]
    thoughts: Option<u64>,
    #[serde(rename = "toolUsePromptTokenCount")]
    tool_use_prompt: Option<u64>,
}

impl WireUsage {
    fn normalised(&self) -> Usage {
        let prompt = self
            .prompt
            .unwrap_or(0)
            .saturating_add(self.tool_use_prompt.unwrap_or(0));
        let cache_read = self.cached.unwrap_or(0).min(prompt);
        let reasoning = self.thoughts.unwrap_or(0);
        let output = self.candidates.unwrap_or(0).saturating_add(reasoning);
        Usage {
            input: prompt - cache_read,
            cache_read,
            output,
            reasoning,
            ..Usage::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_keeps_what_gemini_reads_and_the_names_of_its_properties() {
        let schema = json!({
            "$schema": "x",
            "type": "object",
            "minProperties": 1,
            "properties": {
                "pattern": {"type": "string", "pattern": "^a", "minLength": 1},
                "kind": {"const": "a"},
                "list": {
                    "type": "array",
                    "uniqueItems": true,
                    "items": {
                        "anyOf": [
                            {"type": "number", "multipleOf": 2},
                            {"$ref": "#/$defs/x", "title": "t"},
                        ],
                    },
                },
            },
            "$defs": {"x": {"not": {}, "type": "null"}},
            "required": ["pattern"],
            "additionalProperties": false,
        });
        let expected = json!({
            "type": "object",
            "properties": {
                "pattern": {"type": "string"},
                "kind": {"enum": ["a"]},
                "list": {
                    "type": "array",
                    "items": {"anyOf": [{"type": "number"}, {"$ref": "#/$defs/x"}]},
                },
            },
            "$defs": {"x": {"type": "null"}},
            "required": ["pattern"],
            "additionalProperties": false,
            "propertyOrdering": ["pattern", "kind", "list"],
        });
        assert_eq!(fitted(schema), expected);
    }
}
