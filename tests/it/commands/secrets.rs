//! No key is ever seen: not in answers, messages, logs, events or addresses, and not when a server sends it back.

use crate::support::binary::{Conclave, Ran};
use crate::support::provider_server::{Answer, On, ProviderServer, Vendor};

const KEYS: [&str; 3] = ["test-key-anthropic", "test-key-openai", "test-key-google"];

/// Looks for the keys in everything that a run leaves behind.
fn assert_unseen(server: &ProviderServer, conclave: &Conclave, ran: &Ran) {
    let mut places = vec![("stdout".to_owned(), ran.stdout.clone()), ("stderr".to_owned(), ran.stderr.clone())];
    let mut folders = vec![conclave.folder().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                places.push((path.display().to_string(), std::fs::read_to_string(&path).unwrap()));
            }
        }
    }
    assert!(places.len() >= 6, "answer, messages, journal, record, Markdown and events: {places:?}");
    places.extend(server.requests().into_iter().map(|request| ("an address".to_owned(), request.path_and_query)));
    for (place, text) in &places {
        for key in KEYS {
            assert!(!text.contains(key), "`{key}` is in {place}: {text}");
        }
    }
}

fn consult(server: &ProviderServer) -> (Conclave, Ran) {
    let conclave = Conclave::at(server);
    let ran = conclave.run(&["consult", "--verbose", "--format", "both", "--events", "events.jsonl", "Shall we?"]);
    (conclave, ran)
}

#[test]
fn no_key_is_seen_when_all_goes_well() {
    let server = ProviderServer::start();
    let (conclave, ran) = consult(&server);
    assert_unseen(&server, &conclave, &ran.ends_with(0));
}

#[test]
fn no_key_is_seen_when_a_server_sends_it_back_in_an_error() {
    let server = ProviderServer::start();
    let echo = |key: &str| format!(r#"{{"error": {{"message": "Incorrect API key provided: {key}.", "type": "invalid_request_error"}}}}"#);
    server.on(On::vendor(Vendor::Anthropic), Answer::http(401, "application/json", echo(KEYS[0])));
    server.on(On::vendor(Vendor::OpenAi), Answer::http(401, "text/html", format!("<p>{} is no good</p>", KEYS[1])));
    server.on(On::vendor(Vendor::Google), Answer::http(400, "text/plain", format!("bad header x-goog-api-key: {}", KEYS[2])));
    let (conclave, ran) = consult(&server);
    let ran = ran.ends_with(1);
    assert!(ran.stderr.contains("Incorrect API key provided: "), "{}", ran.stderr);
    assert_unseen(&server, &conclave, &ran);
}

#[test]
fn no_key_is_seen_when_a_server_sends_it_back_inside_a_stream() {
    let server = ProviderServer::start();
    let error = |key: &str| serde_json::json!({"type": "authentication_error", "message": format!("no account for {key}")});
    for (vendor, key) in [Vendor::Anthropic, Vendor::OpenAi, Vendor::Google].into_iter().zip(KEYS) {
        server.on(On::vendor(vendor).nth(1), Answer::error_in_stream("", error(key)));
    }
    let (conclave, ran) = consult(&server);
    let ran = ran.ends_with(1);
    assert!(ran.stderr.contains("no account for "), "{}", ran.stderr);
    assert_unseen(&server, &conclave, &ran);
}

#[test]
fn a_key_that_cannot_be_a_header_is_named_by_its_variable_alone() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server).variable("OPENAI_API_KEY", "test-key-openai\u{7f}");
    let ran = conclave.run(&["consult", "Shall we?"]).ends_with(2);
    assert_eq!(
        (ran.stdout.as_str(), ran.stderr.as_str()),
        (
            "",
            "error: the key in `OPENAI_API_KEY` cannot be sent: it holds white space, or characters that are not ASCII\n\
             hint: copy it again, without anything around it\n"
        )
    );
    assert!(server.requests().is_empty() && !conclave.home().exists(), "it is found out before anything is spent");
}
