//! Reading of a streamed reply in any dialect, event by event.

use serde_json::Value;

use crate::consultation::protocol::call::{Ask, Outcome};
use crate::domain::model::dialect::Dialect;

use super::partial_reply::PartialReply;
use crate::providers::dialects::{anthropic, gemini, ollama, openai, responses};
use crate::providers::wire::sse::Event;
use crate::providers::wire::{Account, End, Flow, On};

/// Builds a reply from a vendor's events.
#[derive(Debug)]
pub struct Decoder {
    dialect: Dialect,
    /// The context that the request asks for, in tokens. Only Ollama's requests do.
    context: Option<u64>,
    reply: PartialReply,
}

impl Decoder {
    pub fn new(dialect: Dialect, ask: &Ask, account: &Account, body: &Value) -> Self {
        Self {
            dialect,
            context: body.pointer("/options/num_ctx").and_then(Value::as_u64),
            reply: PartialReply::new(ask, account),
        }
    }

    /// Returns `Break` if later events cannot matter.
    pub fn event(&mut self, event: &Event, on: On<'_>) -> Flow {
        let reply = &mut self.reply;
        if matches!(self.dialect, Dialect::OpenAi(_)) && event.data.trim() == "[DONE]" {
            return Flow::Break(());
        }
        let json = reply.json(&event.data)?;
        match self.dialect {
            Dialect::Anthropic => anthropic::read(&event.name, &json, reply, on),
            Dialect::OpenAi(quirks) => openai::read(&event.name, &json, quirks, reply, on),
            Dialect::Responses => responses::read(&json, reply, on),
            Dialect::Gemini => gemini::read(&json, reply, on),
            Dialect::Ollama => ollama::read(&json, self.context, reply, on),
        }
    }

    pub fn finish(self, end: End) -> Outcome {
        self.reply.finish(end)
    }
}
