//! The pages of this home: their table, and how a request is answered.

use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request as HttpRequest, State};
use axum::http::header::{ACCEPT, CONTENT_TYPE, LOCATION, SET_COOKIE};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response, Sse};
use axum::routing::get;
use jiff::tz::TimeZone;
use tokio::sync::watch;
use url::form_urlencoded;

use super::gate::{Gate, Passage, Refusal};
use super::running::RunningConsultations;
use super::{consultation, list, live};
use crate::config::paths::Home;
use crate::engine::clock::Clock;
use crate::engine::host::run_aside;
use crate::error::{Error, whole};
use crate::records::index::{Index, QueryResult};
use crate::session::index;
use crate::terminal::document::{self, Frame, Line, Part, STYLE, paragraph};
use crate::terminal::output::printer::Printer;

/// All pages: their routes, and their builders.
const PAGES: &[(&str, Builder)] = &[("/", list::page), ("/c/{id}", consultation::page)];

/// What every page links to.
const NAVIGATION: &[(&str, &str)] = &[("/", "Consultations")];

/// The files that pages load.
const FILES: &[(&str, &str, &str)] = &[
    ("/style.css", "text/css; charset=utf-8", STYLE),
    (
        "/script.js",
        "text/javascript; charset=utf-8",
        include_str!("script.js"),
    ),
    ("/icon.svg", "image/svg+xml", include_str!("icon.svg")),
];

/// For every response. Pages load style, script, picture and events from here, and nothing else.
const HEADERS: &[(&str, &str)] = &[
    (
        "content-security-policy",
        "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; \
         img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    ),
    ("referrer-policy", "no-referrer"),
    ("cache-control", "no-store"),
    ("x-content-type-options", "nosniff"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cross-origin-opener-policy", "same-origin"),
];

/// For a page that stands alone, with its style in it.
const POLICY_OF_REFUSALS: &str =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'";

/// Makes a page. It may read files and the index, in a thread of its own.
pub(super) type Builder = fn(&Site, &Request) -> Result<Reply, Error>;

/// What a page is asked for.
#[derive(Debug)]
pub(super) struct Request {
    /// The last part of the path.
    pub(super) name: String,
    pub(super) query: Vec<(String, String)>,
}

impl Request {
    /// Empty if it is not given.
    pub(super) fn value(&self, name: &str) -> &str {
        let mut pairs = self.query.iter();
        let found = pairs.find(|(key, _)| key == name);
        found.map_or("", |(_, value)| value.trim())
    }
}

#[derive(Debug)]
pub(super) enum Reply {
    Page(Page),
    /// A file, with its type.
    File(&'static str, String),
    NotFound,
}

#[derive(Debug, Default)]
pub(super) struct Page {
    pub(super) title: String,
    /// The address in the navigation that it belongs to.
    pub(super) current: &'static str,
    pub(super) form: Vec<document::Field>,
    pub(super) parts: Vec<Part>,
    /// `None` if it stays as it is.
    pub(super) live: Option<Live>,
}

/// What a page that changes is made of.
#[derive(Debug, Default)]
pub(super) struct Live {
    /// Counts up with all that it is made of.
    pub(super) version: Option<u64>,
    /// It changes at once when one of these files does, else within a second.
    pub(super) files: Vec<PathBuf>,
}

/// What all pages are made from.
#[derive(Debug)]
pub(super) struct Site {
    pub(super) home: Home,
    face: Printer,
    pub(super) clock: Clock,
    pub(super) zone: TimeZone,
    gate: Gate,
    pub(super) running: RunningConsultations,
    /// Told of everything that a person looks at.
    pub(super) active: watch::Sender<()>,
}

impl Site {
    pub(super) fn new(home: Home, face: Printer, clock: Clock, zone: TimeZone, gate: Gate) -> Self {
        Self {
            home,
            face,
            clock,
            zone,
            gate,
            running: RunningConsultations::default(),
            active: watch::Sender::new(()),
        }
    }

    /// Asks the index.
    pub(super) fn ask<T>(
        &self,
        query: impl FnMut(&mut Index) -> QueryResult<T>,
    ) -> Result<T, Error> {
        index::with(&self.home, &self.face, query)
    }
}

pub(super) fn router(site: Arc<Site>) -> Router {
    let mut router = Router::new();
    for (path, build) in PAGES {
        let build = *build;
        let answer = move |State(site), uri, headers| answer(site, build, uri, headers);
        router = router.route(path, get(answer));
    }
    for (path, kind, content) in FILES {
        router = router.route(path, get(async || ([(CONTENT_TYPE, *kind)], *content)));
    }
    router
        .fallback(async || page_of(StatusCode::NOT_FOUND, vec![not_found()]))
        .layer(from_fn_with_state(Arc::clone(&site), guard))
        .with_state(site)
}

async fn guard(State(site): State<Arc<Site>>, request: HttpRequest, next: Next) -> Response {
    let passage = site
        .gate
        .check(request.method(), request.uri(), request.headers());
    let mut response = match passage {
        Passage::Inside => {
            site.active.send_replace(());
            next.run(request).await
        }
        Passage::Enter(cookie) => {
            let headers = [(LOCATION, "/".to_owned()), (SET_COOKIE, cookie)];
            (StatusCode::SEE_OTHER, headers).into_response()
        }
        Passage::Refused(refusal) => refused(refusal),
    };
    for (name, value) in HEADERS {
        let name = HeaderName::from_static(name);
        let headers = response.headers_mut();
        headers
            .entry(name)
            .or_insert(HeaderValue::from_static(value));
    }
    response
}

fn refused(refusal: Refusal) -> Response {
    let parts = [
        Part::Heading(1, "No entry".into()),
        paragraph(refusal.words(), []),
    ];
    let page = document::page("No entry", "", &parts, &std::collections::BTreeSet::new());
    let headers = [
        ("content-security-policy", POLICY_OF_REFUSALS),
        ("content-type", HTML),
        ("allow", "GET, HEAD"),
    ];
    (refusal.status(), headers, page).into_response()
}

const HTML: &str = "text/html; charset=utf-8";

async fn answer(site: Arc<Site>, build: Builder, uri: Uri, headers: HeaderMap) -> Response {
    let name = uri.path().rsplit('/').next().unwrap_or_default().to_owned();
    let query = form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes());
    let query = query.into_owned().collect();
    let request = Arc::new(Request { name, query });
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    if text(ACCEPT.as_str()).is_some_and(|accepted| accepted.contains("text/event-stream")) {
        let last = text("last-event-id").and_then(|id| id.parse().ok());
        let events = live::events(site, build, request, last);
        return Sse::new(events)
            .keep_alive(axum::response::sse::KeepAlive::new())
            .into_response();
    }
    let built = run_aside("page", move || build(&site, &request)).await;
    match built {
        Some(Ok(Reply::Page(page))) => ([(CONTENT_TYPE, HTML)], page.html()).into_response(),
        Some(Ok(Reply::File(kind, content))) => ([(CONTENT_TYPE, kind)], content).into_response(),
        Some(Ok(Reply::NotFound)) => page_of(StatusCode::NOT_FOUND, vec![not_found()]),
        Some(Err(error)) => page_of(StatusCode::INTERNAL_SERVER_ERROR, of_error(&error)),
        None => page_of(StatusCode::INTERNAL_SERVER_ERROR, vec!["it failed".into()]),
    }
}

fn not_found() -> Line {
    "There is no such page.".into()
}

fn of_error(error: &Error) -> Vec<Line> {
    let what = Line::foreign(whole(error.source()));
    let hints = error.hints.iter().map(Line::foreign);
    std::iter::once(what).chain(hints).collect()
}

fn page_of(status: StatusCode, lines: Vec<Line>) -> Response {
    let page = Page {
        title: "No page".to_owned(),
        parts: std::iter::once(Part::Heading(1, "No page".into()))
            .chain(lines.into_iter().map(Part::Paragraph))
            .collect(),
        ..Page::default()
    };
    (status, [(CONTENT_TYPE, HTML)], page.html()).into_response()
}

impl Page {
    fn html(self) -> String {
        let frame = Frame {
            pages: NAVIGATION,
            current: self.current,
            form: self.form,
            is_live: self.live.is_some(),
        };
        document::served_page(&self.title, &self.parts, &frame)
    }
}

/// An event of a page.
pub(super) type PageEvent = Result<axum::response::sse::Event, Infallible>;
