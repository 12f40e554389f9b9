//! The table of the pages, and how a request is answered.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request as HttpRequest, State};
use axum::http::header::{ACCEPT, CONTENT_TYPE, LOCATION, SET_COOKIE};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::sse::KeepAlive;
use axum::response::{IntoResponse, Response, Sse};
use axum::routing::get;
use url::form_urlencoded;

use super::gate::{Passage, Refusal};
use super::site::{Builder, Page, Reply, Request, Site};
use super::{consultation, list, live, pages};
use crate::error::{Error, whole};
use crate::terminal::document::{self, Frame, Line, Part, STYLE, paragraph};

/// All pages: their routes, and their builders.
const PAGES: &[(&str, Builder)] = &[
    ("/", list::page),
    ("/c/{id}", consultation::page),
    ("/compare", pages::comparison::page),
    ("/statistics", pages::statistics::page),
    ("/benchmarks", pages::benchmarks::list),
    ("/benchmarks/{id}", pages::benchmarks::one),
    ("/refinements", pages::refinements::list),
    ("/refinements/{key}", pages::refinements::one),
];

/// What every page links to.
const NAVIGATION: &[(&str, &str)] = &[
    ("/", "Consultations"),
    ("/statistics", "Statistics"),
    ("/benchmarks", "Benchmarks"),
    ("/refinements", "Refinements"),
];

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
    let page = document::page("No entry", "", &parts, &BTreeSet::new());
    let headers = [
        ("content-security-policy", POLICY_OF_REFUSALS),
        ("content-type", HTML),
        ("allow", "GET"),
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
            .keep_alive(KeepAlive::new())
            .into_response();
    }
    match site.build(build, request).await {
        Some(Ok(Reply::Page(page))) => ([(CONTENT_TYPE, HTML)], html(page)).into_response(),
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
    (status, [(CONTENT_TYPE, HTML)], html(page)).into_response()
}

fn html(page: Page) -> String {
    let frame = Frame {
        pages: NAVIGATION,
        current: page.current,
        form: page.form,
        is_live: page.live.is_some(),
    };
    document::served_page(&page.title, &page.parts, &frame)
}
