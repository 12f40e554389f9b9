//! OpenAI's Chat Completions, as spoken by OpenAI and all compatible servers: the request, and the
//! reading of its stream of chunks. Pure.
//!
//! The request differs by the server's [`Quirks`]. The decoder accepts the variants of all servers,
//! except where the same field means different things.

use std::ops::ControlFlow;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::consultation::protocol::call::{Ask, StopReason};
use crate::domain::tokens::Usage;
use crate::engine::ports::Delta;

use super::form::{CacheMark, Form, Structure};
use super::partial_reply::PartialReply;
use super::wire::{schema, with, without_nulls};
use super::{errors, reported_cost};
use crate::domain::dialect::{CacheKeyPlace, Dialect, Quirks, Reasoning, Routing, StreamUsage};

/// Returns the body of the request for one call.
pub(super) fn body(ask: &Ask, form: &Form, quirks: Quirks) -> Value {
    let usage =
        (quirks.stream_usage == StreamUsage::OnRequest).then(|| json!({"include_usage": true}));
    let format = match form.structure {
        Structure::Schema => {
            let named = json!({"name": ask.answer.name(), "strict": true});
            let named = with(named, "schema", schema(ask));
            with(json!({"type": "json_schema"}), "json_schema", named)
        }
        Structure::JsonObject => json!({"type": "json_object"}),
        Structure::Prompt => Value::Null,
    };
    let routing = (quirks.routing == Routing::AmongProviders && !format.is_null())
        .then(|| json!({"require_parameters": true}));
    let mark = form.cache_mark(ask, Dialect::OpenAi(quirks));
    // Without this, the end of each prompt is written to the cache too, at a surcharge.
    let is_explicit = mark == Some(CacheMark::Breakpoint) && quirks.routing == Routing::Direct;
    let body = json!({
        "model": ask.model.model,
        "stream": true,
        "messages": form.chat_messages(ask, mark),
        form.tokens_field.name(): form.max_output_tokens(ask),
        "stream_options": usage,
        "response_format": null,
        "provider": routing,
        "prompt_cache_options": is_explicit.then(|| json!({"mode": "explicit"})),
    });
    let mut body = without_nulls(with(body, "response_format", format));
    if let (CacheKeyPlace::Field(field), Some(key), Some(fields)) =
        (quirks.cache_key, &ask.cache_key, body.as_object_mut())
    {
        fields.insert(field.to_owned(), json!(key));
    }
    body
}

/// Reads one event of a reply.
pub(super) fn read(
    name: &str,
    json: &Value,
    quirks: Quirks,
    reply: &mut PartialReply,
    on: &mut dyn FnMut(Delta),
) -> ControlFlow<()> {
    if name == "error" || errors::is_error(json) {
        return reply.fail(json);
    }
    let Ok(chunk) = Chunk::deserialize(json) else {
        return reply
            .malformed("a chunk of the stream does not have the form of a chat completion");
    };
    let model = chunk.model.filter(|model| !model.is_empty());
    reply.served_model = model.or(reply.served_model.take());
    if let Some(reported) = chunk.usage {
        let cost = reported_cost::read(&reported, quirks.reported_cost);
        reply.reported_cost = cost.or(reply.reported_cost);
        let usage = WireUsage::deserialize(reported)
            .ok()
            .and_then(|usage| usage.normalised(quirks.reasoning));
        reply.usage = usage.or(reply.usage);
        reply.usage_is_final |= usage.is_some();
    }
    match chunk.choices.into_iter().flatten().next() {
        Some(choice) => read_choice(choice, reply, on),
        None => ControlFlow::Continue(()),
    }
}

fn read_choice(
    choice: Choice,
    reply: &mut PartialReply,
    on: &mut dyn FnMut(Delta),
) -> ControlFlow<()> {
    if !choice.error.is_null() {
        return reply.fail(&json!({"error": choice.error}));
    }
    if let Some(delta) = choice.delta.or(choice.message) {
        // Servers that send both names send the same under both.
        let thinking = match delta.reasoning_content {
            Value::Null => delta.reasoning,
            thinking => thinking,
        };
        add_thinking(&thinking, reply, on);
        add_content(&delta.content, reply, on);
        reply.refusal.push_str(&delta.refusal.unwrap_or_default());
    }
    if let Some(reason) = choice.finish_reason.filter(|reason| !reason.is_empty()) {
        if reason == "error" {
            return reply.fail(&json!({"error": "the provider ended the answer with an error"}));
        }
        // The answer is complete; usage and `[DONE]` may follow, and some servers send neither.
        reply.complete = true;
        reply.stop = Some(match reason.as_str() {
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
fn add_content(content: &Value, reply: &mut PartialReply, on: &mut dyn FnMut(Delta)) {
    if let Some(text) = content.as_str() {
        reply.add_text(text, on);
    }
    for chunk in content.as_array().into_iter().flatten() {
        match chunk.get("thinking") {
            Some(thinking) => add_thinking(thinking, reply, on),
            None => add_content(&chunk["text"], reply, on),
        }
    }
}

/// Adds thinking: a text, or a list of chunks of text.
fn add_thinking(thinking: &Value, reply: &mut PartialReply, on: &mut dyn FnMut(Delta)) {
    if let Some(text) = thinking.as_str().filter(|text| !text.is_empty()) {
        reply.add_thinking(text, on);
    }
    for chunk in thinking.as_array().into_iter().flatten() {
        add_thinking(&chunk["text"], reply, on);
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
    #[serde(default)]
    error: Value,
    finish_reason: Option<String>,
}

#[derive(Debug, Deserialize)]
struct WireDelta {
    #[serde(default)]
    content: Value,
    refusal: Option<String>,
    #[serde(default)]
    reasoning_content: Value,
    #[serde(default)]
    reasoning: Value,
}

/// Usage on the wire. The prompt includes cached tokens.
#[derive(Debug, Deserialize)]
struct WireUsage {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    total_tokens: Option<u64>,
    prompt_tokens_details: Option<PromptDetails>,
    /// `DeepSeek`'s name for the cached tokens.
    prompt_cache_hit_tokens: Option<u64>,
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
            .or(self.prompt_cache_hit_tokens)
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
