//! OpenAI's Chat Completions: what goes out and how its stream of chunks is read. Pure.
//!
//! Many servers speak this shape; what this codec sends is for OpenAI itself, what it reads is as tolerant as all of them need.

use std::ops::ControlFlow;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::consultation::call::{Ask, Outcome, StopReason};
use crate::domain::tokens::Usage;
use crate::engine::ports::Delta;

use super::dialect::TokensField;
use super::form::{Form, Structure};
use super::gathering::Gathering;
use super::sse::Event;
use super::wire::{Account, Decoder, End, Endpoint, HttpRequest};

/// The request for one call.
pub fn encode(ask: &Ask, endpoint: &Endpoint, form: &Form) -> HttpRequest {
    let mut body = json!({
        "model": ask.model.model,
        "stream": true,
        "stream_options": {"include_usage": true},
        "messages": [
            {"role": "system", "content": ask.prompt.system()},
            {"role": "user", "content": ask.prompt.user()},
        ],
    });
    let tokens_field = match form.tokens_field {
        TokensField::MaxTokens => "max_tokens",
        TokensField::MaxCompletionTokens => "max_completion_tokens",
    };
    if let Some(fields) = body.as_object_mut() {
        fields.insert(tokens_field.into(), ask.room.into());
    }
    if let (Structure::Schema, Some(fields)) = (form.structure, body.as_object_mut()) {
        let schema = json!({"name": ask.answer.name(), "strict": true, "schema": super::wire::schema(ask)});
        fields.insert("response_format".into(), json!({"type": "json_schema", "json_schema": schema}));
    }
    HttpRequest { url: format!("{}/chat/completions", endpoint.base_url), headers: endpoint.account.bearer().into_iter().collect(), body }
}

/// Reads the stream of one reply.
#[derive(Debug)]
pub struct OpenAiDecoder {
    gathering: Gathering,
    refusal: String,
}

impl OpenAiDecoder {
    pub fn new(ask: &Ask, account: &Account) -> Self {
        Self { gathering: Gathering::new(ask, account), refusal: String::new() }
    }

    fn choice(&mut self, choice: Choice, on: &mut dyn FnMut(Delta)) {
        if let Some(delta) = choice.delta {
            if delta.reasoning_content.or(delta.reasoning).is_some_and(|text| !text.is_empty()) {
                self.gathering.add_thinking("", on);
            }
            self.gathering.add_text(&delta.content.unwrap_or_default(), on);
            self.refusal.push_str(&delta.refusal.unwrap_or_default());
        }
        if let Some(reason) = choice.finish_reason.filter(|reason| !reason.is_empty()) {
            // Everything of the answer has been said; usage and `[DONE]` may follow, and some servers send neither.
            self.gathering.complete = true;
            self.gathering.stop = Some(match reason.as_str() {
                "stop" => StopReason::End,
                "length" => StopReason::Length,
                "content_filter" => StopReason::Refused("content_filter".to_owned()),
                _ => StopReason::Other(reason),
            });
        }
    }
}

impl Decoder for OpenAiDecoder {
    fn event(&mut self, event: &Event, on: &mut dyn FnMut(Delta)) -> ControlFlow<()> {
        if event.data.trim() == "[DONE]" {
            return ControlFlow::Break(());
        }
        let json = self.gathering.json(&event.data)?;
        if event.name == "error" || json.get("error").is_some_and(|error| !error.is_null()) {
            return self.gathering.fail(&json);
        }
        let Ok(chunk) = Chunk::deserialize(&json) else {
            return self.gathering.malformed("a chunk of the stream does not have the form of a chat completion");
        };
        if let Some(model) = chunk.model.filter(|model| !model.is_empty()) {
            self.gathering.served_model = Some(model);
        }
        if let Some(choice) = chunk.choices.into_iter().flatten().next() {
            self.choice(choice, on);
        }
        if let Some(usage) = chunk.usage.and_then(|usage| WireUsage::deserialize(usage).ok()?.normalised()) {
            self.gathering.usage = Some(usage);
            self.gathering.usage_is_final = true;
        }
        ControlFlow::Continue(())
    }

    fn finish(mut self: Box<Self>, end: End) -> Outcome {
        if !self.refusal.is_empty() && self.gathering.stop.is_some() {
            self.gathering.stop = Some(StopReason::Refused(self.refusal));
        }
        self.gathering.finish(end)
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
    finish_reason: Option<String>,
}

#[derive(Debug, Deserialize)]
struct WireDelta {
    content: Option<String>,
    refusal: Option<String>,
    reasoning_content: Option<String>,
    reasoning: Option<String>,
}

/// Usage on the wire. The prompt includes what was cached.
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
    /// `None` when the two counts that a bill needs are not both there.
    fn normalised(&self) -> Option<Usage> {
        let (prompt, completion) = (self.prompt_tokens?, self.completion_tokens?);
        let reasoning = self.completion_tokens_details.as_ref().and_then(|details| details.reasoning_tokens).unwrap_or(0);
        // Most count reasoning as part of the completion, some on top of it: the total tells which.
        let on_top = reasoning > 0 && self.total_tokens == Some(prompt.saturating_add(completion).saturating_add(reasoning));
        let output = if on_top { completion.saturating_add(reasoning) } else { completion };
        let details = self.prompt_tokens_details.as_ref();
        let cache_read = details.and_then(|details| details.cached_tokens).unwrap_or(0).min(prompt);
        let cache_write = details.and_then(|details| details.cache_write_tokens).unwrap_or(0).min(prompt - cache_read);
        Some(Usage { input: prompt - cache_read - cache_write, cache_read, cache_write, output, reasoning, ..Usage::default() })
    }
}
