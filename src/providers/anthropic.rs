//! Anthropic's Messages API: the request, and the reading of its event stream. Pure.
//!
//! Prompt caching is not requested: a write costs 1.25 times the input price, and most prompts of a
//! consultation are sent once. Thinking and effort are not set either: every model accepts a
//! request without them.

use std::ops::ControlFlow;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::consultation::protocol::call::{Ask, Outcome, StopReason};
use crate::domain::tokens::Usage;
use crate::engine::ports::Delta;

use super::form::{Form, Structure};
use super::partial_reply::PartialReply;
use super::sse::{Event, Framing};
use super::wire::{Account, Decoder, End, Endpoint, HeaderText, HttpRequest, address};

/// The API version of this codec. It refuses sampling parameters, which are not sent by default.
pub const API_VERSION: &str = "2026-10-21";

/// Returns the request for one call.
pub fn encode(ask: &Ask, endpoint: &Endpoint, form: &Form) -> HttpRequest {
    let (system, user) = form.messages(ask);
    let mut body = json!({
        "model": ask.model.model,
        "max_tokens": form.max_output_tokens(ask),
        "stream": true,
        "messages": [{"role": "user", "content": user}],
    });
    if let Some(fields) = body.as_object_mut() {
        fields.extend(system.map(|system| ("system".to_owned(), system.into())));
        match form.structure {
            Structure::Schema => {
                let format = json!({"type": "json_schema", "schema": super::wire::schema(ask)});
                fields.insert("output_config".into(), json!({"format": format}));
            }
            // There is no JSON mode without a schema.
            Structure::JsonObject | Structure::Prompt => {}
        }
    }
    let mut headers = vec![("anthropic-version", HeaderText::Plain(API_VERSION))];
    headers.extend(endpoint.account.header("x-api-key"));
    HttpRequest {
        url: address(&endpoint.base_url, "/v1/messages"),
        headers,
        body,
        framing: Framing::Events,
    }
}

/// Reads the stream of one reply.
#[derive(Debug)]
pub struct AnthropicDecoder {
    partial: PartialReply,
}

impl AnthropicDecoder {
    pub fn new(ask: &Ask, account: &Account) -> Self {
        Self {
            partial: PartialReply::new(ask, account),
        }
    }

    fn message_delta(&mut self, event: &Value) {
        let delta = event.get("delta");
        if let Some(reason) = delta
            .and_then(|delta| delta.get("stop_reason"))
            .and_then(Value::as_str)
        {
            let overflow =
                "the prompt and the answer together do not fit the model's context window";
            self.partial.overflow =
                (reason == "model_context_window_exceeded").then(|| overflow.to_owned());
            self.partial.stop = Some(match reason {
                "end_turn" | "stop_sequence" => StopReason::End,
                "max_tokens" => StopReason::Length,
                "refusal" => {
                    StopReason::Refused(refusal(delta.and_then(|delta| delta.get("stop_details"))))
                }
                other => StopReason::Other(other.to_owned()),
            });
        }
        if let Some(reported) = event
            .get("usage")
            .and_then(|usage| WireUsage::deserialize(usage).ok())
        {
            self.partial.usage = Some(reported.after(self.partial.usage));
            self.partial.usage_is_final |= reported.output_tokens.is_some();
        }
    }
}

impl Decoder for AnthropicDecoder {
    fn event(&mut self, event: &Event, on: &mut dyn FnMut(Delta)) -> ControlFlow<()> {
        let json = self.partial.json(&event.data)?;
        match json
            .get("type")
            .and_then(Value::as_str)
            .unwrap_or(&event.name)
        {
            "message_start" => {
                let message = json.get("message");
                self.partial.served_model = message
                    .and_then(|m| m.get("model"))
                    .and_then(Value::as_str)
                    .map(ToOwned::to_owned);
                let reported = message
                    .and_then(|m| m.get("usage"))
                    .and_then(|usage| WireUsage::deserialize(usage).ok());
                self.partial.usage = reported.map(|reported| reported.after(None));
            }
            "content_block_start" => {
                let block = json.get("content_block");
                match block
                    .and_then(|block| block.get("type"))
                    .and_then(Value::as_str)
                {
                    Some("thinking" | "redacted_thinking") => self.partial.add_thinking("", on),
                    Some("text") => self.partial.add_text(text_at(block, "text"), on),
                    Some(_) | None => {}
                }
            }
            "content_block_delta" => {
                let delta = json.get("delta");
                match delta
                    .and_then(|delta| delta.get("type"))
                    .and_then(Value::as_str)
                {
                    Some("text_delta") => self.partial.add_text(text_at(delta, "text"), on),
                    Some("thinking_delta") => {
                        self.partial.add_thinking(text_at(delta, "thinking"), on);
                    }
                    Some(_) | None => {}
                }
            }
            "message_delta" => self.message_delta(&json),
            "message_stop" => {
                self.partial.complete = true;
                return ControlFlow::Break(());
            }
            "error" => return self.partial.fail(&json),
            // `ping`, `content_block_stop` and later additions.
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn finish(self: Box<Self>, end: End) -> Outcome {
        self.partial.finish(end)
    }
}

fn text_at<'a>(value: Option<&'a Value>, key: &str) -> &'a str {
    value
        .and_then(|value| value.get(key))
        .and_then(Value::as_str)
        .unwrap_or_default()
}

/// Returns the model's reason for a refusal: its explanation, else the category.
fn refusal(details: Option<&Value>) -> String {
    let words = ["explanation", "category"]
        .iter()
        .map(|key| text_at(details, key))
        .find(|text| !text.is_empty());
    words.unwrap_or_default().to_owned()
}

/// Usage on the wire. The input excludes cached tokens, read or written; the output includes
/// thinking.
#[derive(Debug, Deserialize)]
struct WireUsage {
    input_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    output_tokens_details: Option<OutputDetails>,
}

#[derive(Debug, Deserialize)]
struct OutputDetails {
    thinking_tokens: Option<u64>,
}

impl WireUsage {
    /// Merges this report into an earlier one: reports are cumulative, and a missing count keeps
    /// its earlier value.
    fn after(&self, earlier: Option<Usage>) -> Usage {
        let earlier = earlier.unwrap_or_default();
        let thinking = self
            .output_tokens_details
            .as_ref()
            .and_then(|details| details.thinking_tokens);
        Usage {
            input: self.input_tokens.unwrap_or(earlier.input),
            cache_read: self.cache_read_input_tokens.unwrap_or(earlier.cache_read),
            cache_write: self
                .cache_creation_input_tokens
                .unwrap_or(earlier.cache_write),
            output: self.output_tokens.unwrap_or(earlier.output),
            reasoning: thinking.unwrap_or(earlier.reasoning),
            source: earlier.source,
        }
    }
}
