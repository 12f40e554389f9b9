//! OpenAI's Chat Completions, as spoken by OpenAI and all compatible servers: the request, and the
//! reading of its stream of chunks. Pure.
//!
//! The request differs by the server's [`Quirks`]. The decoder accepts the variants of all servers,
//! except where the same field means different things.

use serde_json::{Value, json};

use crate::consultation::protocol::call::{Ask, StopReason};
use crate::domain::cost::tokens::Usage;

use super::partial_reply::PartialReply;
use crate::domain::model::dialect::{
    CacheKeyPlace, Dialect, Quirks, Reasoning, Routing, StreamUsage,
};
use crate::providers::dialects::reported_cost;
use crate::providers::errors;
use crate::providers::form::CacheMark;
use crate::providers::form::Form;
use crate::providers::form::Structure;
use crate::providers::wire::{Counts, Flow, On, schema, text, with, without_nulls};

pub(crate) fn body(ask: &Ask, form: &Form, quirks: Quirks) -> Value {
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

pub(crate) fn read(
    name: &str,
    json: &Value,
    quirks: Quirks,
    reply: &mut PartialReply,
    on: On<'_>,
) -> Flow {
    if name == "error" || errors::is_error(json) {
        return reply.fail(json);
    }
    if !json.is_object() {
        return reply
            .malformed("a chunk of the stream does not have the form of a chat completion");
    }
    if let Some(model) = json["model"].as_str().filter(|model| !model.is_empty()) {
        reply.served_model = Some(model.to_owned());
    }
    let reported = &json["usage"];
    let cost = reported_cost::read(reported, quirks.reported_cost);
    reply.reported_cost = cost.or(reply.reported_cost);
    let usage = usage(reported, quirks.reasoning);
    reply.usage = usage.or(reply.usage);
    reply.usage_is_final |= usage.is_some();
    match json.pointer("/choices/0") {
        Some(choice) => read_choice(choice, reply, on),
        None => Flow::Continue(()),
    }
}

fn read_choice(choice: &Value, reply: &mut PartialReply, on: On<'_>) -> Flow {
    if !choice["error"].is_null() {
        return reply.fail(&json!({"error": choice["error"]}));
    }
    // Some servers send a whole message in place of deltas.
    let delta = first(&choice["delta"], &choice["message"]);
    // Servers that send both names send the same under both.
    let thinking = first(&delta["reasoning_content"], &delta["reasoning"]);
    add_thinking(thinking, reply, on);
    add_content(&delta["content"], reply, on);
    reply.refusal.push_str(text(&delta["refusal"]));
    let stop = match text(&choice["finish_reason"]) {
        "" => return Flow::Continue(()),
        "error" => {
            return reply.fail(&json!({"error": "the provider ended the answer with an error"}));
        }
        "stop" => StopReason::End,
        // The output limit was reached, or the context is full.
        "length" | "model_length" => StopReason::Length,
        reason @ "content_filter" => StopReason::Refused(reason.to_owned()),
        reason => StopReason::Other(reason.to_owned()),
    };
    // The answer is complete; usage and `[DONE]` may follow, and some servers send neither.
    reply.complete = true;
    reply.stop = Some(stop);
    Flow::Continue(())
}

/// Returns the first of two names of a field that has a value.
fn first<'a>(one: &'a Value, other: &'a Value) -> &'a Value {
    if one.is_null() { other } else { one }
}

/// A text, a list of chunks of which some are thinking, or nothing.
fn add_content(content: &Value, reply: &mut PartialReply, on: On<'_>) {
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

/// A text, or a list of chunks of text.
fn add_thinking(thinking: &Value, reply: &mut PartialReply, on: On<'_>) {
    if let Some(text) = thinking.as_str().filter(|text| !text.is_empty()) {
        reply.add_thinking(text, on);
    }
    for chunk in thinking.as_array().into_iter().flatten() {
        add_thinking(&chunk["text"], reply, on);
    }
}

/// `None` unless both counts needed for a cost are present.
fn usage(report: &Value, convention: Reasoning) -> Option<Usage> {
    let counts = Counts::of(report);
    let count = |at: &str| counts.at(at);
    let (prompt, completion) = (count("/prompt_tokens")?, count("/completion_tokens")?);
    let reasoning = count("/completion_tokens_details/reasoning_tokens").unwrap_or(0);
    // Most servers count reasoning as part of the completion, some in addition; the total shows
    // which.
    let (within, on_top) = (
        prompt.saturating_add(completion),
        completion.saturating_add(reasoning),
    );
    let convention = match count("/total_tokens") {
        Some(total) if total == within => Reasoning::Within,
        Some(total) if total == within.saturating_add(reasoning) => Reasoning::OnTop,
        // A part cannot exceed the whole.
        _ if reasoning > completion => Reasoning::OnTop,
        Some(_) | None => convention,
    };
    // The second is `DeepSeek`'s name for the cached tokens.
    let cache_read = count("/prompt_tokens_details/cached_tokens")
        .or_else(|| count("/prompt_cache_hit_tokens"))
        .unwrap_or(0);
    let cache_write = count("/prompt_tokens_details/cache_write_tokens").unwrap_or(0);
    counts.valid(Usage {
        output: match convention {
            Reasoning::Within => completion,
            Reasoning::OnTop => on_top,
        },
        reasoning,
        ..Usage::of_prompt(prompt, cache_read, cache_write)
    })
}
