//! `conclave history rejudge`: its requests, its output, and when it is rejected.

use serde_json::Value;

use crate::commands::{json_of, refused, succeed};
use crate::support::binary::Conclave;
use crate::support::model_requests::model_requests;
use crate::support::provider_server::{Answer, On, ProviderServer};
use crate::support::schema::check;

use super::{MIDDLE, NEWEST, OLDEST, three};

const SCHEMA: &str = include_str!("../../../../schemas/rejudge.schema.json");
const RECORD: &str = include_str!("../../../../schemas/consultation.schema.json");

/// Returns a home with one consultation, and its server.
fn one_consultation() -> (Conclave, ProviderServer) {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    succeed(&conclave, &["consult", "Shall we?", "--no-debate-analysis"]);
    (conclave, server)
}

fn changed_verdict() -> Answer {
    Answer::text(
        r#"{"summary":"It turned.","evidence":[],"dissent":[{"agent":"Expert B","concern":"It is a risk.","severity":"low"}],"recommendation":"Grow at once.","confidence":0.4}"#,
    )
}

fn newest(conclave: &Conclave) -> Value {
    json_of(conclave, &["history", "show", "last", "--format", "json"])
}

#[test]
fn rejudge_asks_the_judge_once_in_each_of_rounds_2_and_4() {
    let (conclave, server) = one_consultation();
    let requests = server.requests().len();
    let by_opus = ["history", "rejudge", "last", "--judge", "claude-opus-5-5"];
    let ran = succeed(&conclave, &by_opus);
    let asked = model_requests(&server);
    let since: Vec<(&str, &str)> = asked[requests..]
        .iter()
        .map(|request| (request.answer, request.model.as_str()))
        .collect();
    assert_eq!(
        since,
        [
            ("synthesis", "claude-opus-5-5"),
            ("verdict", "claude-opus-5-5")
        ]
    );
    for part in [
        "# Judged Again",
        "**Judge:** openai:gpt-6.1-sol → anthropic:claude-opus-5-5",
        "**Verdict:** held (the same)",
        "**In both:**\n\n- Start small",
        "## Before\n\nStart small, then grow.\n\n## Now\n\nStart small, then grow.",
    ] {
        assert!(ran.stdout.contains(part), "{part}\n---\n{}", ran.stdout);
    }
    ran.assert_stderr_contains("Judging 3 answers of consult-");
    ran.assert_stderr_contains("no expert is asked");
    let record = newest(&conclave);
    check(RECORD, &record);
    let from = record["rejudged_from"].as_str().unwrap();
    assert!(from.starts_with("consult-"), "{record}");
    assert_ne!(record["consultation_id"], from);
    let list = json_of(&conclave, &["history", "--json"]);
    assert_eq!(list["total"], 2, "it is a consultation of its own");
    let [again, first] = [0, 1].map(|at| &list["consultations"][at]["rejudged_from"]);
    assert_eq!((again, first), (&Value::from(from), &Value::Null));
    let shown = succeed(&conclave, &["history", "show", "last"]).stdout;
    let line = format!("**Judged again:** the answers of {from}");
    assert!(shown.contains(&line), "{shown}");
}

#[test]
fn changed_verdict_is_reported_with_the_helpers_reason() {
    let (conclave, server) = one_consultation();
    let requests = server.requests().len();
    let judge = newest(&conclave)["judge"]["model"]
        .as_str()
        .unwrap()
        .to_owned();
    server.on(On::model(&judge).nth(2), changed_verdict());
    let rejudge = conclave
        .run(&["history", "rejudge", "last", "--format", "json"])
        .ends_with(0)
        .json();
    check(SCHEMA, &rejudge);
    let since: Vec<&str> = model_requests(&server)
        .into_iter()
        .skip(requests)
        .map(|request| request.answer)
        .collect();
    assert_eq!(since, ["synthesis", "verdict", "comparison"]);
    assert_eq!(rejudge["before"]["judge"], rejudge["after"]["judge"]);
    assert_eq!(rejudge["after"]["recommendation"], "Grow at once.");
    assert_eq!(rejudge["held"]["magnitude"], "minor_refinement");
    assert_eq!(rejudge["held"]["consistent"], true);
    assert_ne!(
        rejudge["before"]["expert_order"], rejudge["after"]["expert_order"],
        "the experts are in another order"
    );
    assert_eq!(rejudge["before"]["confidence"], 0.8);
    assert_eq!(rejudge["after"]["confidence"], 0.4);
}

#[test]
fn rejudging_judge_sees_labels_where_the_record_has_names() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    let judge = "gpt-6.1-sol";
    let verdict = r#"{"summary":"Expert B doubts it.","evidence":[],"dissent":[],"recommendation":"Ask Expert B first.","confidence":0.4}"#;
    let merged = r#"{"challenges":[],"rebuttals":[],"unresolved":["Expert B doubts it."]}"#;
    server.on(On::model(judge).nth(4), Answer::text(merged));
    server.on(On::model(judge).nth(5), Answer::text(verdict));
    let stdout = succeed(&conclave, &["consult", "Shall we?", "--no-debate-analysis"]).stdout;
    assert!(!stdout.contains("Expert B"), "{stdout}");
    let record = newest(&conclave);
    let doubt = record["concerns"][0].as_str().unwrap();
    assert!(doubt.ends_with(" doubts it."), "{record}");
    assert!(!doubt.starts_with("Expert "), "{doubt}");
    let requests = server.requests().len();
    conclave.run(&["history", "rejudge", "last"]).ends_with(0);
    let prompts: Vec<String> = server.requests()[requests..]
        .iter()
        .map(|request| request.body.to_string())
        .collect();
    assert!(
        prompts.iter().any(|prompt| prompt.contains("doubts it.")),
        "{prompts:?}"
    );
    assert!(
        prompts.iter().all(|prompt| !prompt.contains(doubt)),
        "{prompts:?}"
    );
}

#[test]
fn rejudge_needs_answers_and_an_available_judge() {
    let conclave = three();
    let sol = ["--judge", "openai:gpt-6.1-sol"];
    for (name, judge, words) in [
        ("nothing", &[][..], "no consultation is called `nothing`"),
        (NEWEST, &[], "has no answers to judge"),
        (OLDEST, &sol, "there is no key for OpenAI"),
    ] {
        let output = conclave.run(&[&["history", "rejudge", name], judge].concat());
        output.ends_with(2).assert_stderr_contains(words);
    }
    for id in [OLDEST, MIDDLE] {
        let output = conclave.run(&["history", "rejudge", id]).ends_with(2);
        let stderr = output.stderr;
        assert!(
            stderr.contains("can be asked now") || stderr.contains("no local model"),
            "{stderr}"
        );
    }
}

#[test]
fn rejudge_respects_consent_and_ceiling() {
    let (conclave, server) = one_consultation();
    let id = newest(&conclave)["consultation_id"]
        .as_str()
        .unwrap()
        .to_owned();
    let conclave = conclave.config(r#"{"always_allow_under": 0}"#);
    let requests = server.requests().len();
    let stderr = conclave
        .run(&["history", "rejudge", &id])
        .ends_with(3)
        .stderr;
    assert!(stderr.contains("--yes"), "{stderr}");
    conclave
        .run(&["history", "rejudge", &id, "--max-cost", "0.0001"])
        .ends_with(4);
    assert_eq!(server.requests().len(), requests, "no request was sent");
    let stderr = refused(&conclave, &["history", "rejudge", "last"]);
    assert!(
        stderr.contains("has no answers to judge"),
        "the last one was declined: {stderr}"
    );
}
