//! A receiver of traces: keeps every request, and answers by a script.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;

use super::server_thread::ServerThread;
use crate::support::otlp::Exported;

/// The receiver. Dropping it closes its port and every connection.
#[derive(Debug)]
pub(crate) struct TraceReceiver {
    thread: ServerThread,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    answers: Mutex<VecDeque<Taken>>,
    requests: Mutex<Vec<TraceRequest>>,
}

/// What the receiver does with a request; without a script, it takes all.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Taken {
    /// It answers with this status, and wants the request again at once.
    Status(u16),
    /// It is busy, and wants the request again in an hour.
    Later,
    /// It takes all spans but three.
    InPart,
    /// It never answers.
    Never,
}

/// A request as it arrived.
#[derive(Clone, Debug)]
pub(crate) struct TraceRequest {
    pub(crate) path: String,
    /// Names in lower case.
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Vec<u8>,
}

impl TraceReceiver {
    pub(crate) fn start(answers: &[Taken]) -> Self {
        let shared = Arc::new(Shared::default());
        shared.answers.lock().unwrap().extend(answers);
        let router = axum::Router::new()
            .fallback(answer)
            .with_state(Arc::clone(&shared));
        let thread = ServerThread::start(async move |listener| {
            axum::serve(listener, router).await.unwrap();
        });
        Self { thread, shared }
    }

    /// Its base address.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.thread.address)
    }

    pub(crate) fn requests(&self) -> Vec<TraceRequest> {
        self.shared.requests.lock().unwrap().clone()
    }

    /// Returns the traces of all requests.
    pub(crate) fn traces(&self) -> Vec<Exported> {
        let requests = self.requests();
        let traces = requests.iter();
        traces.map(|request| Exported::of(&request.body)).collect()
    }
}

async fn answer(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let body = to_bytes(body, usize::MAX).await.unwrap().to_vec();
    let header = |(name, value): (&axum::http::HeaderName, &axum::http::HeaderValue)| {
        (name.to_string(), value.to_str().unwrap().to_owned())
    };
    shared.requests.lock().unwrap().push(TraceRequest {
        path: head.uri.path().to_owned(),
        headers: head.headers.iter().map(header).collect(),
        body,
    });
    let taken = shared.answers.lock().unwrap().pop_front();
    let mut response = Response::new(Body::empty());
    match taken {
        None => {}
        Some(Taken::Status(status)) => {
            *response.status_mut() = StatusCode::from_u16(status).unwrap();
            let at_once = "0".parse().unwrap();
            response.headers_mut().insert("retry-after", at_once);
        }
        Some(Taken::Later) => {
            *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
            let in_an_hour = "3600".parse().unwrap();
            response.headers_mut().insert("retry-after", in_an_hour);
        }
        Some(Taken::InPart) => *response.body_mut() = Body::from(&b"\x0a\x02\x08\x03"[..]),
        Some(Taken::Never) => std::future::pending().await,
    }
    response
}
