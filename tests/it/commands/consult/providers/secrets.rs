//! Keys never appear in answers, messages, logs, events or addresses, even if a server echoes them.

use serde_json::json;

use crate::support::binary::{Conclave, RunOutput};
use crate::support::network::{AUTHORITY, TestListener};
use crate::support::provider_server::{
    Answer, On, ProviderServer, RecordedRequest, Vendor, listed_model,
};

const KEYS: [&str; 3] = ["test-key-anthropic", "test-key-openai", "test-key-google"];

/// A custom endpoint with a key, and one without.
const WORK: Vendor = Vendor::Custom("work");
const OPEN: Vendor = Vendor::Custom("open");

/// Returns the key of every provider.
fn all_keys() -> Vec<String> {
    Vendor::CLOUD
        .into_iter()
        .chain([WORK])
        .map(Vendor::key)
        .collect()
}

/// Asserts that no output, file or address of a run contains a key.
fn assert_keys_hidden(server: &ProviderServer, conclave: &Conclave, output: &RunOutput) {
    let mut places = vec![
        ("stdout".to_owned(), output.stdout.clone()),
        ("stderr".to_owned(), output.stderr.clone()),
    ];
    let mut folders = vec![conclave.folder().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let bytes = std::fs::read(&path).unwrap();
                places.push((
                    path.display().to_string(),
                    String::from_utf8_lossy(&bytes).into_owned(),
                ));
            }
        }
    }
    assert!(
        places.len() >= 6,
        "answer, messages, journal, record, Markdown and events: {places:?}"
    );
    places.extend(
        server
            .requests()
            .into_iter()
            .map(|request| ("an address".to_owned(), request.path_and_query)),
    );
    for (place, text) in &places {
        for key in all_keys() {
            assert!(!text.contains(&key), "`{key}` is in {place}: {text}");
        }
    }
}

fn consult(server: &ProviderServer) -> (Conclave, RunOutput) {
    let conclave = Conclave::at(server);
    let output = conclave.run(&[
        "consult",
        "--verbose",
        "--on-failure",
        "skip",
        "--format",
        "both",
        "--events",
        "events.jsonl",
        "Shall we?",
    ]);
    (conclave, output)
}

/// Runs a consultation with a seat for every vendor and for two custom endpoints, all of them
/// judges in turn.
fn consult_all(server: &ProviderServer) -> (Conclave, RunOutput) {
    let conclave = Conclave::with_all_keys(server);
    let endpoints = json!({
        "work": {"base_url": server.base_url(WORK), "api_key_env": "WORK_KEY"},
        "open": {"base_url": server.base_url(OPEN)},
    });
    let conclave = conclave
        .variable("WORK_KEY", WORK.key())
        .variable("CONCLAVE_ENDPOINTS", endpoints.to_string());
    let mut models: Vec<String> = Vendor::CLOUD
        .map(|vendor| format!("{}:{}", vendor.id(), listed_model(vendor)))
        .into();
    models.extend(["work:m".to_owned(), "open:m".to_owned()]);
    let panel = models
        .iter()
        .map(|model| format!("security={model}"))
        .collect::<Vec<_>>()
        .join(",");
    let judges = models.join(",");
    let arguments = [
        "--panel",
        &panel,
        "--judge",
        &judges,
        "--events",
        "events.jsonl",
        "Shall we?",
    ];
    let output = conclave.run(
        &[
            &[
                "consult",
                "--yes",
                "--verbose",
                "--on-failure",
                "skip",
                "--format",
                "both",
            ],
            arguments.as_slice(),
        ]
        .concat(),
    );
    (conclave, output)
}

/// Asserts that one header alone contains a key, and that it is the vendor's own.
fn assert_only_its_own_key(request: &RecordedRequest) {
    let vendor = request.vendor.expect("a path of a vendor");
    let own = vendor.key();
    let carrying = |key: &str| {
        request
            .headers
            .iter()
            .filter(|(_, value)| value.contains(key))
            .map(|(name, _)| name.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        carrying(&own).len(),
        usize::from(vendor != OPEN),
        "{own}: {:?}",
        request.headers
    );
    assert!(
        vendor != OPEN || !request.headers.contains_key("authorization"),
        "{:?}",
        request.headers
    );
    for other in all_keys().iter().filter(|other| **other != own) {
        assert_eq!(
            carrying(other),
            Vec::<String>::new(),
            "{:?} receives `{other}`",
            request.vendor
        );
    }
    for place in [&request.path_and_query, &request.body.to_string()] {
        assert!(!place.contains("test-key"), "{:?}: {place}", request.vendor);
    }
}

#[test]
fn malformed_key_is_named_by_its_variable_alone() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server).variable("OPENAI_API_KEY", "test-key-openai\u{7f}");
    let output = conclave.run(&["consult", "Shall we?"]).ends_with(2);
    assert_eq!(output.stdout, "");
    assert_eq!(
        output.stderr,
        "error: the key in `OPENAI_API_KEY` cannot be sent: it contains whitespace or non-ASCII characters\n\
             hint: copy the key again, without anything around it\n"
    );
    assert!(
        server.requests().is_empty(),
        "the key is checked before any request"
    );
    assert!(
        !conclave.home().exists(),
        "the key is checked before any request"
    );
}

#[test]
fn every_provider_receives_only_its_own_key() {
    let server = ProviderServer::start();
    let (conclave, output) = consult_all(&server);
    assert_keys_hidden(&server, &conclave, &output.ends_with(0));
    let requests = server.requests();
    for vendor in Vendor::CLOUD.into_iter().chain([WORK, OPEN]) {
        assert!(
            requests
                .iter()
                .any(|request| request.vendor == Some(vendor)),
            "{vendor:?} is asked"
        );
    }
    requests
        .iter()
        .chain(&server.free_requests())
        .for_each(assert_only_its_own_key);
}

#[test]
fn redirects_to_another_vendor_receive_no_key() {
    let server = ProviderServer::start();
    for (at, status) in [301, 302, 303, 307, 308].into_iter().enumerate() {
        let elsewhere = server.base_url(Vendor::CLOUD[at + 1]) + "/stolen?by=redirect";
        server.on(
            On::vendor(Vendor::CLOUD[at]),
            Answer::http(status, "", "").header("location", &elsewhere),
        );
    }
    let (conclave, output) = consult_all(&server);
    let output = output.ends_with(0);
    let redirected = output.stderr.lines().filter(|line| {
        line.contains("⚠️ Agent Security Expert") && line.contains("redirects elsewhere")
    });
    assert_eq!(redirected.count(), 5, "{}", output.stderr);
    assert_keys_hidden(&server, &conclave, &output);
    let requests = server.requests();
    requests
        .iter()
        .chain(&server.free_requests())
        .for_each(assert_only_its_own_key);
    assert!(
        !requests
            .iter()
            .chain(&server.free_requests())
            .any(|request| request.path_and_query.contains("stolen"))
    );
}

#[test]
fn keys_stay_hidden_when_a_connection_closes_with_them() {
    let server = ProviderServer::start();
    let tls = TestListener::going_away("too many calls by test-key-anthropic");
    let conclave = Conclave::at(&server)
        .variable(
            "ANTHROPIC_BASE_URL",
            format!("https://localhost:{}", tls.address.port()),
        )
        .variable("SSL_CERT_FILE", AUTHORITY);
    let output = conclave.run(&[
        "consult",
        "--verbose",
        "--on-failure",
        "skip",
        "--format",
        "both",
        "--events",
        "events.jsonl",
        "Shall we?",
    ]);
    let output = output.ends_with(0);
    output.assert_stderr_contains("too many calls by [key]");
    assert_keys_hidden(&server, &conclave, &output);
}

#[test]
fn keys_stay_hidden_with_control_characters_inside() {
    let server = ProviderServer::start();
    let with_bell = |key: &str, bell: &str| key.replace("-key-", &format!("-k{bell}ey-"));
    let body = format!(
        r#"{{"error": {{"message": "no account for {}"}}}}"#,
        with_bell(KEYS[0], "\\u0007")
    );
    server.on(
        On::vendor(Vendor::Anthropic),
        Answer::http(401, "application/json", body),
    );
    server.on(
        On::vendor(Vendor::OpenAi),
        Answer::http(401, "text/plain", with_bell(KEYS[1], "\u{202e}")),
    );
    server.on(
        On::vendor(Vendor::Google),
        Answer::refusal(with_bell(KEYS[2], "\u{7}")),
    );
    let (conclave, output) = consult(&server);
    let output = output.ends_with(1);
    output.assert_stderr_contains("no account for [key]");
    assert_keys_hidden(&server, &conclave, &output);
}

#[test]
fn no_part_of_a_key_is_shown_where_an_error_body_is_cut() {
    let server = ProviderServer::start();
    let beginning = "test-key-anthr";
    let spaces = 64 * 1024 - beginning.len();
    server.on(
        On::vendor(Vendor::Anthropic),
        Answer::http(
            401,
            "text/plain",
            " ".repeat(spaces) + KEYS[0] + " was not accepted",
        ),
    );
    let (conclave, output) = consult(&server);
    let output = output.ends_with(0);
    output.assert_stderr_contains("[key] (HTTP 401)");
    let record = std::fs::read_to_string(conclave.log("jsonl")).unwrap();
    for text in [&output.stderr, &record] {
        assert!(!text.contains(beginning), "{text}");
    }
}

#[test]
fn keys_stay_hidden_whatever_a_vendor_says() {
    let words = |key: &str| format!("no account for {key}");
    let error = |status| move |key: &str| Answer::error(status, "error", &words(key));
    let in_stream = |key: &str| {
        let error = json!({"type": "authentication_error", "message": words(key)});
        Answer::error_in_stream("", error)
    };
    let in_text = |key: &str| {
        let answer = json!({
            "position": words(key),
            "key_points": ["a", "b"],
            "rationale": key,
            "confidence": 0.5,
        });
        Answer::text(answer.to_string()).served(key)
    };
    let answers: [&dyn Fn(&str) -> Answer; 6] = [
        &error(400),
        &error(401),
        &|key| error(500)(key).header("retry-after-ms", "1"),
        &in_stream,
        &in_text,
        &|key| Answer::refusal(words(key)),
    ];
    for (nth, answer) in answers.into_iter().enumerate() {
        let server = ProviderServer::start();
        for vendor in Vendor::CLOUD {
            server.on(On::vendor(vendor).nth(1), answer(&vendor.key()));
        }
        let (conclave, output) = consult_all(&server);
        let record = std::fs::read_to_string(conclave.log("jsonl")).unwrap();
        assert!(record.contains("no account for [key]"), "{nth}: {output:?}");
        assert_keys_hidden(&server, &conclave, &output);
        server.requests().iter().for_each(assert_only_its_own_key);
    }
}
