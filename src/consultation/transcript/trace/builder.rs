//! Makes the spans, event by event.

use serde_json::{Value, json};

use super::{Span, Texts, Trace};
use crate::consultation::event::{
    AgentEvent, CallEvent, CallFinished, CallStarted, CancelReason, ConsultationEvent, Envelope,
    Event, Purpose, StateName,
};
use crate::consultation::protocol::call::{Prompt, StopReason};
use crate::consultation::transcript::Transcript;
use crate::domain::context::ContextText;
use crate::domain::cost::money::Cost;
use crate::domain::cost::pricing::CostSource;
use crate::domain::cost::tokens::UsageSource;
use crate::domain::hash::sha256;
use crate::domain::ids::{AgentId, CallId};
use crate::domain::names::stored_name;
use crate::domain::time::Timestamp;

/// The process ended before the operation did.
const LOST: &str = "lost";

struct Builder<'a> {
    transcript: &'a Transcript,
    texts: Option<&'a Texts<'a>>,
    spans: Vec<Span>,
    /// The ids of calls without an end.
    open: Vec<u64>,
    last_at: Timestamp,
}

impl Trace {
    /// With more attributes of the consultation; `None` if the first event is not its start.
    pub fn of(events: &[Envelope], labels: Value, texts: Option<&Texts<'_>>) -> Option<Self> {
        let transcript = &Transcript::fold(events)?;
        let plan = transcript.terms.plan.as_ref();
        let parent = plan.and_then(|plan| plan.trace_parent);
        let mut root = consultation(transcript, texts);
        root.parent = parent.map(|parent| parent.span);
        root.add(labels);
        let (open, last_at, spans) = (Vec::new(), transcript.started_at, vec![root]);
        let mut builder = Builder {
            transcript,
            texts,
            spans,
            open,
            last_at,
        };
        for envelope in events {
            builder.take(&envelope.event, envelope.at);
            builder.last_at = envelope.at;
        }
        builder.lose_open();
        let mut spans = builder.spans;
        // The clock can have been set back between two events.
        for child in spans.clone().iter().rev() {
            if let Some(parent) = spans.iter_mut().find(|it| Some(it.id) == child.parent) {
                parent.start = parent.start.min(child.start);
                parent.end = parent.end.max(child.end);
            }
        }
        for span in &mut spans {
            let error = span.error.clone();
            span.add(json!({"gen_ai.conversation.id": transcript.id, "error.type": error}));
        }
        let own = hashed(transcript.id.as_str());
        Some(Self {
            id: parent.map_or(own, |parent| parent.trace),
            spans,
            is_sampled: parent.is_none_or(|parent| parent.is_sampled),
        })
    }
}

impl Span {
    fn new(id: u64, parent: Option<u64>, name: String, start: Timestamp) -> Self {
        Self {
            id,
            parent,
            name,
            start,
            end: start,
            ..Self::default()
        }
    }

    /// What is null is not there.
    fn add(&mut self, attributes: Value) {
        if let Value::Object(attributes) = attributes {
            let present = attributes.into_iter().filter(|(_, value)| !value.is_null());
            self.attributes.extend(present);
        }
    }
}

impl Builder<'_> {
    fn take(&mut self, event: &Event, at: Timestamp) {
        match event {
            Event::Consultation(ConsultationEvent::Resumed(_)) => self.lose_open(),
            Event::Agent(AgentEvent::Thinking {
                agent_id,
                round_number,
                ..
            }) => {
                self.agent(agent_id, *round_number, at);
            }
            Event::Agent(AgentEvent::Failed(failure)) => {
                let id = self.agent(&failure.agent_id, failure.round_number, at);
                let class = failure.error.class.as_ref();
                let error = class.map_or("refused".to_owned(), stored_name);
                self.end(id, at, Some(error), Value::Null);
            }
            Event::Call(CallEvent::Started(started)) => self.call_started(started, at),
            Event::Call(CallEvent::Cancelled { call, reason }) => {
                let name = stored_name(reason);
                let attributes = json!({"conclave.cancelled": name});
                // The slower of two calls has not failed.
                let error = (*reason != CancelReason::HedgeLost).then_some(name);
                self.end(self.call_id(*call), at, error, attributes);
            }
            Event::Call(CallEvent::Finished(call)) => {
                let (id, attributes) = (self.call_id(call.call), finished(call, self.texts));
                let error = call.error.as_ref().map(|error| stored_name(&error.class));
                self.end(id, at, error, attributes);
            }
            _ => {}
        }
    }

    fn call_id(&self, call: CallId) -> u64 {
        span_id(&format!("{}/call/{}", self.transcript.id, call.0))
    }

    /// Begins an agent's work in a round, or continues it. It ends with its last call, or fails.
    fn agent(&mut self, agent: &AgentId, round: u8, at: Timestamp) -> u64 {
        let id = span_id(&format!("{}/agent/{agent}/{round}", self.transcript.id));
        let name = self.transcript.terms.panel.agent_name(agent);
        if let Some(span) = self.spans.iter_mut().find(|span| span.id == id) {
            span.error = None;
        } else {
            let root = self.spans.first().map(|root| root.id);
            let mut span = Span::new(id, root, format!("invoke_agent {name}"), at);
            span.add(json!({
                "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name,
                "conclave.agent.id": agent, "conclave.round": round,
            }));
            self.spans.push(span);
        }
        id
    }

    fn call_started(&mut self, call: &CallStarted, at: Timestamp) {
        let parent = Some(self.agent(&call.agent_id, call.round_number, at));
        let mut siblings = self.spans.iter_mut().filter(|span| span.parent == parent);
        // A slow call is hedged while it is the only one of its agent.
        if call.purpose == Purpose::Hedge
            && let Some(slow) = siblings.rfind(|span| self.open.contains(&span.id))
        {
            slow.add(json!({"conclave.hedged_by": call.call}));
        }
        let siblings = self.spans.iter().filter(|span| span.parent == parent);
        let attempt = siblings.count() + 1;
        let (id, provider) = (self.call_id(call.call), call.model.provider.as_str());
        let conventional = match provider {
            "google" => "gcp.gemini",
            "xai" => "x_ai",
            "mistral" => "mistral_ai",
            other => other,
        };
        let mut span = Span::new(id, parent, format!("chat {}", call.model.model), at);
        // The embedded model runs in this process.
        span.is_client = !call.model.provider.is_local();
        span.add(json!({
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": conventional,
            "gen_ai.request.model": call.model.model,
            "gen_ai.request.max_tokens": call.max_output_tokens,
            "gen_ai.input.messages": self.texts.and_then(|texts| texts.input(call.call)),
            "conclave.call": call.call, "conclave.agent.id": call.agent_id,
            "conclave.round": call.round_number, "conclave.answer": call.answer,
            "conclave.purpose": call.purpose, "conclave.attempt": attempt,
        }));
        self.open.push(id);
        self.spans.push(span);
    }

    fn end(&mut self, id: u64, at: Timestamp, error: Option<String>, attributes: Value) {
        self.open.retain(|open| *open != id);
        if let Some(span) = self.spans.iter_mut().find(|span| span.id == id) {
            (span.end, span.error) = (at.max(span.start), error);
            span.add(attributes);
        }
    }

    /// What is open ended with its process, when that was last heard of.
    fn lose_open(&mut self) {
        for id in std::mem::take(&mut self.open) {
            self.end(id, self.last_at, Some(LOST.to_owned()), Value::Null);
        }
    }
}

fn consultation(transcript: &Transcript, texts: Option<&Texts<'_>>) -> Span {
    let terms = &transcript.terms;
    let mut calls = transcript.calls.iter();
    let has_cost = calls.any(|call| call.cost_source != CostSource::Plan);
    let (usd, is_lower_bound) = cost(transcript.total().cost, has_cost);
    let answer = transcript.stored_record().recommendation;
    let answer = |texts: &Texts<'_>| Some([texts.message("assistant", &answer?, "stop")]);
    let (id, name) = (span_id(transcript.id.as_str()), "invoke_workflow conclave");
    let mut span = Span::new(id, None, name.to_owned(), transcript.started_at);
    span.end = transcript.last_at;
    let lost = (transcript.state != StateName::Complete).then(|| LOST.to_owned());
    let abort = transcript.abort.as_ref();
    span.error = abort.map(|abort| stored_name(&abort.reason)).or(lost);
    // The cost has not the name of a call's, so that a sum over spans counts nothing twice.
    span.add(json!({
        "gen_ai.operation.name": "invoke_workflow", "gen_ai.workflow.name": "conclave",
        "gen_ai.input.messages": texts.map(|texts| [texts.message("user", &terms.question, "")]),
        "gen_ai.output.messages": texts.and_then(answer),
        "conclave.mode": terms.mode, "conclave.state": transcript.state,
        "conclave.seats": terms.panel.seats.len(), "conclave.rounds": transcript.rounds.len(),
        "conclave.total_cost.usd": usd, "conclave.total_cost.is_lower_bound": is_lower_bound,
    }));
    span
}

#[expect(clippy::cast_precision_loss, reason = "exact for any wait")]
fn finished(call: &CallFinished, texts: Option<&Texts<'_>>) -> Value {
    let tokens = &call.tokens;
    let unless_zero = |count: u64| (count > 0).then_some(count);
    // A provider's own words may quote the answer.
    let stop = call.stop.as_ref().map(|stop| match stop {
        StopReason::End => "stop",
        StopReason::Length | StopReason::TooLong => "length",
        StopReason::Refused(_) => "content_filter",
        StopReason::Other(_) => "other",
    });
    let texts = texts.filter(|_| !call.text.is_empty());
    let reason = stop.unwrap_or("error");
    let (usd, is_lower_bound) = cost(call.cost, call.cost_source != CostSource::Plan);
    // The conventions have changed their name for what is written to a cache.
    json!({
        "gen_ai.response.model": call.served_model,
        "gen_ai.response.finish_reasons": stop.map(|stop| [stop]),
        "gen_ai.response.time_to_first_chunk": call.first_token_ms.map(|ms| ms as f64 / 1e3),
        "gen_ai.usage.input_tokens": unless_zero(tokens.prompt()),
        "gen_ai.usage.output_tokens": unless_zero(tokens.output),
        "gen_ai.usage.cache_read.input_tokens": unless_zero(tokens.cache_read),
        "gen_ai.usage.reasoning.output_tokens": unless_zero(tokens.reasoning),
        "gen_ai.output.messages": texts.map(|it| [it.message("assistant", &call.text, reason)]),
        "conclave.cache_write.input_tokens": unless_zero(tokens.cache_write),
        "conclave.usage.is_estimated": tokens.source == UsageSource::Estimated,
        "conclave.cost.source": call.cost_source,
        "conclave.cost.usd": usd, "conclave.cost.is_lower_bound": is_lower_bound,
    })
}

/// The known part, and whether more is unknown; nothing of a cost that there is not.
fn cost(cost: Cost, is_there: bool) -> (Option<f64>, Option<bool>) {
    let is_known = is_there && !cost.is_unknown();
    is_known
        .then(|| (cost.known.usd(), cost.lower_bound))
        .unzip()
}

impl Texts<'_> {
    /// By the conventions' schemas; what was sent has no reason to end.
    fn message(&self, role: &str, text: &str, finish_reason: &str) -> Value {
        let mut text = text.to_owned();
        (self.scrub)(&mut text);
        let parts = json!([{"type": "text", "content": text}]);
        match finish_reason {
            "" => json!({"role": role, "parts": parts}),
            reason => json!({"role": role, "parts": parts, "finish_reason": reason}),
        }
    }

    /// The prompt in the order for cloud models, without the text of a context: it is the same in
    /// all calls, and may have megabytes.
    fn input(&self, call: CallId) -> Option<Vec<Value>> {
        let mut prompt: Prompt = self.prompts.get(&call)?.clone();
        prompt.context = ContextText::default();
        let blocks = [("system", prompt.system()), ("user", prompt.user())];
        let blocks = blocks.iter().filter(|(_, text)| !text.is_empty());
        let messages = blocks.map(|(role, text)| self.message(role, text, ""));
        Some(messages.collect())
    }
}

/// The beginning of a hash, which is hexadecimal.
fn hashed(name: &str) -> u128 {
    u128::from_str_radix(sha256(name).get(..32).unwrap_or_default(), 16).unwrap_or(1)
}

#[expect(clippy::cast_possible_truncation, reason = "half of it is enough")]
fn span_id(name: &str) -> u64 {
    hashed(name) as u64
}
