//! Who is let in, and what a refused request learns. The rules themselves are tested beside them.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::serve;
use crate::commands::refused;
use crate::support::binary::Conclave;
use crate::support::timeout::until;
use crate::support::visitor::Visitor;

#[test]
fn token_becomes_a_cookie_and_leaves_the_address() {
    let conclave = Conclave::new();
    let served = serve(&conclave);
    let port = served.visitor.port;
    let (_, path) = served.address.rsplit_once('/').unwrap();
    let answer = served.visitor.get(&format!("/{path}"));
    assert_eq!(answer.header("location"), Some("/"));
    let cookie = answer.header("set-cookie").unwrap();
    let (name, rest) = cookie.split_once('=').unwrap();
    assert_eq!(name, format!("conclave-{port}"));
    assert_eq!(rest.split_at(32).1, "; HttpOnly; SameSite=Strict; Path=/");
    let stranger = Visitor {
        port,
        cookie: format!("{name}={}", "0".repeat(32)),
    };
    let (token, secret) = (path.split_once('=').unwrap().1, &rest[..32]);
    for path in [
        "/",
        "/style.css",
        "/script.js",
        "/c/last",
        "/nothing",
        "/?token=0",
    ] {
        let refused = stranger.get(path);
        assert_eq!(refused.status, 403, "{path}");
        assert!(
            refused.body.contains("<code>conclave view</code>"),
            "{path}"
        );
        let page = served.visitor.get(path);
        for answer in [refused, page] {
            let has = |text: &str| answer.head.contains(text) || answer.body.contains(text);
            assert!(
                !has(token) && !has(secret) && !has("access-control"),
                "{answer:?}"
            );
            let policy = answer.header("content-security-policy").unwrap();
            assert!(policy.starts_with("default-src 'none'; "), "{policy}");
            assert!(policy.contains("frame-ancestors 'none'"), "{policy}");
            for (name, value) in [
                ("referrer-policy", "no-referrer"),
                ("cache-control", "no-store"),
                ("x-content-type-options", "nosniff"),
                ("cross-origin-resource-policy", "same-origin"),
                ("cross-origin-opener-policy", "same-origin"),
            ] {
                assert_eq!(answer.header(name), Some(value), "{path}");
            }
        }
    }
    served.end();
}

#[test]
fn requests_that_no_own_page_makes_are_refused() {
    let conclave = Conclave::new();
    let served = serve(&conclave);
    let Visitor { port, cookie } = &served.visitor;
    let own = format!("Host: 127.0.0.1:{port}\r\nCookie: {cookie}\r\nConnection: close\r\n\r\n");
    for (request, status) in [
        (format!("GET / HTTP/1.1\r\n{own}"), 200),
        (format!("HEAD / HTTP/1.1\r\n{own}"), 405),
        (
            format!("POST / HTTP/1.1\r\nContent-Length: 0\r\n{own}"),
            405,
        ),
        (
            format!("OPTIONS / HTTP/1.1\r\nOrigin: http://evil.example\r\n{own}"),
            405,
        ),
        (
            format!("GET / HTTP/1.1\r\nOrigin: http://127.0.0.1:1\r\n{own}"),
            403,
        ),
        (
            format!("GET / HTTP/1.1\r\nSec-Fetch-Site: same-site\r\n{own}"),
            403,
        ),
        (
            format!("GET / HTTP/1.1\r\nHost: evil.example:{port}\r\n{own}"),
            421,
        ),
        (
            format!("GET http://evil.example:{port}/ HTTP/1.1\r\n{own}"),
            421,
        ),
        (format!("GET / HTTP/1.0\r\nCookie: {cookie}\r\n\r\n"), 421),
        (
            format!("GET /?q={} HTTP/1.1\r\n{own}", "a".repeat(5_000)),
            414,
        ),
        (
            format!("GET /{} HTTP/1.1\r\n{own}", "a".repeat(100_000)),
            431,
        ),
        ("\u{16}\u{3}\u{1}\r\n\r\n".to_owned(), 400),
        (
            format!("GET / HTTP/1.1\r\nHost: evil.example\r\n{own}"),
            421,
        ),
        (
            format!("GET http://a@127.0.0.1:{port}/ HTTP/1.1\r\n{own}"),
            421,
        ),
        (format!("TRACE / HTTP/1.1\r\n{own}"), 405),
        // HTTP/2 is not spoken.
        ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_owned(), 0),
        (
            format!("GET / HTTP/1.1\r\n{}{own}", "a: b\r\n".repeat(300)),
            431,
        ),
    ] {
        let answer = served.visitor.send(&request);
        assert_eq!(answer.status, status, "{request:.80}");
        assert!(
            !answer
                .body
                .contains("<h1 class=\"said\" dir=\"auto\">Consultations")
                || status == 200
        );
    }
    assert_eq!(served.visitor.get("/").status, 200);
}

#[test]
fn paths_lead_to_no_other_file() {
    let conclave = Conclave::new().config("{\"secret\": \"of-the-settings\"}");
    let served = serve(&conclave);
    for path in [
        "/c/../config.json",
        "/c/..%2f..%2fconfig.json",
        "/c/%2e%2e/config.json",
        "/c/..%5c..%5cconfig.json",
        "/c/%00.json",
        "/c/..;/config.json",
        "/c/..\\config.json",
        "/c/%2e%2e%2fconfig.json",
        "/c//etc/passwd",
        "/c/config.json",
        "/c/..json",
        "/c/.json",
        "/c/consult-1.jsonl",
        "/../config.json",
        "//config.json",
        "/c/consult-1/../../config.json",
    ] {
        let answer = served.visitor.get(path);
        assert_eq!(answer.status, 404, "{path}: {answer:?}");
        assert!(!answer.body.contains("of-the-settings"), "{path}");
    }
}

#[test]
fn thousand_connections_shut_no_browser_out() {
    // The usual soft limit is about as many.
    let limit = getrlimit(Resource::Nofile);
    let current = limit.maximum.map(|most| most.min(8_192)).or(Some(8_192));
    setrlimit(Resource::Nofile, Rlimit { current, ..limit }).unwrap();
    let conclave = Conclave::new();
    let served = serve(&conclave);
    let flood: Vec<_> = (0..1_000).map(|_| served.visitor.connect()).collect();
    assert_eq!(served.visitor.get("/").status, 200);
    drop(flood);
    served.end();
}

#[test]
fn live_pages_shut_no_browser_out() {
    let conclave = Conclave::new();
    let served = serve(&conclave);
    let mut live: Vec<_> = (0..200).map(|_| served.visitor.events("/", None)).collect();
    assert_eq!(served.visitor.get("/").status, 200);
    assert_ne!(live.last_mut().unwrap().next(), None);
    served.end();
}

/// The settings, which name keys, are not even read.
#[test]
fn browser_is_opened_with_an_address_that_works_once() {
    let conclave = Conclave::new().config("{ broken");
    let (browser, opened) = (
        conclave.folder().join("browser"),
        conclave.folder().join("opened"),
    );
    let script = format!(
        "#!/bin/sh\nprintf %s \"$1\" > '{0}.new'\nmv '{0}.new' '{0}'\n",
        opened.display()
    );
    fs::write(&browser, script).unwrap();
    fs::set_permissions(&browser, fs::Permissions::from_mode(0o700)).unwrap();
    let conclave = conclave.variable("BROWSER", &browser);
    let process = conclave.start(&["view"]);
    let printed = process.first_line();
    until("the browser is started", || opened.exists());
    let opened = fs::read_to_string(opened).unwrap();
    assert_ne!(printed, opened);
    let visitor = Visitor::enter(&opened);
    assert_eq!(visitor.get("/").status, 200);
    let (_, path) = opened.rsplit_once('/').unwrap();
    assert_eq!(visitor.get(&format!("/{path}")).status, 200);
    let stranger = Visitor {
        cookie: String::new(),
        ..visitor
    };
    assert_eq!(stranger.get(&format!("/{path}")).status, 403);
}

#[test]
fn server_ends_when_no_page_is_looked_at() {
    let conclave = Conclave::new();
    let output = conclave
        .run(&["view", "--no-open", "--idle", "1s"])
        .ends_with(0);
    assert!(
        output.stdout.starts_with("http://127.0.0.1:"),
        "{}",
        output.stdout
    );
    for idle in ["0m", "30", "1d", "m"] {
        let error = refused(&conclave, &["view", "--no-open", "--idle", idle]);
        assert!(
            error.contains("must be seconds, minutes or hours"),
            "{error}"
        );
    }
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let error = refused(&conclave, &["view", "--no-open", "--port", &port]);
    assert!(
        error.contains(&format!("cannot listen on port {port}")),
        "{error}"
    );
}
