//! A local server that speaks the three vendors' streaming wire formats, records what it is asked and answers by a script.
//!
//! Without a script it answers every schema validly, so that a whole consultation works. It runs on a thread of its own and stops when it
//! is dropped. Nothing here depends on the crate under test: what it sends is written down a second time, from the vendors' documentation.

mod sample;
mod script;
mod waiting;
mod wire;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use serde_json::Value;
use tokio::sync::{oneshot, watch};

use sample::valid_answer;
use script::{Content, Ending, Text};
use wire::frames;

pub(crate) use script::{Answer, On};
pub(crate) use wire::stream_of;

/// Whose wire format is spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Vendor {
    Anthropic,
    OpenAi,
    Google,
}

impl Vendor {
    /// Its name before the colon of a model.
    pub(crate) fn id(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
            Self::Google => "google",
        }
    }
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
    /// Rings whenever a request arrives or ends.
    bell: watch::Sender<()>,
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

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
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
        waiting::ring(&self.shared);
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
    waiting::ring(&shared);
    let Some((answer, vendor)) = answer.zip(vendor) else {
        return respond(404, &[("content-type".into(), "text/plain".into())], Body::from("no such path"));
    };
    waiting::arrivals(&shared, answer.arrivals).await;
    tokio::time::sleep(answer.delay).await;
    let stream_headers = vec![("content-type".to_owned(), "text/event-stream".to_owned())];
    let (status, headers, frames) = match &answer.content {
        Content::Valid => (200, stream_headers, frames(vendor, &model, &Text::new(valid_answer(&body, &model)))),
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
