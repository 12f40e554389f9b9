//! `--dry-run`: shows everything, sends nothing and saves nothing.

use serde_json::Value;

use crate::support::binary::Conclave;
use crate::support::model_requests::{ModelRequest, model_requests};
use crate::support::provider_server::ProviderServer;
use crate::support::schema;

const SCHEMA: &str = include_str!("../../../../schemas/dry_run.schema.json");

fn json(conclave: &Conclave, arguments: &[&str]) -> Value {
    let output = conclave
        .run(
            &[
                &["consult", "Shall we?", "--dry-run", "--format", "json"],
                arguments,
            ]
            .concat(),
        )
        .ends_with(0);
    assert_eq!(output.stderr, "");
    let json = output.json();
    schema::check(SCHEMA, &json);
    json
}

#[test]
fn dry_run_sends_writes_and_executes_nothing() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    conclave
        .run(&["consult", "Shall we?", "--dry-run"])
        .ends_with(0);
    assert!(!conclave.home().exists());

    let mark = conclave.folder().join("ran");
    let config = format!(
        r#"{{"endpoints": {{"anthropic": {{"api_key_cmd": "touch '{}'; echo key"}}}}}}"#,
        mark.display()
    );
    let conclave = conclave.without("ANTHROPIC_API_KEY").config(&config);
    let shown = json(&conclave, &["--events", "events.jsonl"]);
    assert_eq!(
        shown["providers"].as_array().unwrap().len(),
        3,
        "the vendor with the command is included"
    );
    assert!(!mark.exists());
    assert!(!conclave.folder().join("events.jsonl").exists());
    assert_eq!(
        std::fs::read_dir(conclave.home()).unwrap().count(),
        1,
        "only the settings exist"
    );
    assert!(server.requests().is_empty());
}

#[test]
fn shown_prompts_equal_the_sent_prompts_except_for_answers() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    let shown = json(&conclave, &[]);
    conclave.run(&["consult", "-n", "Shall we?"]).ends_with(0);
    let sent = model_requests(&server);
    let calls = shown["calls"].as_array().unwrap();
    assert_eq!(calls.len(), sent.len());
    for call in calls {
        let matches = |request: &&ModelRequest| {
            call["answer"] == request.answer && call["model"] == request.model.as_str()
        };
        let sent = sent
            .iter()
            .find(matches)
            .unwrap_or_else(|| panic!("{call}"));
        assert_eq!(call["system"], sent.system.as_str());
        assert_eq!(call["exact"] == true, call["user"] == sent.user.as_str());
        assert_eq!(call["exact"] == true, call["round_number"] == 1);
        assert_eq!(call["host"], server.url().trim_start_matches("http://"));
    }
    let verdict = calls.last().unwrap()["user"].as_str().unwrap();
    assert!(
        verdict.contains("<what Expert A answers in Round 1>"),
        "{verdict}"
    );
    assert!(
        verdict.contains("<what the judge finds in Round 2>"),
        "{verdict}"
    );
}

#[test]
fn provider_sums_equal_the_sums_of_the_calls() {
    let server = ProviderServer::start();
    let shown = json(&Conclave::at(&server), &[]);
    let sum = |list: &Value, place: &str| -> u64 {
        list.as_array()
            .unwrap()
            .iter()
            .map(|entry| entry.pointer(place).unwrap().as_u64().unwrap())
            .sum()
    };
    for place in [
        "/input_tokens",
        "/output_tokens",
        "/cost/low/micro_usd",
        "/cost/expected/micro_usd",
        "/cost/high/micro_usd",
    ] {
        let total = shown.pointer(place).unwrap().as_u64().unwrap();
        assert_eq!(sum(&shown["providers"], place), total, "{place}");
        assert_eq!(sum(&shown["calls"], place), total, "{place}");
    }
    assert_eq!(sum(&shown["providers"], "/calls"), 9);
}

#[test]
fn dry_run_reports_the_consent_decision() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    let decision = |arguments: &[&str]| {
        json(&conclave, arguments)["consent"]["decision"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let expensive = ["--model", "claude-fable-5-1"];
    assert_eq!(decision(&[]), "auto_approved");
    assert_eq!(decision(&expensive), "refuse");
    assert_eq!(decision(&[&expensive[..], &["--yes"]].concat()), "flag");
    assert_eq!(
        decision(&[&expensive[..], &["--max-cost", "50"]].concat()),
        "ceiling"
    );
    assert_eq!(decision(&["--max-cost", "0.01"]), "above_ceiling");
    let unpriced = json(&conclave, &["--model", "openai:gpt-unheard-of"]);
    assert_eq!(unpriced["consent"]["why"], serde_json::json!(["unpriced"]));
    assert_eq!(unpriced["cost"]["low"]["lower_bound"], true);
    let output = conclave
        .run(&["consult", "--dry-run", "--model", "claude-fable-5-1", "q"])
        .ends_with(0);
    assert!(
        output.stdout.contains("Consent: needs --yes, because there is no terminal to ask on: it is not below always_allow_under\n"),
        "{}",
        output.stdout
    );
}

#[test]
fn text_starts_with_the_providers_and_can_go_to_a_file() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    let output = conclave
        .run(&["consult", "--dry-run", "Shall we?"])
        .ends_with(0);
    assert!(
        output
            .stdout
            .starts_with("Dry run: nothing is sent.\n\nEstimated cost: $0."),
        "{}",
        output.stdout
    );
    let host = server.url();
    let host = host.trim_start_matches("http://");
    assert!(
        output
            .stdout
            .contains(&format!("- anthropic at {host}: 2 calls, ")),
        "{}",
        output.stdout
    );
    assert_eq!(output.stdout.matches("\n--- user ---\n").count(), 9);
    let written = conclave
        .run(&["consult", "--dry-run", "Shall we?", "-o", "plan.txt"])
        .ends_with(0);
    assert_eq!(written.stdout, "");
    let file = std::fs::read_to_string(conclave.folder().join("plan.txt")).unwrap();
    let length = |text: &str| text.lines().count();
    assert_eq!(length(&file), length(&output.stdout));
}
