//! OpenAI's Responses: the request, and the reading of its stream of events. Pure.
//!
//! A call that a ChatGPT plan pays for is the same request without the fields that the plan
//! refuses, which its first [`Form`] leaves out.

use serde_json::{Value, json};

use crate::consultation::protocol::call::{Ask, StopReason};
use crate::domain::cost::tokens::Usage;

use super::partial_reply::PartialReply;
use crate::providers::errors;
use crate::providers::form::{Form, Messages, Structure};
use crate::providers::wire::{Counts, Flow, On, schema, text, with, without_nulls};

pub(crate) fn body(ask: &Ask, form: &Form) -> Value {
    let Messages { system, user } = form.messages(ask);
    let format = (form.structure == Structure::Schema).then(|| {
        let named = json!({"type": "json_schema", "name": ask.answer.name(), "strict": true});
        with(json!({}), "format", with(named, "schema", schema(ask)))
    });
    without_nulls(json!({
        "model": ask.model.model,
        "stream": true,
        "store": false,
        "instructions": system,
        "input": [{"role": "user", "content": user.concat()}],
        "text": format,
        "max_output_tokens": form.max_output_tokens(ask),
    }))
}

pub(crate) fn read(json: &Value, reply: &mut PartialReply, on: On<'_>) -> Flow {
    let response = &json["response"];
    if let Some(model) = response["model"].as_str().filter(|model| !model.is_empty()) {
        reply.served_model = Some(model.to_owned());
    }
    let usage = usage(&response["usage"]);
    reply.usage = usage.or(reply.usage);
    reply.usage_is_final |= usage.is_some();
    let (item, delta) = (&json["item"], text(&json["delta"]));
    let stop = match text(&json["type"]) {
        "response.completed" => StopReason::End,
        "response.incomplete" => match text(
            response
                .pointer("/incomplete_details/reason")
                .unwrap_or(&Value::Null),
        ) {
            "max_output_tokens" => StopReason::Length,
            reason @ "content_filter" => StopReason::Refused(reason.to_owned()),
            reason => StopReason::Other(reason.to_owned()),
        },
        "response.failed" => return reply.fail(&json!({"error": response["error"]})),
        "error" => return reply.fail(json),
        "" if errors::is_error(json) => return reply.fail(json),
        "" => return reply.malformed("an event of the stream has no type"),
        event => {
            match event {
                "response.output_item.added" if item["type"] == "reasoning" => {
                    reply.add_thinking("", on);
                }
                // A message may be said on the way to the answer.
                "response.output_item.added" => reply.is_aside = item["phase"] == "commentary",
                "response.output_text.delta" if !reply.is_aside => reply.add_text(delta, on),
                "response.output_text.delta"
                | "response.reasoning_text.delta"
                | "response.reasoning_summary_text.delta" => reply.add_thinking(delta, on),
                "response.refusal.delta" => reply.refusal.push_str(delta),
                _ => {}
            }
            return Flow::Continue(());
        }
    };
    reply.complete = true;
    reply.stop = Some(stop);
    Flow::Break(())
}

/// `None` unless both counts needed for a cost are present. Reasoning is part of the output.
fn usage(report: &Value) -> Option<Usage> {
    let counts = Counts::of(report);
    let (input, output) = (counts.at("/input_tokens")?, counts.at("/output_tokens")?);
    let cached = counts.at("/input_tokens_details/cached_tokens");
    let reasoning = counts.at("/output_tokens_details/reasoning_tokens");
    counts.valid(Usage {
        output,
        reasoning: reasoning.unwrap_or(0).min(output),
        ..Usage::of_prompt(input, cached.unwrap_or(0), 0)
    })
}
