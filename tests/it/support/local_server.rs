//! A server that answers GET requests from a table, as local model servers and the vendors' model
//! lists do, and forwards every POST to a provider server. It records the GET requests, and can
//! also accept connections without answering.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, Method, StatusCode};
use axum::response::Response;
use tokio::sync::oneshot;

use super::provider_server::ProviderServer;

/// The server. Dropping it closes its port and every connection.
#[derive(Debug)]
pub(crate) struct LocalServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    gets: Mutex<BTreeMap<String, (u16, String)>>,
    get_requests: Mutex<Vec<GetRequest>>,
    server: Mutex<Option<&'static str>>,
    behind: Mutex<Option<String>>,
    silent: Mutex<bool>,
}

/// A GET request as it arrived.
#[derive(Clone, Debug)]
pub(crate) struct GetRequest {
    pub(crate) path_and_query: String,
    /// Names in lower case.
    pub(crate) headers: BTreeMap<String, String>,
}

impl LocalServer {
    /// Starts a server that answers every GET with 404.
    pub(crate) fn start() -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared::default());
        let (stop, stopped) = oneshot::channel::<()>();
        let state = Arc::clone(&shared);
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async move {
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                let router = axum::Router::new().fallback(answer).with_state(state);
                tokio::select! {
                    served = async { axum::serve(listener, router).await } => served.unwrap(),
                    _ = stopped => {}
                }
            });
        });
        Self {
            address,
            shared,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    /// Starts a llama.cpp server that has loaded this model.
    pub(crate) fn llama_cpp(model: &str, parameters: u64, context: u64) -> Self {
        let list = serde_json::json!({
            "object": "list",
            "data": [
                {
                    "id": model,
                    "object": "model",
                    "owned_by": "llamacpp",
                    "meta": {"n_ctx": context, "n_ctx_train": 32_768, "n_params": parameters},
                },
            ],
        });
        Self::start()
            .calls_itself("llama.cpp")
            .get("/v1/models", 200, &list.to_string())
            .get("/health", 200, r#"{"status":"ok"}"#)
    }

    /// Answers a GET of this path, with any query.
    pub(crate) fn get(self, path: &str, status: u16, body: &str) -> Self {
        self.shared
            .gets
            .lock()
            .unwrap()
            .insert(path.to_owned(), (status, body.to_owned()));
        self
    }

    /// Sends this name in the `server` header.
    pub(crate) fn calls_itself(self, name: &'static str) -> Self {
        *self.shared.server.lock().unwrap() = Some(name);
        self
    }

    /// Forwards every POST to this server.
    pub(crate) fn before(self, server: &ProviderServer) -> Self {
        *self.shared.behind.lock().unwrap() = Some(server.url());
        self
    }

    /// Accepts requests and never answers them.
    pub(crate) fn silent(self) -> Self {
        *self.shared.silent.lock().unwrap() = true;
        self
    }

    /// `127.0.0.1:PORT`.
    pub(crate) fn authority(&self) -> String {
        self.address.to_string()
    }

    /// `http://127.0.0.1:PORT`.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the GET requests, in the order of arrival.
    pub(crate) fn get_requests(&self) -> Vec<GetRequest> {
        self.shared.get_requests.lock().unwrap().clone()
    }
}

impl Drop for LocalServer {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

async fn answer(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let path_and_query = parts
        .uri
        .path_and_query()
        .map(ToString::to_string)
        .unwrap_or_default();
    if *shared.silent.lock().unwrap() {
        std::future::pending::<()>().await;
    }
    if parts.method == Method::POST {
        let behind = shared
            .behind
            .lock()
            .unwrap()
            .clone()
            .expect("a server to forward to");
        let body = axum::body::to_bytes(body, usize::MAX).await.unwrap();
        return forward(&format!("{behind}{path_and_query}"), parts.headers, body).await;
    }
    let headers = parts.headers.iter().map(|(name, value)| {
        (
            name.to_string(),
            String::from_utf8_lossy(value.as_bytes()).into_owned(),
        )
    });
    shared.get_requests.lock().unwrap().push(GetRequest {
        path_and_query,
        headers: headers.collect(),
    });
    let (status, body) = shared
        .gets
        .lock()
        .unwrap()
        .get(parts.uri.path())
        .cloned()
        .unwrap_or((404, "no such path".to_owned()));
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = StatusCode::from_u16(status).unwrap();
    if let Some(name) = *shared.server.lock().unwrap() {
        response
            .headers_mut()
            .insert("server", HeaderValue::from_static(name));
    }
    response
}

/// Sends the same POST to the other server and returns its whole response.
async fn forward(
    url: &str,
    mut headers: axum::http::HeaderMap,
    body: axum::body::Bytes,
) -> Response {
    headers.remove("host");
    let http = conclave::providers::http::Http::default();
    let sent = http
        .client_for(url)
        .unwrap()
        .post(url)
        .headers(headers)
        .body(body)
        .send()
        .await
        .unwrap();
    let (status, kind) = (sent.status(), sent.headers().get("content-type").cloned());
    let mut response = Response::new(Body::from(sent.bytes().await.unwrap()));
    *response.status_mut() = status;
    if let Some(kind) = kind {
        response.headers_mut().insert("content-type", kind);
    }
    response
}
