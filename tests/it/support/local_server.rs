//! A server that answers GETs from a list, as model servers on the user's machine and vendors'
//! lists of models do, and passes every POST on to a provider server. It notes what it was asked
//! for, and can also accept connections and say nothing.

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
    asked: Mutex<Vec<Asked>>,
    server: Mutex<Option<&'static str>>,
    behind: Mutex<Option<String>>,
    silent: Mutex<bool>,
}

/// A GET as it arrived.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) path_and_query: String,
    /// Names in lower case.
    pub(crate) headers: BTreeMap<String, String>,
}

impl LocalServer {
    /// Starts a server that answers nothing but 404.
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

    /// A llama.cpp server that has loaded this model.
    pub(crate) fn llama_cpp(model: &str, parameters: u64, context: u64) -> Self {
        let list = serde_json::json!({"object": "list", "data": [{"id": model, "object": "model", "owned_by": "llamacpp",
            "meta": {"n_ctx": context, "n_ctx_train": 32_768, "n_params": parameters}}]});
        Self::start()
            .calls_itself("llama.cpp")
            .get("/v1/models", 200, &list.to_string())
            .get("/health", 200, r#"{"status":"ok"}"#)
    }

    /// Answers a GET of this path, whatever its query.
    pub(crate) fn get(self, path: &str, status: u16, body: &str) -> Self {
        self.shared
            .gets
            .lock()
            .unwrap()
            .insert(path.to_owned(), (status, body.to_owned()));
        self
    }

    pub(crate) fn calls_itself(self, name: &'static str) -> Self {
        *self.shared.server.lock().unwrap() = Some(name);
        self
    }

    /// Passes every POST on.
    pub(crate) fn before(self, server: &ProviderServer) -> Self {
        *self.shared.behind.lock().unwrap() = Some(server.url());
        self
    }

    /// Takes requests and never answers them.
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

    /// The GETs, in the order of their arrival.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.shared.asked.lock().unwrap().clone()
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
            .expect("a server behind for POSTs");
        let body = axum::body::to_bytes(body, usize::MAX).await.unwrap();
        return pass_on(&format!("{behind}{path_and_query}"), parts.headers, body).await;
    }
    let headers = parts.headers.iter().map(|(name, value)| {
        (
            name.to_string(),
            String::from_utf8_lossy(value.as_bytes()).into_owned(),
        )
    });
    shared.asked.lock().unwrap().push(Asked {
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

/// Makes the same POST elsewhere and gives back what comes, whole.
async fn pass_on(
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
