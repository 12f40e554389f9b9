//! A server that answers GET requests from a table, as local model servers and the vendors' model
//! lists do, and forwards every POST to a provider server. It records the GET requests, and can
//! also accept connections without answering.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, Method, StatusCode};
use axum::response::Response;

use super::provider_server::ProviderServer;
use super::server_thread::ServerThread;

/// The server. Dropping it closes its port and every connection.
#[derive(Debug)]
pub(crate) struct LocalServer {
    thread: ServerThread,
    shared: Arc<Shared>,
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
        let shared = Arc::new(Shared::default());
        let router = axum::Router::new()
            .fallback(answer)
            .with_state(Arc::clone(&shared));
        let thread = ServerThread::start(async move |listener| {
            axum::serve(listener, router).await.unwrap();
        });
        Self { thread, shared }
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
        let answer = (status, body.to_owned());
        self.shared
            .gets
            .lock()
            .unwrap()
            .insert(path.to_owned(), answer);
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
        self.thread.address.to_string()
    }

    /// `http://127.0.0.1:PORT`.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.thread.address)
    }

    /// Returns the GET requests, in the order of arrival.
    pub(crate) fn get_requests(&self) -> Vec<GetRequest> {
        self.shared.get_requests.lock().unwrap().clone()
    }
}

async fn answer(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let path_and_query = parts.uri.path_and_query();
    let path_and_query = path_and_query.map_or_else(String::new, ToString::to_string);
    if *shared.silent.lock().unwrap() {
        std::future::pending::<()>().await;
    }
    if parts.method == Method::POST {
        let behind = shared.behind.lock().unwrap().clone();
        let behind = behind.expect("a server to forward to");
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
    let set = shared.gets.lock().unwrap().get(parts.uri.path()).cloned();
    let (status, body) = set.unwrap_or((404, "no such path".to_owned()));
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
