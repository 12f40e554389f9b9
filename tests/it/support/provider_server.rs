//! A local server that speaks the three vendors' streaming wire formats, records what it is asked and answers by a script.
//!
//! Without a script it answers every schema validly, so that a whole consultation works. It runs on a thread of its own and stops when it
//! is dropped. Nothing here depends on the crate under test: what it sends is written down a second time, from the vendors' documentation.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use serde_json::{Value, json};
use tokio::sync::oneshot;

/// Whose wire format is spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Vendor {
    Anthropic,
    OpenAi,
    Google,
}

/// The server. Dropping it closes its port and every connection.
#[derive(Debug)]
pub(crate) struct ProviderServer {
    address: SocketAddr,
    shared: Arc<Mutex<Shared>>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    rules: Vec<Rule>,
    requests: Vec<Recorded>,
}

/// A request as it arrived, and what became of it.
#[derive(Clone, Debug)]
pub(crate) struct Recorded {
    pub(crate) vendor: Option<Vendor>,
    pub(crate) model: String,
    pub(crate) path_and_query: String,
    /// Names in lower case.
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Value,
    pub(crate) arrived: Instant,
    /// When the answer was sent whole, or the client had closed the connection.
    pub(crate) finished: Option<Instant>,
    /// The answer was sent as the script wanted it.
    pub(crate) complete: bool,
}

#[derive(Clone, Debug)]
struct Rule {
    on: On,
    answer: Answer,
    seen: usize,
}

/// Which requests an answer is for.
#[derive(Clone, Debug, Default)]
pub(crate) struct On {
    vendor: Option<Vendor>,
    model: Option<String>,
    nth: Option<usize>,
}

impl On {
    pub(crate) fn any() -> Self {
        Self::default()
    }

    pub(crate) fn vendor(vendor: Vendor) -> Self {
        Self { vendor: Some(vendor), ..Self::default() }
    }

    pub(crate) fn model(model: &str) -> Self {
        Self { model: Some(model.to_owned()), ..Self::default() }
    }

    /// Only the nth of the requests that match, counted from 1.
    pub(crate) fn nth(self, nth: usize) -> Self {
        Self { nth: Some(nth), ..self }
    }

    fn matches(&self, vendor: Vendor, model: &str) -> bool {
        self.vendor.is_none_or(|wanted| wanted == vendor) && self.model.as_ref().is_none_or(|wanted| wanted == model)
    }
}

/// What the server does with a request.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    content: Content,
    /// Before the first byte.
    delay: Duration,
    /// Between two events.
    pace: Duration,
    ending: Ending,
}

#[derive(Clone, Debug)]
enum Content {
    /// A valid answer to the schema in the request.
    Valid,
    Text(Text),
    Raw {
        status: u16,
        headers: Vec<(String, String)>,
        body: Vec<u8>,
    },
}

#[derive(Clone, Debug)]
struct Text {
    whole: String,
    pieces: usize,
    usage: Option<(u64, u64)>,
    finish: Finish,
    error: Option<Value>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Finish {
    Stop,
    Length,
    Refusal,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    /// All is sent and the answer ends as HTTP wants it.
    Whole,
    /// The first half is sent; then the connection breaks.
    Cut,
    /// The first half is sent; then the answer ends as if that were all.
    Short,
    /// The first half is sent; then nothing happens any more.
    Stall,
}

impl Answer {
    /// A valid answer to whatever schema is asked for.
    pub(crate) fn valid() -> Self {
        Self { content: Content::Valid, delay: Duration::ZERO, pace: Duration::ZERO, ending: Ending::Whole }
    }

    /// This text, in three pieces.
    pub(crate) fn text(text: impl Into<String>) -> Self {
        let text = Text { whole: text.into(), pieces: 3, usage: Some((100, 20)), finish: Finish::Stop, error: None };
        Self { content: Content::Text(text), ..Self::valid() }
    }

    /// A text that is cut off because the model ran out of room.
    pub(crate) fn length(text: impl Into<String>) -> Self {
        Self::text(text).with(|text| text.finish = Finish::Length)
    }

    /// The model declines with these words.
    pub(crate) fn refusal(words: impl Into<String>) -> Self {
        Self::text(words).with(|text| text.finish = Finish::Refusal)
    }

    /// After the text, an error arrives inside the stream.
    pub(crate) fn error_in_stream(text: impl Into<String>, error: Value) -> Self {
        Self::text(text).with(|text| text.error = Some(error))
    }

    /// Any answer at all.
    pub(crate) fn http(status: u16, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        let headers = vec![("content-type".to_owned(), content_type.to_owned())];
        Self { content: Content::Raw { status, headers, body: body.into() }, ..Self::valid() }
    }

    /// A stream of these bytes.
    pub(crate) fn stream(body: impl Into<Vec<u8>>) -> Self {
        Self::http(200, "text/event-stream", body)
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        if let Content::Raw { headers, .. } = &mut self.content {
            headers.push((name.to_owned(), value.to_owned()));
        }
        self
    }

    pub(crate) fn usage(self, input: u64, output: u64) -> Self {
        self.with(|text| text.usage = Some((input, output)))
    }

    pub(crate) fn without_usage(self) -> Self {
        self.with(|text| text.usage = None)
    }

    pub(crate) fn pieces(self, pieces: usize) -> Self {
        self.with(|text| text.pieces = pieces)
    }

    pub(crate) fn delay(self, delay: Duration) -> Self {
        Self { delay, ..self }
    }

    pub(crate) fn pace(self, pace: Duration) -> Self {
        Self { pace, ..self }
    }

    pub(crate) fn cut(self) -> Self {
        Self { ending: Ending::Cut, ..self }
    }

    pub(crate) fn short(self) -> Self {
        Self { ending: Ending::Short, ..self }
    }

    pub(crate) fn stall(self) -> Self {
        Self { ending: Ending::Stall, ..self }
    }

    fn with(mut self, change: impl FnOnce(&mut Text)) -> Self {
        if let Content::Text(text) = &mut self.content {
            change(text);
        }
        self
    }
}

impl ProviderServer {
    /// Starts a server on a free port of this machine.
    pub(crate) fn start() -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Mutex::new(Shared::default()));
        let (stop, stopped) = oneshot::channel::<()>();
        let state = Arc::clone(&shared);
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async move {
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                let router = axum::Router::new().fallback(answer).with_state(state);
                tokio::select! {
                    served = async { axum::serve(listener, router).await } => served.unwrap(),
                    _ = stopped => {}
                }
            });
            // Dropping the runtime drops every connection, also those that stall.
        });
        Self { address, shared, stop: Some(stop), thread: Some(thread) }
    }

    /// `http://127.0.0.1:PORT`.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The variables that send a compiled binary here, with a key for every vendor.
    pub(crate) fn variables(&self) -> Vec<(&'static str, String)> {
        vec![
            ("ANTHROPIC_BASE_URL", self.url()),
            ("ANTHROPIC_API_KEY", "test-key-anthropic".to_owned()),
            ("OPENAI_BASE_URL", format!("{}/v1", self.url())),
            ("OPENAI_API_KEY", "test-key-openai".to_owned()),
            ("GOOGLE_GEMINI_BASE_URL", self.url()),
            ("GEMINI_API_KEY", "test-key-google".to_owned()),
        ]
    }

    /// Answers matching requests so. The last rule that matches decides.
    pub(crate) fn on(&self, on: On, answer: Answer) {
        lock(&self.shared).rules.push(Rule { on, answer, seen: 0 });
    }

    /// Everything that was asked, in the order of arrival.
    pub(crate) fn requests(&self) -> Vec<Recorded> {
        lock(&self.shared).requests.clone()
    }
}

impl Drop for ProviderServer {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

#[expect(clippy::disallowed_methods, reason = "arrival and end of requests are measured on the server's side")]
fn now() -> Instant {
    Instant::now()
}

/// Notes when a request has come to its end, also when the client went away.
struct Finishing {
    shared: Arc<Mutex<Shared>>,
    at: usize,
    complete: bool,
}

impl Drop for Finishing {
    fn drop(&mut self) {
        if let Some(request) = lock(&self.shared).requests.get_mut(self.at) {
            request.finished = Some(now());
            request.complete = self.complete;
        }
    }
}

async fn answer(State(shared): State<Arc<Mutex<Shared>>>, request: Request) -> Response {
    let arrived = now();
    let (parts, body) = request.into_parts();
    let path_and_query = parts.uri.path_and_query().map(ToString::to_string).unwrap_or_default();
    let body = axum::body::to_bytes(body, 64 * 1024 * 1024).await.unwrap_or_default();
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let (vendor, model) = addressee(parts.uri.path(), &body);
    let headers = parts.headers.iter().map(|(name, value)| (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned()));
    let recorded = Recorded {
        vendor,
        model: model.clone(),
        path_and_query,
        headers: headers.collect(),
        body: body.clone(),
        arrived,
        finished: None,
        complete: false,
    };
    let (answer, finishing) = {
        let mut guard = lock(&shared);
        guard.requests.push(recorded);
        let finishing = Finishing { shared: Arc::clone(&shared), at: guard.requests.len() - 1, complete: false };
        (vendor.map(|vendor| guard.choose(vendor, &model)), finishing)
    };
    let Some((answer, vendor)) = answer.zip(vendor) else {
        return respond(404, &[("content-type".into(), "text/plain".into())], Body::from("no such path"));
    };
    tokio::time::sleep(answer.delay).await;
    let stream_headers = vec![("content-type".to_owned(), "text/event-stream".to_owned())];
    let (status, headers, frames) = match &answer.content {
        Content::Valid => {
            let text = Text { whole: valid_answer(&body, &model), pieces: 3, usage: Some((100, 20)), finish: Finish::Stop, error: None };
            (200, stream_headers, frames(vendor, &model, &text))
        }
        Content::Text(text) => (200, stream_headers, frames(vendor, &model, text)),
        Content::Raw { status, headers, body } => {
            (*status, headers.clone(), body.chunks(body.len().div_ceil(4).max(1)).map(<[u8]>::to_vec).collect())
        }
    };
    respond(status, &headers, send(frames, &answer, finishing))
}

impl Shared {
    fn choose(&mut self, vendor: Vendor, model: &str) -> Answer {
        let mut chosen = Answer::valid();
        for rule in &mut self.rules {
            if rule.on.matches(vendor, model) {
                rule.seen += 1;
                if rule.on.nth.is_none_or(|nth| nth == rule.seen) {
                    chosen = rule.answer.clone();
                }
            }
        }
        chosen
    }
}

fn addressee(path: &str, body: &Value) -> (Option<Vendor>, String) {
    let model = body.get("model").and_then(Value::as_str).unwrap_or_default().to_owned();
    match path {
        "/v1/messages" => (Some(Vendor::Anthropic), model),
        "/v1/chat/completions" => (Some(Vendor::OpenAi), model),
        _ => match path.strip_prefix("/v1beta/models/").and_then(|rest| rest.strip_suffix(":streamGenerateContent")) {
            Some(model) => (Some(Vendor::Google), model.to_owned()),
            None => (None, model),
        },
    }
}

fn respond(status: u16, headers: &[(String, String)], body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or_else(|_| panic!("the script's status `{status}` is none"));
    for (name, value) in headers {
        response.headers_mut().append(HeaderName::from_bytes(name.as_bytes()).unwrap(), HeaderValue::from_str(value).unwrap());
    }
    response
}

/// The bytes of a whole answer as the vendor would send them, for tests that need no connection.
pub(crate) fn stream_of(vendor: Vendor, model: &str, answer: &Answer) -> Vec<u8> {
    match &answer.content {
        Content::Valid => Vec::new(),
        Content::Text(text) => frames(vendor, model, text).concat(),
        Content::Raw { body, .. } => body.clone(),
    }
}

/// Sends the frames one by one, as far as the script wants.
fn send(mut frames: Vec<Vec<u8>>, answer: &Answer, finishing: Finishing) -> Body {
    let (ending, pace) = (answer.ending, answer.pace);
    if ending != Ending::Whole {
        frames.truncate(frames.len().div_ceil(2));
    }
    let frames = frames.into_iter();
    Body::from_stream(futures_util::stream::unfold((frames, finishing, true), move |(mut frames, mut finishing, first)| async move {
        if !first && !pace.is_zero() {
            tokio::time::sleep(pace).await;
        }
        match (frames.next(), ending) {
            (Some(frame), _) => {
                finishing.complete = frames.len() == 0 && ending == Ending::Whole;
                Some((Ok(Bytes::from(frame)), (frames, finishing, false)))
            }
            (None, Ending::Whole | Ending::Short) => None,
            (None, Ending::Cut) if first => None,
            (None, Ending::Cut) => {
                // Lets what was sent leave before the connection breaks.
                tokio::task::yield_now().await;
                tokio::time::sleep(Duration::from_millis(5)).await;
                Some((Err(std::io::Error::other("cut by the script")), (frames, finishing, true)))
            }
            (None, Ending::Stall) => std::future::pending::<Option<(Result<Bytes, std::io::Error>, _)>>().await,
        }
    }))
}

fn frames(vendor: Vendor, model: &str, text: &Text) -> Vec<Vec<u8>> {
    let pieces = pieces(&text.whole, text.pieces);
    let frames = match vendor {
        Vendor::Anthropic => anthropic_frames(model, text, &pieces),
        Vendor::OpenAi => openai_frames(model, text, &pieces),
        Vendor::Google => google_frames(model, text, &pieces),
    };
    frames.into_iter().map(String::into_bytes).collect()
}

/// The text in about `count` pieces of whole characters.
fn pieces(text: &str, count: usize) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    characters.chunks(characters.len().div_ceil(count.max(1)).max(1)).map(|piece| piece.iter().collect()).collect()
}

fn anthropic_frames(model: &str, text: &Text, pieces: &[String]) -> Vec<String> {
    let event = |data: Value| format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap());
    let start_usage = text.usage.map(
        |(input, _)| json!({"input_tokens": input, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 1}),
    );
    let message = json!({"id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": start_usage});
    let mut frames = vec![
        event(json!({"type": "message_start", "message": message})),
        event(json!({"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": "", "signature": ""}})),
        event(json!({"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "Hm."}})),
        event(json!({"type": "content_block_stop", "index": 0})),
        event(json!({"type": "ping"})),
        event(json!({"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}})),
    ];
    if text.finish != Finish::Refusal {
        frames.extend(
            pieces
                .iter()
                .map(|piece| event(json!({"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": piece}}))),
        );
    }
    if let Some(error) = &text.error {
        frames.push(event(json!({"type": "error", "error": error})));
        return frames;
    }
    let (reason, details) = match text.finish {
        Finish::Stop => ("end_turn", Value::Null),
        Finish::Length => ("max_tokens", Value::Null),
        Finish::Refusal => ("refusal", json!({"type": "refusal", "category": "cyber", "explanation": text.whole})),
    };
    let usage = text.usage.map(|(_, output)| json!({"output_tokens": output}));
    frames.push(event(json!({"type": "content_block_stop", "index": 1})));
    frames.push(event(json!({"type": "message_delta", "usage": usage,
        "delta": {"stop_reason": reason, "stop_sequence": null, "stop_details": details}})));
    frames.push(event(json!({"type": "message_stop"})));
    frames
}

fn openai_frames(model: &str, text: &Text, pieces: &[String]) -> Vec<String> {
    let data = |data: &Value| format!("data: {data}\n\n");
    let chunk = |delta: Value, finish: Value| {
        data(&json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": model, "usage": null,
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}))
    };
    let field = if text.finish == Finish::Refusal { "refusal" } else { "content" };
    let mut frames = vec![chunk(json!({"role": "assistant", "content": "", "refusal": null}), Value::Null)];
    frames.extend(pieces.iter().map(|piece| chunk(json!({field: piece}), Value::Null)));
    if let Some(error) = &text.error {
        frames.push(data(&json!({"error": error})));
        return frames;
    }
    frames.push(chunk(json!({}), json!(if text.finish == Finish::Length { "length" } else { "stop" })));
    if let Some((input, output)) = text.usage {
        let usage = json!({"prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output,
            "prompt_tokens_details": {"cached_tokens": 0}, "completion_tokens_details": {"reasoning_tokens": 0}});
        frames.push(data(&json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": model, "choices": [], "usage": usage})));
    }
    frames.push("data: [DONE]\n\n".to_owned());
    frames
}

fn google_frames(model: &str, text: &Text, pieces: &[String]) -> Vec<String> {
    let data = |data: &Value| format!("data: {data}\r\n\r\n");
    let fragment = |parts: Value, finish: Option<&str>, output: u64| {
        let mut candidate = json!({"index": 0});
        if !parts.is_null() {
            candidate["content"] = json!({"role": "model", "parts": parts});
        }
        if let Some(finish) = finish {
            candidate["finishReason"] = json!(finish);
        }
        if finish == Some("SAFETY") {
            candidate["finishMessage"] = json!(text.whole);
        }
        let mut fragment = json!({"candidates": [candidate], "modelVersion": model, "responseId": "r1"});
        if let Some((input, _)) = text.usage {
            fragment["usageMetadata"] =
                json!({"promptTokenCount": input, "candidatesTokenCount": output, "totalTokenCount": input + output});
        }
        data(&fragment)
    };
    let mut frames = vec![fragment(json!([{"text": "Hm.", "thought": true}]), None, 0)];
    if text.finish != Finish::Refusal {
        frames.extend(pieces.iter().map(|piece| fragment(json!([{"text": piece}]), None, 1)));
    }
    if let Some(error) = &text.error {
        frames.push(data(&json!({"error": error})));
        return frames;
    }
    let output = text.usage.map_or(0, |(_, output)| output);
    frames.push(match text.finish {
        Finish::Stop => fragment(json!([{"text": ""}]), Some("STOP"), output),
        Finish::Length => fragment(Value::Null, Some("MAX_TOKENS"), output),
        Finish::Refusal => fragment(Value::Null, Some("SAFETY"), output),
    });
    frames
}

/// A valid answer to the schema in the request, whichever vendor's request it is.
fn valid_answer(body: &Value, model: &str) -> String {
    let places = [
        "/output_config/format/schema/properties",
        "/response_format/json_schema/schema/properties",
        "/generationConfig/responseJsonSchema/properties",
    ];
    let properties = places.iter().find_map(|place| body.pointer(place)).cloned().unwrap_or_default();
    let asks_for = |name: &str| properties.get(name).is_some();
    let answer = if asks_for("consensus_points") {
        json!({
            "consensus_points": [{"point": "Start small", "supporting_agents": ["Expert A", "Expert B"], "confidence": 0.8}],
            "tensions": [{"topic": "Speed", "severity": "medium", "viewpoints": [
                {"agent": "Expert A", "viewpoint": "Go fast"}, {"agent": "Expert B", "viewpoint": "Go slow"}]}],
            "priority_order": ["Speed"],
        })
    } else if asks_for("revised_position") {
        json!({
            "challenges": [{"target_agent": "Expert B", "challenge": "Too slow", "evidence": ["deadlines"], "severity": "medium"}],
            "rebuttals": [{"agent": "Expert B", "rebuttal": "Speed matters more"}],
            "changed": false,
            "because_of": [],
            "revised_position": format!("{model} still says: start small"),
            "revised_confidence": 0.75,
        })
    } else if asks_for("unresolved") {
        json!({
            "challenges": [{"challenger": "Expert A", "target_agent": "Expert B", "challenge": "Too slow", "evidence": ["deadlines"],
                "severity": "medium"}],
            "rebuttals": [{"agent": "Expert B", "rebuttal": "Care pays"}],
            "unresolved": ["How fast"],
        })
    } else if asks_for("recommendation") {
        json!({
            "summary": "They agreed on the start and differed on the speed.",
            "evidence": [{"claim": "Small steps are safe", "agent": "Expert A", "quote": "Small steps are safe"}],
            "dissent": [{"agent": "Expert B", "concern": "It may take too long", "severity": "low"}],
            "recommendation": "Start small, then grow.",
            "confidence": 0.8,
        })
    } else {
        json!({
            "position": format!("{model} says: start small"),
            "key_points": ["Small steps are safe", "They can be undone"],
            "rationale": "Small steps are safe, because they can be undone.",
            "confidence": 0.7,
        })
    };
    answer.to_string()
}
