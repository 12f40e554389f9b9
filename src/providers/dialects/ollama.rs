//! Ollama's own chat format: the request, and the reading of its JSON lines. Pure.
//!
//! Its OpenAI-compatible endpoint is not used: it cannot set the context size, and Ollama silently
//! truncates a prompt that does not fit. Thinking is switched off: it would precede the schema and
//! could use up the output limit.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::consultation::protocol::call::{Ask, StopReason};
use crate::domain::cost::tokens::Usage;

use super::partial_reply::PartialReply;
use crate::providers::form::Form;
use crate::providers::form::MIN_OUTPUT_TOKENS;
use crate::providers::form::Structure;
use crate::providers::form::prompt_tokens;
use crate::providers::wire::{Flow, On, schema, without_nulls};

/// The smallest context of a request, in tokens.
const MIN_CONTEXT: u64 = 8_192;
/// A generous bound on the tokens that a chat template adds to a prompt.
const TEMPLATE_TOKENS: u64 = 256;
/// The prompt size in tokens below which no server truncates.
const SURELY_FITS: u64 = 2_048;

pub fn body(ask: &Ask, form: &Form) -> Value {
    let (context, max_output_tokens) = sizes(ask, form);
    let format = match form.structure {
        Structure::Schema => schema(ask),
        Structure::JsonObject => json!("json"),
        Structure::Prompt => Value::Null,
    };
    without_nulls(json!({
        "model": ask.model.model,
        "stream": true,
        "think": false,
        "messages": form.chat_messages(ask, None),
        "options": {"num_ctx": context, "num_predict": max_output_tokens},
        "format": format,
    }))
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
        .max(MIN_CONTEXT);
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

/// `context` is the requested context in tokens.
pub(crate) fn read(
    json: &Value,
    context: Option<u64>,
    reply: &mut PartialReply,
    on: On<'_>,
) -> Flow {
    if !json["error"].is_null() {
        return reply.fail(json);
    }
    let Ok(line) = Line::deserialize(json) else {
        return reply.malformed("a line of the stream does not have the form of a chat's reply");
    };
    let model = line.model.clone().filter(|model| !model.is_empty());
    reply.served_model = model.or(reply.served_model.take());
    if let Some(message) = &line.message {
        let thinking = message.thinking.as_deref().unwrap_or_default();
        if !thinking.is_empty() {
            reply.add_thinking(thinking, on);
        }
        reply.add_text(message.content.as_deref().unwrap_or_default(), on);
    }
    if line.done == Some(true) {
        read_end(&line, context, reply);
        return Flow::Break(());
    }
    Flow::Continue(())
}

fn read_end(line: &Line, context: Option<u64>, reply: &mut PartialReply) {
    reply.complete = true;
    reply.stop = Some(match line.done_reason.as_deref() {
        // Older servers give no reason.
        Some("stop") | None => StopReason::End,
        Some("length") => StopReason::Length,
        Some(other) => StopReason::Other(other.to_owned()),
    });
    // An invalid count is ignored; it does not invalidate the answer.
    let (read, written) = (line.prompt_eval_count.as_u64(), line.eval_count.as_u64());
    if read.is_some() || written.is_some() {
        reply.usage = Some(Usage {
            input: read.unwrap_or(0),
            output: written.unwrap_or(0),
            ..Usage::default()
        });
        reply.usage_is_final = read.is_some() && written.is_some();
    }
    let cut = read.filter(|read| was_cut(*read, context, reply));
    reply.overflow = cut.map(|read| {
        let sent = reply.prompt_tokens;
        format!(
            "Ollama read only {read} tokens of a prompt of about {sent}: the model's context is \
             too small for it"
        )
    });
}

/// Ollama does not report it, but its count of tokens shows it.
fn was_cut(read: u64, context: Option<u64>, reply: &PartialReply) -> bool {
    let filled = reply.stop == Some(StopReason::Length)
        && context.is_some_and(|context| read.saturating_add(1) >= context);
    let sent = reply.prompt_tokens;
    // Our count is off by less than half for a long prompt.
    let far_below = read > 0 && sent > SURELY_FITS && read < sent / 2;
    filled || far_below
}

#[derive(Debug, Deserialize)]
struct Line {
    model: Option<String>,
    message: Option<Message>,
    done: Option<bool>,
    done_reason: Option<String>,
    #[serde(default)]
    prompt_eval_count: Value,
    #[serde(default)]
    eval_count: Value,
}

#[derive(Debug, Deserialize)]
struct Message {
    content: Option<String>,
    thinking: Option<String>,
}
