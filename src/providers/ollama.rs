//! Ollama's own chat format: the request, and the reading of its JSON lines. Pure.
//!
//! Its OpenAI-compatible endpoint is not used: it cannot set the context size, and Ollama silently
//! truncates a prompt that does not fit. Thinking is switched off: it would precede the schema and
//! could use up the output limit.

use std::ops::ControlFlow;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::consultation::protocol::call::{Ask, Outcome, StopReason};
use crate::domain::tokens::Usage;
use crate::engine::ports::Delta;

use super::form::{Form, MIN_OUTPUT_TOKENS, Structure, prompt_tokens};
use super::partial_reply::PartialReply;
use super::sse::{Event, Framing};
use super::wire::{Account, Decoder, End, Endpoint, HttpRequest, address};

/// The smallest context of a request, in tokens.
const LEAST_CONTEXT: u64 = 8_192;
/// A generous bound on the tokens that a chat template adds to a prompt.
const TEMPLATE_TOKENS: u64 = 256;
/// The prompt size in tokens below which no server truncates.
const SURELY_FITS: u64 = 2_048;

/// Returns the request for one call.
pub fn encode(ask: &Ask, endpoint: &Endpoint, form: &Form) -> HttpRequest {
    let (system, user) = form.messages(ask);
    let system = system.map(|system| json!({"role": "system", "content": system}));
    let messages: Vec<Value> = system
        .into_iter()
        .chain([json!({"role": "user", "content": user})])
        .collect();
    let (context, max_output_tokens) = sizes(ask, form);
    let mut body = json!({
        "model": ask.model.model,
        "stream": true,
        "think": false,
        "messages": messages,
        "options": {"num_ctx": context, "num_predict": max_output_tokens},
    });
    let format = match form.structure {
        Structure::Schema => Some(super::wire::schema(ask)),
        Structure::JsonObject => Some(json!("json")),
        Structure::Prompt => None,
    };
    if let (Some(format), Some(fields)) = (format, body.as_object_mut()) {
        fields.insert("format".into(), format);
    }
    let headers = endpoint.account.bearer().into_iter().collect();
    HttpRequest {
        url: address(&endpoint.base_url, "/api/chat"),
        headers,
        body,
        framing: Framing::Lines,
    }
}

/// Returns the context size and the output limit within it.
///
/// The context is a power of two, because Ollama reloads a model whenever the size changes, and at
/// most the model's own. Our count of the prompt is an estimate, so a quarter is added.
fn sizes(ask: &Ask, form: &Form) -> (u64, u64) {
    let prompt = prompt_tokens(ask)
        .saturating_add(prompt_tokens(ask) / 4)
        .saturating_add(TEMPLATE_TOKENS);
    let needed = prompt
        .saturating_add(form.max_output_tokens(ask))
        .max(LEAST_CONTEXT);
    let context = needed
        .checked_next_power_of_two()
        .unwrap_or(needed)
        .min(form.context.unwrap_or(u64::MAX));
    (
        context,
        form.max_output_tokens(ask)
            .min(context.saturating_sub(prompt).max(MIN_OUTPUT_TOKENS)),
    )
}

/// Reads the stream of one reply.
#[derive(Debug)]
pub struct OllamaDecoder {
    partial: PartialReply,
    /// The requested context, in tokens.
    context: Option<u64>,
}

impl OllamaDecoder {
    /// Creates a decoder for the answer to this body.
    pub fn new(ask: &Ask, account: &Account, body: &Value) -> Self {
        Self {
            partial: PartialReply::new(ask, account),
            context: body.pointer("/options/num_ctx").and_then(Value::as_u64),
        }
    }

    fn done(&mut self, line: &Line) {
        self.partial.complete = true;
        self.partial.stop = Some(match line.done_reason.as_deref() {
            // Older servers give no reason.
            Some("stop") | None => StopReason::End,
            Some("length") => StopReason::Length,
            Some(other) => StopReason::Other(other.to_owned()),
        });
        // An invalid count is ignored; it does not invalidate the answer.
        let count = |value: &Option<Value>| value.as_ref().and_then(Value::as_u64);
        let (read, written) = (count(&line.prompt_eval_count), count(&line.eval_count));
        if read.is_some() || written.is_some() {
            self.partial.usage = Some(Usage {
                input: read.unwrap_or(0),
                output: written.unwrap_or(0),
                ..Usage::default()
            });
            self.partial.usage_is_final = read.is_some() && written.is_some();
        }
        self.partial.overflow = read.filter(|read| self.was_cut(*read)).map(|read| {
            let sent = self.partial.prompt_tokens;
            format!(
                "Ollama read only {read} tokens of a prompt of about {sent}: the model's context \
                 is too small for it"
            )
        });
    }

    /// Returns whether the prompt was truncated: Ollama does not report it, but its count of tokens
    /// shows it.
    fn was_cut(&self, read: u64) -> bool {
        let filled = self.partial.stop == Some(StopReason::Length)
            && self
                .context
                .is_some_and(|context| read.saturating_add(1) >= context);
        let sent = self.partial.prompt_tokens;
        // Our count is off by less than half for a long prompt.
        let far_below = read > 0 && sent > SURELY_FITS && read < sent / 2;
        filled || far_below
    }
}

impl Decoder for OllamaDecoder {
    fn event(&mut self, event: &Event, on: &mut dyn FnMut(Delta)) -> ControlFlow<()> {
        let json = self.partial.json(&event.data)?;
        if json.get("error").is_some_and(|error| !error.is_null()) {
            return self.partial.fail(&json);
        }
        let Ok(line) = Line::deserialize(&json) else {
            return self
                .partial
                .malformed("a line of the stream does not have the form of a chat's reply");
        };
        if let Some(model) = line.model.clone().filter(|model| !model.is_empty()) {
            self.partial.served_model = Some(model);
        }
        if let Some(message) = &line.message {
            if let Some(thinking) = message
                .thinking
                .as_deref()
                .filter(|thinking| !thinking.is_empty())
            {
                self.partial.add_thinking(thinking, on);
            }
            self.partial
                .add_text(message.content.as_deref().unwrap_or_default(), on);
        }
        if line.done == Some(true) {
            self.done(&line);
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    fn finish(self: Box<Self>, end: End) -> Outcome {
        self.partial.finish(end)
    }
}

#[derive(Debug, Deserialize)]
struct Line {
    model: Option<String>,
    message: Option<Message>,
    done: Option<bool>,
    done_reason: Option<String>,
    prompt_eval_count: Option<Value>,
    eval_count: Option<Value>,
}

#[derive(Debug, Deserialize)]
struct Message {
    content: Option<String>,
    thinking: Option<String>,
}
