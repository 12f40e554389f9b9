//! Rejudgements and follow-ups send the text again.

use std::fs;

use super::{MARK, all_files, asked, has_mark, id_of, logs, rejected, since};
use crate::support::provider_server::ProviderServer;

#[test]
fn rejudge_shows_the_judge_the_same_context() {
    let server = ProviderServer::start();
    let conclave = asked(&server);
    let first = fs::read(conclave.log("context")).unwrap();
    fs::remove_file(conclave.folder().join("notes.md")).unwrap();
    let before = server.requests().len();
    conclave
        .run(&["history", "rejudge", "last", "--yes"])
        .ends_with(0);
    let requests = since(&server, before);
    assert_eq!(requests.len(), 2);
    assert!(requests.iter().all(has_mark));
    let texts: Vec<Vec<u8>> = all_files(&logs(&conclave))
        .iter()
        .filter(|file| file.extension().is_some_and(|ending| ending == "context"))
        .map(|file| fs::read(file).unwrap())
        .collect();
    assert_eq!(texts, [first.clone(), first]);
}

#[test]
fn rejudge_without_the_text_spends_nothing() {
    let server = ProviderServer::start();
    let conclave = asked(&server);
    fs::remove_file(conclave.log("context")).unwrap();
    let stderr = rejected(&conclave, &server, &["history", "rejudge", "last", "--yes"]);
    let id = id_of(&conclave.log("json"));
    assert!(
        stderr.starts_with(&format!(
            "error: cannot judge {id} again\n  caused by: the text of its context is missing: "
        )),
        "{stderr}"
    );
    assert!(stderr.contains("\nhint: "), "{stderr}");
}

#[test]
fn follow_up_carries_earlier_and_new_context() {
    let server = ProviderServer::start();
    let conclave = asked(&server);
    fs::write(conclave.folder().join("more.md"), "the ferry of Pemba\n").unwrap();
    let before = server.requests().len();
    let followed = conclave
        .run(&[
            "consult",
            "--follow-up",
            "And for mobile?",
            "--json",
            "-f",
            "more.md",
            "-f",
            "notes.md",
        ])
        .ends_with(0)
        .json();
    let requests = since(&server, before);
    assert_eq!(requests.len(), 9);
    for request in &requests {
        let body = request.body.to_string();
        assert_eq!(body.matches(MARK).count(), 1, "{body}");
        assert_eq!(body.matches("the ferry of Pemba").count(), 1, "{body}");
    }
    let names: Vec<&str> = followed["context"]["sources"]
        .as_array()
        .unwrap()
        .iter()
        .map(|source| source["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["notes.md", "more.md"]);
}

#[test]
fn follow_up_without_the_earlier_text_says_so() {
    let server = ProviderServer::start();
    let conclave = asked(&server);
    fs::remove_file(conclave.log("context")).unwrap();
    let before = server.requests().len();
    let output = conclave
        .run(&["consult", "--follow-up", "And for mobile?"])
        .ends_with(0);
    assert!(
        output
            .stderr
            .contains(" is not sent again: the text of its context is missing: there is no `"),
        "{}",
        output.stderr
    );
    let requests = since(&server, before);
    assert_eq!(requests.len(), 9);
    assert!(!requests.iter().any(has_mark));
}
