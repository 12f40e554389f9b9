//! What else reaches the port that waits for the browser.

use std::io::Write;
use std::net::TcpStream;

use url::Url;

use super::{Waiting, get, home, sent};
use crate::support::provider_server::ProviderServer;

#[test]
fn other_requests_do_not_end_the_wait() {
    let server = ProviderServer::start();
    let conclave = home(&server);
    let waiting = Waiting::start(&conclave);
    let right = waiting.agreed();
    let authority = format!("127.0.0.1:{}", right.port().unwrap());
    // Clients that say nothing, or only the beginning.
    let silent = TcpStream::connect(&authority).unwrap();
    let mut slow = TcpStream::connect(&authority).unwrap();
    slow.write_all(b"GET /auth/callback?state=").unwrap();
    let with = |change: &dyn Fn(&mut Url)| {
        let mut url = right.clone();
        change(&mut url);
        url
    };
    for (what, url, host) in [
        ("another path", with(&|url| url.set_path("/")), None),
        (
            "no state",
            with(&|url| url.set_query(Some("code=x&client_id=y"))),
            None,
        ),
        (
            "another state",
            with(&|url| url.set_query(Some("code=x&state=y"))),
            None,
        ),
        (
            "an error",
            with(&|url| url.set_query(Some("error=access_denied&state=y"))),
            None,
        ),
        (
            "two states",
            with(&|url| _ = url.query_pairs_mut().append_pair("state", "y")),
            None,
        ),
        ("another name", right.clone(), Some("evil.example")),
    ] {
        let answer = get(&url, host);
        assert!(answer.starts_with("HTTP/1.1 404"), "{what}: {answer}");
    }
    let query = right.query().unwrap();
    for head in [
        format!("POST /auth/callback?{query} HTTP/1.1\r\nhost: {authority}\r\n\r\n"),
        format!("GET /auth/callback?{query} HTTP/1.1\r\n\r\n"),
        format!(
            "GET http://evil.example/auth/callback?{query} HTTP/1.1\r\nhost: {authority}\r\n\r\n"
        ),
        "\u{16}\u{3}\u{1}\r\n\r\n".to_owned(),
    ] {
        let answer = sent(&authority, &head);
        assert!(answer.starts_with("HTTP/1.1 404"), "{head}: {answer}");
    }
    let answer = get(&right, None);
    assert!(
        answer.starts_with("HTTP/1.1 200") && answer.contains("no-store"),
        "{answer}"
    );
    waiting.process.wait().ends_with(0);
    drop((silent, slow));
}

#[test]
fn a_port_that_is_taken_is_an_error() {
    let server = ProviderServer::start();
    let port = server.address().port().to_string();
    let output = home(&server)
        .run(&["login", "chatgpt", "--port", &port])
        .ends_with(2);
    output.assert_stderr_contains("cannot wait for the browser");
}
