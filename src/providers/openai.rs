//! OpenAI's Chat Completions, as spoken by OpenAI and all compatible servers: the request, and the
//! reading of its stream of chunks. Pure.
//!
//! The request differs by the server's [`Quirks`]. The decoder accepts the variants of all servers,
//! except where the same field means different things.

use std::ops::ControlFlow;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::consultation::protocol::call::{Ask, Outcome, StopReason};
use crate::domain::tokens::Usage;
use crate::engine::ports::Delta;

use super::errors;
use super::form::{Form, Structure};
use super::partial_reply::PartialReply;
use super::reported_cost;
use super::sse::{Event, Framing};
use super::wire::{Account, Decoder, End, Endpoint, HeaderText, HttpRequest, address};
use crate::domain::dialect::{Quirks, Reasoning, Routing, StreamUsage};

/// Returns the request for one call.
pub fn encode(ask: &Ask, endpoint: &Endpoint, form: &Form, quirks: Quirks) -> HttpRequest {
    let (system, user) = form.messages(ask);
    let system = system.map(|system| json!({"role": "system", "content": system}));
    let messages: Vec<Value> = system
        .into_iter()
        .chain([json!({"role": "user", "content": user})])
        .collect();
    let mut body = json!({"model": ask.model.model, "stream": true, "messages": messages});
    if let Some(fields) = body.as_object_mut() {
        fields.insert(
            form.tokens_field.name().into(),
            form.max_output_tokens(ask).into(),
        );
        if quirks.stream_usage == StreamUsage::OnRequest {
            fields.insert("stream_options".into(), json!({"include_usage": true}));
        }
        let format = match form.structure {
            Structure::Schema => {
                let schema = json!({"name": ask.answer.name(), "strict": true, "schema": super::wire::schema(ask)});
                Some(json!({"type": "json_schema", "json_schema": schema}))
            }
            Structure::JsonObject => Some(json!({"type": "json_object"})),
            Structure::Prompt => None,
        };
        if let Some(format) = format {
            fields.insert("response_format".into(), format);
            if quirks.routing == Routing::AmongProviders {
                fields.insert("provider".into(), json!({"require_parameters": true}));
            }
        }
    }
    let mut headers: Vec<_> = endpoint.account.bearer().into_iter().collect();
    if quirks.routing == Routing::AmongProviders {
        headers.push(("x-openrouter-title", HeaderText::Plain("conclave")));
    }
    HttpRequest {
        url: address(&endpoint.base_url, "/chat/completions"),
        headers,
        body,
        framing: Framing::Events,
    }
}

/// Reads the stream of one reply.
#[derive(Debug)]
pub struct OpenAiDecoder {
    partial: PartialReply,
    quirks: Quirks,
    refusal: String,
}

impl OpenAiDecoder {
    pub fn new(ask: &Ask, account: &Account, quirks: Quirks) -> Self {
        Self {
            partial: PartialReply::new(ask, account),
            quirks,
            refusal: String::new(),
        }
    }

    fn choice(&mut self, choice: Choice, on: &mut dyn FnMut(Delta)) -> ControlFlow<()> {
        if let Some(error) = choice.error.filter(|error| !error.is_null()) {
            return self.partial.fail(&json!({"error": error}));
        }
        if let Some(delta) = choice.delta.or(choice.message) {
            // Servers that send both names send the same under both.
            let thinking = delta
                .reasoning_content
                .filter(|thinking| !thinking.is_null())
                .or(delta.reasoning);
            self.think(&thinking.unwrap_or_default(), on);
            self.content(&delta.content.unwrap_or_default(), on);
            self.refusal.push_str(&delta.refusal.unwrap_or_default());
        }
        if let Some(reason) = choice.finish_reason.filter(|reason| !reason.is_empty()) {
            if reason == "error" {
                return self
                    .partial
                    .fail(&json!({"error": "the provider ended the answer with an error"}));
            }
            // The answer is complete; usage and `[DONE]` may follow, and some servers send neither.
            self.partial.complete = true;
            self.partial.stop = Some(match reason.as_str() {
                "stop" => StopReason::End,
                // The output limit was reached, or the context is full.
                "length" | "model_length" => StopReason::Length,
                "content_filter" => StopReason::Refused("content_filter".to_owned()),
                _ => StopReason::Other(reason),
            });
        }
        ControlFlow::Continue(())
    }

    /// Adds content: a text, a list of chunks of which some are thinking, or nothing.
    fn content(&mut self, content: &Value, on: &mut dyn FnMut(Delta)) {
        match content {
            Value::String(text) => self.partial.add_text(text, on),
            Value::Array(chunks) => {
                for chunk in chunks {
                    match chunk.get("thinking") {
                        Some(thinking) => self.think(thinking, on),
                        None => self.content(chunk.get("text").unwrap_or(&Value::Null), on),
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {}
        }
    }

    /// Adds thinking: a text, or a list of chunks of text.
    fn think(&mut self, thinking: &Value, on: &mut dyn FnMut(Delta)) {
        match thinking {
            Value::String(text) if !text.is_empty() => self.partial.add_thinking(text, on),
            Value::Array(chunks) => chunks
                .iter()
                .filter_map(|chunk| chunk.get("text"))
                .for_each(|text| self.think(text, on)),
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Object(_) => {}
        }
    }
}

impl Decoder for OpenAiDecoder {
    fn event(&mut self, event: &Event, on: &mut dyn FnMut(Delta)) -> ControlFlow<()> {
        if event.data.trim() == "[DONE]" {
            return ControlFlow::Break(());
        }
        let json = self.partial.json(&event.data)?;
        if event.name == "error" || errors::is_error(&json) {
            return self.partial.fail(&json);
        }
        let Ok(chunk) = Chunk::deserialize(&json) else {
            return self
                .partial
                .malformed("a chunk of the stream does not have the form of a chat completion");
        };
        if let Some(model) = chunk.model.filter(|model| !model.is_empty()) {
            self.partial.served_model = Some(model);
        }
        if let Some(reported) = chunk.usage {
            self.partial.reported_cost = reported_cost::read(&reported, self.quirks.reported_cost)
                .or(self.partial.reported_cost);
            let usage = WireUsage::deserialize(reported)
                .ok()
                .and_then(|usage| usage.normalised(self.quirks.reasoning));
            self.partial.usage = usage.or(self.partial.usage);
            self.partial.usage_is_final |= usage.is_some();
        }
        match chunk.choices.into_iter().flatten().next() {
            Some(choice) => self.choice(choice, on),
            None => ControlFlow::Continue(()),
        }
    }

    fn finish(mut self: Box<Self>, end: End) -> Outcome {
        if !self.refusal.is_empty() && self.partial.stop.is_some() {
            self.partial.stop = Some(StopReason::Refused(self.refusal));
        }
        self.partial.finish(end)
    }
}

#[derive(Debug, Deserialize)]
struct Chunk {
    model: Option<String>,
    choices: Option<Vec<Choice>>,
    usage: Option<Value>,
}

#[derive(Debug, Deserialize)]
struct Choice {
    delta: Option<WireDelta>,
    /// A whole message, which some servers send in place of deltas.
    message: Option<WireDelta>,
    error: Option<Value>,
    finish_reason: Option<String>,
}

#[derive(Debug, Deserialize)]
struct WireDelta {
    content: Option<Value>,
    refusal: Option<String>,
    reasoning_content: Option<Value>,
    reasoning: Option<Value>,
}

/// Usage on the wire. The prompt includes cached tokens.
#[derive(Debug, Deserialize)]
struct WireUsage {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    total_tokens: Option<u64>,
    prompt_tokens_details: Option<PromptDetails>,
    completion_tokens_details: Option<CompletionDetails>,
}

#[derive(Debug, Default, Deserialize)]
struct PromptDetails {
    cached_tokens: Option<u64>,
    cache_write_tokens: Option<u64>,
}

#[derive(Debug, Deserialize)]
struct CompletionDetails {
    reasoning_tokens: Option<u64>,
}

impl WireUsage {
    /// Returns `None` unless both counts needed for a cost are present.
    fn normalised(&self, convention: Reasoning) -> Option<Usage> {
        let (prompt, completion) = (self.prompt_tokens?, self.completion_tokens?);
        let reasoning = self
            .completion_tokens_details
            .as_ref()
            .and_then(|details| details.reasoning_tokens)
            .unwrap_or(0);
        // Most servers count reasoning as part of the completion, some in addition; the total shows
        // which.
        let (within, on_top) = (
            prompt.saturating_add(completion),
            completion.saturating_add(reasoning),
        );
        let convention = match self.total_tokens {
            Some(total) if total == within => Reasoning::Within,
            Some(total) if total == within.saturating_add(reasoning) => Reasoning::OnTop,
            // A part cannot exceed the whole.
            _ if reasoning > completion => Reasoning::OnTop,
            Some(_) | None => convention,
        };
        let output = match convention {
            Reasoning::Within => completion,
            Reasoning::OnTop => on_top,
        };
        let details = self.prompt_tokens_details.as_ref();
        let cache_read = details
            .and_then(|details| details.cached_tokens)
            .unwrap_or(0)
            .min(prompt);
        let cache_write = details
            .and_then(|details| details.cache_write_tokens)
            .unwrap_or(0)
            .min(prompt - cache_read);
        Some(Usage {
            input: prompt - cache_read - cache_write,
            cache_read,
            cache_write,
            output,
            reasoning,
            ..Usage::default()
        })
    }
}
