//! The hub, played by a server on this machine: resume, redirects, wrong sizes, wrong hashes,
//! stalls.

use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use conclave::providers::local::files::home::ModelHome;
use conclave::providers::local::files::manifest::{GgufModel, WheelSeries};
use conclave::providers::local::files::pull::{PullError, PullProgress, Sources, pull};
use conclave::providers::local::files::sources::hub::Hub;
use futures_util::stream::{self, StreamExt};

use crate::support::timeout::in_time;

const CONTENT: &[u8] = b"twenty-six bytes of model.";

static MODEL: GgufModel = GgufModel {
    name: "tiny",
    file: "tiny.gguf",
    bytes: 26,
    sha256: "a9b22de7f7c5ef5829795c11071a3096634357174199b4994b6474c2cbbc0ff9",
    licence: "none",
    context: 1,
    good_for: "tests",
    hub_path: "maker/tiny.gguf",
    wheels: WheelSeries {
        package: "",
        version: "",
        member: "",
        sha256: "",
    },
};

/// A hub that answers each request with the next of its replies, repeats the last one, and records
/// the requests.
struct TestHub {
    base: String,
    requests: Arc<Mutex<Vec<HubRequest>>>,
}

/// A request's path, and the range that it asks for.
type HubRequest = (String, Option<String>);
type Reply = fn(&HeaderMap) -> Response;

async fn play(replies: &'static [Reply]) -> TestHub {
    let requests = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&requests);
    let app = Router::new().fallback(move |request: Request| {
        let seen = Arc::clone(&seen);
        async move {
            let mut seen = seen.lock().unwrap();
            let range = request
                .headers()
                .get(header::RANGE)
                .map(|range| range.to_str().unwrap().to_owned());
            seen.push((request.uri().path().to_owned(), range));
            replies[(seen.len() - 1).min(replies.len() - 1)](request.headers())
        }
    });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    #[expect(
        clippy::disallowed_methods,
        reason = "the test's own server lives as long as its runtime"
    )]
    tokio::spawn(async move { axum::serve(listener, app).await });
    TestHub { base, requests }
}

/// Serves the file, or the rest of it that is asked for.
fn serve(headers: &HeaderMap) -> Response {
    let Some(range) = headers.get(header::RANGE) else {
        return CONTENT.into_response();
    };
    let from = range.to_str().unwrap().trim_start_matches("bytes=");
    let from: usize = from.trim_end_matches('-').parse().unwrap();
    let range = [(header::CONTENT_RANGE, format!("bytes {from}-25/26"))];
    (StatusCode::PARTIAL_CONTENT, range, &CONTENT[from..]).into_response()
}

/// Announces the whole file, sends its beginning, and then stalls.
fn begin(_: &HeaderMap) -> Response {
    stalled_after(&CONTENT[..10])
}

/// Announces the whole file and sends nothing.
fn stall(_: &HeaderMap) -> Response {
    stalled_after(b"")
}

fn stalled_after(sent: &'static [u8]) -> Response {
    let sent = stream::iter([Ok::<_, Infallible>(Bytes::from_static(sent))]);
    Response::builder()
        .header(header::CONTENT_LENGTH, 26)
        .body(Body::from_stream(sent.chain(stream::pending())))
        .unwrap()
}

fn missing(_: &HeaderMap) -> Response {
    StatusCode::NOT_FOUND.into_response()
}

fn too_short(_: &HeaderMap) -> Response {
    CONTENT[..20].into_response()
}

fn falsified(_: &HeaderMap) -> Response {
    b"twenty-six bytes of malice".into_response()
}

fn send_on(_: &HeaderMap) -> Response {
    (StatusCode::FOUND, [(header::LOCATION, "/elsewhere/tiny")]).into_response()
}

fn send_to_a_file(_: &HeaderMap) -> Response {
    let location = [(header::LOCATION, "file:///etc/passwd")];
    (StatusCode::FOUND, location).into_response()
}

struct PullReport {
    result: Result<PathBuf, PullError>,
    progress: Vec<PullProgress>,
    home: ModelHome,
    _folder: tempfile::TempDir,
}

impl PullReport {
    fn error(&self) -> String {
        self.result.as_ref().unwrap_err().to_string()
    }

    fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.home.folder).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

async fn pull_from(base: &str, already: &[u8]) -> PullReport {
    pull_with(Hub::at(base), already).await
}

async fn pull_with(hub: Hub, already: &[u8]) -> PullReport {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let http = reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let home = ModelHome::at(folder.path());
    if !already.is_empty() {
        std::fs::write(folder.path().join("tiny.gguf.part"), already).unwrap();
    }
    let sources = Sources {
        hub,
        python: PathBuf::from("/no/such/python"),
    };
    let mut progress = Vec::new();
    let mut on = |step| progress.push(step);
    let pulled = pull(&MODEL, &home, &sources, &http, &mut on);
    let result = in_time("the end of the download", pulled).await;
    PullReport {
        result,
        progress,
        home,
        _folder: folder,
    }
}

#[tokio::test]
async fn a_complete_and_correct_file_gets_its_final_name() {
    let hub = play(&[serve]).await;
    let pulled = pull_from(&hub.base, b"").await;
    let file = std::fs::read(pulled.result.as_ref().unwrap()).unwrap();
    assert_eq!(file, CONTENT);
    assert_eq!(pulled.files(), ["tiny.gguf", "tiny.gguf.lock"]);
    assert_eq!(hub.requests.lock().unwrap()[0].0, "/maker/tiny.gguf");
    let last = pulled.progress.last();
    assert_eq!(last, Some(&PullProgress::Checking(26, 26)));
}

#[tokio::test]
async fn a_download_continues_where_the_last_one_stopped() {
    let hub = play(&[serve]).await;
    let pulled = pull_from(&hub.base, &CONTENT[..7]).await;
    assert!(pulled.result.is_ok());
    let request = ("/maker/tiny.gguf".to_owned(), Some("bytes=7-".to_owned()));
    assert_eq!(*hub.requests.lock().unwrap(), [request]);
}

#[tokio::test]
async fn a_stalled_download_resumes() {
    let hub = play(&[begin, serve]).await;
    let impatient = Hub {
        idle: Duration::from_millis(300),
        ..Hub::at(&hub.base)
    };
    assert!(pull_with(impatient, b"").await.result.is_ok());
    let range = hub.requests.lock().unwrap()[1].1.clone();
    assert_eq!(range.as_deref(), Some("bytes=10-"));
}

#[tokio::test]
async fn a_hub_that_cannot_resume_sends_the_whole_file_again() {
    let hub = play(&[|_| CONTENT.into_response()]).await;
    let pulled = pull_from(&hub.base, &CONTENT[..7]).await;
    assert_eq!(std::fs::read(pulled.result.unwrap()).unwrap(), CONTENT);
}

#[tokio::test]
async fn a_complete_partial_file_is_only_verified() {
    let hub = play(&[missing]).await;
    assert!(pull_from(&hub.base, CONTENT).await.result.is_ok());
    assert!(hub.requests.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_wrong_hash_deletes_the_file_and_stops() {
    let hub = play(&[falsified]).await;
    let pulled = pull_from(&hub.base, b"").await;
    let error = pulled.result.as_ref().unwrap_err();
    assert!(matches!(error, PullError::WrongHash { .. }), "{error}");
    assert_eq!(pulled.files(), ["tiny.gguf.lock"]);
}

#[tokio::test]
async fn a_file_of_an_unexpected_size_is_not_downloaded() {
    let hub = play(&[too_short]).await;
    let error = pull_from(&hub.base, b"").await.error();
    assert!(error.contains("its file has 20 bytes, not 26"), "{error}");
}

#[tokio::test]
async fn a_missing_file_leads_to_the_next_source() {
    let hub = play(&[missing]).await;
    let pulled = pull_from(&hub.base, b"").await;
    let start = "cannot download `tiny`: the model hub: it answered 404 Not Found";
    assert!(pulled.error().starts_with(start), "{}", pulled.error());
    let error = pulled.result.unwrap_err();
    assert_eq!(error.instead().unwrap().name, "smollm2-135m-instruct");
}

#[tokio::test]
async fn an_unresponsive_hub_is_skipped() {
    let progress = pull_from("http://127.0.0.1:9", b"").await.progress;
    assert_eq!(progress[0], PullProgress::Asking("model hub"));
    let passed_over = matches!(progress[1], PullProgress::PassedOver("model hub", _));
    assert!(passed_over, "{progress:?}");
}

#[tokio::test]
async fn at_most_five_redirects_are_followed_and_only_over_http() {
    let hub = play(&[send_on, serve]).await;
    assert!(pull_from(&hub.base, &CONTENT[..3]).await.result.is_ok());
    let followed = ("/elsewhere/tiny".to_owned(), Some("bytes=3-".to_owned()));
    assert_eq!(hub.requests.lock().unwrap()[1], followed);

    let circle = play(&[send_on]).await;
    let error = pull_from(&circle.base, b"").await.error();
    assert!(error.contains("redirected more than 5 times"), "{error}");
    assert_eq!(circle.requests.lock().unwrap().len(), 6);

    let trap = play(&[send_to_a_file]).await;
    let error = pull_from(&trap.base, b"").await.error();
    assert!(error.contains("not encrypted"), "{error}");
}

#[tokio::test]
async fn a_download_that_keeps_stalling_fails() {
    let hub = play(&[stall]).await;
    let impatient = Hub {
        idle: Duration::from_millis(50),
        ..Hub::at(&hub.base)
    };
    let pulled = pull_with(impatient, b"").await;
    let words = "it stalled for 50ms after 0 of 26 bytes";
    assert!(pulled.error().contains(words), "{}", pulled.error());
    assert_eq!(hub.requests.lock().unwrap().len(), 3);
}

#[tokio::test]
async fn the_second_of_two_pulls_waits_and_sends_no_request() {
    let hub = play(&[serve]).await;
    let folder = tempfile::tempdir().unwrap();
    let _ = rustls::crypto::ring::default_provider().install_default();
    let (http, home) = (reqwest::Client::new(), ModelHome::at(folder.path()));
    let sources = Sources {
        hub: Hub::at(&hub.base),
        python: PathBuf::from("/no/such/python"),
    };
    let (mut one, mut two) = (Vec::new(), Vec::new());
    let (mut on_one, mut on_two) = (|progress| one.push(progress), |progress| two.push(progress));
    let (first, second) = tokio::join!(
        pull(&MODEL, &home, &sources, &http, &mut on_one),
        pull(&MODEL, &home, &sources, &http, &mut on_two)
    );
    assert_eq!(first.unwrap(), second.unwrap());
    assert_eq!(hub.requests.lock().unwrap().len(), 1);
    assert_eq!(two[0], PullProgress::Waiting);
}
