//! Google's generateContent: the request, and the reading of its stream of fragments. Pure.

use std::fmt::Write;
use std::ops::ControlFlow;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::consultation::protocol::call::{Ask, Outcome, StopReason};
use crate::domain::tokens::Usage;
use crate::engine::ports::Delta;

use super::form::{Form, Structure};
use super::partial_reply::PartialReply;
use super::sse::{Event, Framing};
use super::wire::{Account, Decoder, End, Endpoint, HttpRequest, address};

/// Returns the request for one call. Properties are written in the order of the schema.
pub fn encode(ask: &Ask, endpoint: &Endpoint, form: &Form) -> HttpRequest {
    let (system, user) = form.messages(ask);
    let mut generation = Map::from_iter([(
        "maxOutputTokens".to_owned(),
        form.max_output_tokens(ask).into(),
    )]);
    match form.structure {
        Structure::Schema => {
            generation.insert("responseMimeType".into(), json!("application/json"));
            generation.insert(
                "responseJsonSchema".into(),
                fitted(super::wire::schema(ask)),
            );
        }
        Structure::JsonObject => {
            generation.insert("responseMimeType".into(), json!("application/json"));
        }
        Structure::Prompt => {}
    }
    let mut body = json!({
        "contents": [{"role": "user", "parts": [{"text": user}]}],
        "generationConfig": generation,
    });
    if let Some(fields) = body.as_object_mut() {
        fields.extend(system.map(|system| {
            (
                "systemInstruction".to_owned(),
                json!({"parts": [{"text": system}]}),
            )
        }));
    }
    let path = format!(
        "/v1beta/models/{}:streamGenerateContent?alt=sse",
        path_segment(&ask.model.model)
    );
    let headers = endpoint
        .account
        .header("x-goog-api-key")
        .into_iter()
        .collect();
    HttpRequest {
        url: address(&endpoint.base_url, &path),
        headers,
        body,
        framing: Framing::Events,
    }
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

/// Reads the stream of one reply.
#[derive(Debug)]
pub struct GeminiDecoder {
    partial: PartialReply,
}

impl GeminiDecoder {
    pub fn new(ask: &Ask, account: &Account) -> Self {
        Self {
            partial: PartialReply::new(ask, account),
        }
    }

    fn fragment(&mut self, json: &Value, on: &mut dyn FnMut(Delta)) -> ControlFlow<()> {
        if json.get("error").is_some_and(|error| !error.is_null()) {
            return self.partial.fail(json);
        }
        let Ok(fragment) = Fragment::deserialize(json) else {
            return self.partial.malformed(
                "a fragment of the stream does not have the form of a generated content",
            );
        };
        if let Some(model) = fragment.model_version {
            self.partial.served_model = Some(model);
        }
        let usage = fragment
            .usage_metadata
            .and_then(|usage| WireUsage::deserialize(usage).ok());
        let counted = usage.is_some();
        self.partial.usage = usage.map(|usage| usage.normalised()).or(self.partial.usage);
        if let Some(candidate) = fragment.candidates.into_iter().flatten().next() {
            self.candidate(candidate, on);
        }
        if let Some(reason) = fragment
            .prompt_feedback
            .and_then(|feedback| feedback.block_reason)
        {
            self.partial.complete = true;
            self.partial.stop = Some(StopReason::Refused(format!(
                "the prompt was blocked: {reason}"
            )));
        }
        // Counts are cumulative and part of every fragment: those with or after the end are final.
        self.partial.usage_is_final |= self.partial.complete && counted;
        ControlFlow::Continue(())
    }

    fn candidate(&mut self, candidate: Candidate, on: &mut dyn FnMut(Delta)) {
        for part in candidate
            .content
            .and_then(|content| content.parts)
            .into_iter()
            .flatten()
        {
            let text = part.text.unwrap_or_default();
            if part.thought.unwrap_or(false) {
                self.partial.add_thinking(&text, on);
            } else {
                self.partial.add_text(&text, on);
            }
        }
        if let Some(reason) = candidate
            .finish_reason
            .filter(|reason| reason != "FINISH_REASON_UNSPECIFIED")
        {
            // No end marker follows, but the final usage may.
            self.partial.complete = true;
            let words = candidate.finish_message.unwrap_or_else(|| reason.clone());
            self.partial.stop = Some(match reason.as_str() {
                "STOP" => StopReason::End,
                "MAX_TOKENS" => StopReason::Length,
                "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" => {
                    StopReason::Refused(words)
                }
                _ => StopReason::Other(reason),
            });
        }
    }
}

impl Decoder for GeminiDecoder {
    fn event(&mut self, event: &Event, on: &mut dyn FnMut(Delta)) -> ControlFlow<()> {
        match self.partial.json(&event.data)? {
            // Some gateways wrap the fragments.
            Value::Array(fragments) => fragments
                .iter()
                .try_for_each(|fragment| self.fragment(fragment, on)),
            fragment => self.fragment(&fragment, on),
        }
    }

    fn finish(self: Box<Self>, end: End) -> Outcome {
        self.partial.finish(end)
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Fragment {
    candidates: Option<Vec<Candidate>>,
    prompt_feedback: Option<PromptFeedback>,
    usage_metadata: Option<Value>,
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
            "$schema": "x", "type": "object", "minProperties": 1,
            "properties": {
                "pattern": {"type": "string", "pattern": "^a", "minLength": 1},
                "kind": {"const": "a"},
                "list": {"type": "array", "uniqueItems": true, "items": {"anyOf": [{"type": "number", "multipleOf": 2}, {"$ref": "#/$defs/x", "title": "t"}]}},
            },
            "$defs": {"x": {"not": {}, "type": "null"}},
            "required": ["pattern"], "additionalProperties": false,
        });
        let expected = json!({
            "type": "object",
            "properties": {
                "pattern": {"type": "string"},
                "kind": {"enum": ["a"]},
                "list": {"type": "array", "items": {"anyOf": [{"type": "number"}, {"$ref": "#/$defs/x"}]}},
            },
            "$defs": {"x": {"type": "null"}},
            "required": ["pattern"], "additionalProperties": false,
            "propertyOrdering": ["pattern", "kind", "list"],
        });
        assert_eq!(fitted(schema), expected);
    }
}
