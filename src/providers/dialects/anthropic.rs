//! Anthropic's Messages API: the request, and the reading of its event stream. Pure.
//!
//! A long context is marked to be cached; without one, most prompts of a consultation are sent
//! once, and a write costs 1.25 times the input price. Thinking and effort are not set: every model
//! accepts a request without them.

use serde_json::{Value, json};

use crate::consultation::protocol::call::{Ask, StopReason};
use crate::domain::cost::tokens::Usage;
use crate::domain::model::dialect::Dialect;

use super::partial_reply::PartialReply;
use crate::providers::form::Form;
use crate::providers::form::Messages;
use crate::providers::form::Structure;
use crate::providers::form::content;
use crate::providers::wire::{Counts, Flow, On, schema, text, with, without_nulls};

pub(crate) fn body(ask: &Ask, form: &Form) -> Value {
    let Messages { system, user } = form.messages(ask);
    let content = content(user, form.cache_mark(ask, Dialect::Anthropic));
    // There is no JSON mode without a schema.
    let format = (form.structure == Structure::Schema).then(|| {
        let schema = with(json!({"type": "json_schema"}), "schema", schema(ask));
        with(json!({}), "format", schema)
    });
    let body = json!({
        "model": ask.model.model,
        "max_tokens": form.max_output_tokens(ask),
        "stream": true,
        "messages": [{"role": "user", "content": content}],
        "system": system,
    });
    without_nulls(with(body, "output_config", format.unwrap_or_default()))
}

pub(crate) fn read(name: &str, event: &Value, reply: &mut PartialReply, on: On<'_>) -> Flow {
    match event["type"].as_str().unwrap_or(name) {
        "message_start" => {
            let message = &event["message"];
            reply.served_model = message["model"].as_str().map(ToOwned::to_owned);
            reply.usage = merged(&Counts::of(&message["usage"]), None);
        }
        "content_block_start" => {
            let block = &event["content_block"];
            match block["type"].as_str() {
                Some("thinking" | "redacted_thinking") => reply.add_thinking("", on),
                Some("text") => reply.add_text(text(&block["text"]), on),
                Some(_) | None => {}
            }
        }
        "content_block_delta" => {
            let delta = &event["delta"];
            match delta["type"].as_str() {
                Some("text_delta") => reply.add_text(text(&delta["text"]), on),
                Some("thinking_delta") => reply.add_thinking(text(&delta["thinking"]), on),
                Some(_) | None => {}
            }
        }
        "message_delta" => read_message_delta(event, reply),
        "message_stop" => {
            reply.complete = true;
            return Flow::Break(());
        }
        "error" => return reply.fail(event),
        // `ping`, `content_block_stop` and later additions.
        _ => {}
    }
    Flow::Continue(())
}

fn read_message_delta(event: &Value, reply: &mut PartialReply) {
    let delta = &event["delta"];
    if let Some(reason) = delta["stop_reason"].as_str() {
        let overflow = "the prompt and the answer together do not fit the model's context window";
        reply.overflow = (reason == "model_context_window_exceeded").then(|| overflow.to_owned());
        reply.stop = Some(match reason {
            "end_turn" | "stop_sequence" => StopReason::End,
            "max_tokens" => StopReason::Length,
            "refusal" => StopReason::Refused(refusal(&delta["stop_details"])),
            other => StopReason::Other(other.to_owned()),
        });
    }
    let counts = Counts::of(&event["usage"]);
    if let Some(usage) = merged(&counts, reply.usage) {
        reply.usage = Some(usage);
        reply.usage_is_final |= counts.at("/output_tokens").is_some();
    }
}

/// The explanation, else the category.
fn refusal(details: &Value) -> String {
    match text(&details["explanation"]) {
        "" => text(&details["category"]),
        explanation => explanation,
    }
    .to_owned()
}

/// Merges a report of usage into an earlier one: reports are cumulative, and a missing count keeps
/// its earlier value. The input excludes cached tokens, read or written; the output includes
/// thinking.
fn merged(counts: &Counts<'_>, earlier: Option<Usage>) -> Option<Usage> {
    let earlier = earlier.unwrap_or_default();
    let count = |at: &str, before| counts.at(at).unwrap_or(before);
    counts.valid(Usage {
        input: count("/input_tokens", earlier.input),
        cache_read: count("/cache_read_input_tokens", earlier.cache_read),
        cache_write: count("/cache_creation_input_tokens", earlier.cache_write),
        output: count("/output_tokens", earlier.output),
        reasoning: count("/output_tokens_details/thinking_tokens", earlier.reasoning),
        source: earlier.source,
    })
}
