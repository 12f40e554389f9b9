//! Consultations that no tool began.

use std::fs;

use serde_json::json;

use super::client::{Client, cheap, text};
use crate::support::binary::Conclave;
use crate::support::provider_server::{Answer, On, ProviderServer, Vendor};

fn ids(conclave: &Conclave) -> Vec<String> {
    let journals = fs::read_dir(conclave.home().join("consult-logs"));
    let names = journals.into_iter().flatten();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut ids: Vec<String> = names
        .filter_map(|name| Some(name.strip_suffix(".jsonl")?.to_owned()))
        .collect();
    ids.sort();
    ids
}

#[test]
fn every_consultation_of_the_home_is_found_and_has_its_state() {
    let server = ProviderServer::start();
    let conclave = cheap(&server);
    let case =
        json!({"id": "a", "question": "Is it so?", "options": ["yes", "no"], "expected": "A"});
    let files = [
        ("suite.jsonl", case.to_string()),
        (
            "SPEC.md",
            "# Spec\n\n## Open Questions\n\n- Which port?\n".to_owned(),
        ),
    ];
    for (name, content) in files {
        fs::write(conclave.folder().join(name), content).unwrap();
    }
    let mut rows = Vec::new();
    for (arguments, status, is_answered) in [
        (&["consult", "Why?"][..], "complete", true),
        (&["consult", "--follow-up", "And?"], "complete", true),
        (&["history", "rejudge", "last", "--yes"], "complete", true),
        // A single model answers, and nobody judges.
        (
            &[
                "benchmark",
                "suite.jsonl",
                "--yes",
                "--single",
                "openai:gpt-6.1-sol",
            ],
            "complete",
            false,
        ),
        (
            &["refine", "SPEC.md", "--yes", "--max-iterations", "1"],
            "complete",
            true,
        ),
    ] {
        let before = ids(&conclave);
        conclave.run(arguments);
        let mut begun = ids(&conclave);
        begun.retain(|id| !before.contains(id));
        assert_eq!(begun.len(), 1, "{arguments:?}");
        rows.push((begun.remove(0), status, is_answered));
    }
    let conclave = conclave.variable("CONCLAVE_ALWAYS_ALLOW_UNDER", "0");
    conclave.run(&["consult", "Why?"]).ends_with(3);
    rows.push((ids(&conclave).pop().unwrap(), "declined", false));
    let conclave = conclave.without("CONCLAVE_ALWAYS_ALLOW_UNDER");
    let refused = Answer::error(401, "invalid", "no such key");
    server.on(On::any(), refused);
    conclave.run(&["consult", "Why?"]).ends_with(1);
    rows.push((ids(&conclave).pop().unwrap(), "aborted", false));
    let mut client = Client::legacy(&conclave, &["--wait", "1"]);
    for (id, status, is_answered) in &rows {
        let result = client.call("consultation", json!({"id": id}));
        let view = &result["structuredContent"];
        assert_eq!(view["status"], *status, "{result}");
        assert_eq!(view["recommendation"].is_string(), *is_answered, "{result}");
        assert!(!view["report"].as_str().unwrap().is_empty(), "{result}");
    }
    let (first, last) = (&rows[0].0, &rows[rows.len() - 1].0);
    let short = first.strip_prefix("consult-").unwrap();
    for (name, id) in [
        ("last", last),
        (short, first),
        (&format!(" {first}\n"), first),
    ] {
        let result = client.call("consultation", json!({"id": name}));
        assert_eq!(
            result["structuredContent"]["id"], **id,
            "{name:?}: {result}"
        );
    }
    for (name, words) in [
        ("0", "matches several consultations"),
        ("never", "no consultation is called"),
        ("", "no consultation is called"),
        ("../SPEC", "no consultation is called"),
    ] {
        let result = client.call("consultation", json!({"id": name}));
        assert!(text(&result).contains(words), "{name:?}: {result}");
    }
    // It runs in another process, which is then killed.
    server.on(On::any(), Answer::valid());
    let stalled = Answer::text("never to be finished").stall();
    server.on(On::vendor(Vendor::Google), stalled);
    let before = server.requests().len();
    let process = conclave.start(&["consult", "Why?"]);
    server.wait_until("all experts are asked", |requests| {
        requests.len() == before + 3
    });
    let id = ids(&conclave).pop().unwrap();
    let running = client.call("consultation", json!({"id": id}));
    let view = &running["structuredContent"];
    assert_eq!(view["progress"], "Another process runs it", "{running}");
    drop(process);
    server.on(On::any(), Answer::valid());
    let mut client = Client::legacy(&conclave, &[]);
    let ended = client.call("consultation", json!({"id": id}));
    assert_eq!(ended["structuredContent"]["status"], "complete", "{ended}");
}
