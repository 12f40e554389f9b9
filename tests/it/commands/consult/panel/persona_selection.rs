//! `--personas`: named personas, sets, and the selection by a helper model.

use serde_json::{Value, json};

use crate::commands::consult::failures::unauthorized;
use crate::commands::consult::{ask, assert_contains, assert_published};
use crate::commands::inventory::personas::OWN;
use crate::support::binary::Conclave;
use crate::support::model_requests::model_requests;
use crate::support::provider_server::{On, ProviderServer, Vendor};
use crate::support::schema;

fn seats(record: &Value) -> Vec<String> {
    let seats = record["agents"].as_array().unwrap();
    seats
        .iter()
        .map(|seat| {
            format!("{}={}:{}", seat["id"], seat["provider"], seat["model"]).replace('"', "")
        })
        .collect()
}

#[test]
fn named_personas_sit_in_order_with_their_models() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server).config(OWN);
    conclave
        .run(&[
            "consult",
            "--personas",
            "hebrew,@web,pragmatist",
            "Shall we?",
        ])
        .ends_with(0);
    let record = conclave.record();
    let expected = [
        "hebrew_linguist=openai:gpt-6.1-terra",
        "security=anthropic:claude-sonnet-5-5",
        "accessibility=openai:gpt-6.1-sol",
        "pragmatic=google:gemini-4-argon",
    ];
    assert_eq!(seats(&record), expected.map(str::to_owned).to_vec());
    assert_eq!(record["casting"], Value::Null);
    let requests = model_requests(&server);
    assert!(
        requests
            .iter()
            .all(|request| request.answer != "persona_selection")
    );
    let requests_with = |persona: &str| {
        let of_persona = requests
            .iter()
            .filter(|request| request.system.contains(persona));
        of_persona.count()
    };
    assert_eq!(requests_with("You are a linguist who reads Hebrew."), 2);
    assert_eq!(requests_with("You are a guard."), 2);
    assert_eq!(requests_with("You are a security expert"), 0);
}

#[test]
fn unknown_or_conflicting_personas_are_rejected_with_a_hint() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server).config(OWN);
    for (arguments, expected) in [
        (
            &["--personas", "securty"][..],
            "error: no persona is called `securty`\nhint: did you mean `security`?\n",
        ),
        (
            &["--personas", "@wab"],
            "error: no set of personas is called `wab`\nhint: did you mean `@web`?\n",
        ),
        (
            &["--personas", "security,auto"],
            "error: `auto` lets a model select all personas, so it cannot be combined with names\n",
        ),
        (
            &["--personas", " , "],
            "error: `--personas` names no persona\nhint: see the personas with `conclave personas`\n",
        ),
        (
            &["--personas", "security", "--panel", "fast"],
            "error: `--panel` and `--personas` both name the personas\nhint: use one of the two\n",
        ),
        (
            &[
                "--personas",
                "skeptic,testing,devops",
                "--model",
                "gpt-6.1-sol",
                "--model",
                "gpt-6.1-terra",
            ],
            "error: `--personas` names 3 seats, and `--model` 2\nhint: give one model for each persona",
        ),
    ] {
        let output = conclave
            .run(&[&["consult", "Shall we?"], arguments].concat())
            .ends_with(2);
        assert!(
            output.stderr.starts_with(expected),
            "{arguments:?}: {}",
            output.stderr
        );
    }
    assert!(server.requests().is_empty());
}
#[test]
fn helper_selects_personas_and_the_selection_is_recorded() {
    let server = ProviderServer::start();
    let (conclave, output) = ask(&server, &["--personas", "auto", "--rounds", "1"]);
    let output = output.ends_with(0);
    let calls = model_requests(&server);
    assert_eq!(calls.len(), 4);
    assert_eq!(calls[0].answer, "persona_selection");
    let (helper, prompt) = (&calls[0], calls[0].prompt());
    // At custom addresses only the panel's models receive the question.
    assert_eq!(helper.model, "gpt-6.1-sol");
    assert_contains(&prompt, "Shall we?");
    assert_contains(&prompt, "Choose 3 of these experts");
    assert_contains(&prompt, "- accessibility: You are an accessibility expert");
    for line in [
        "Helper    openai:gpt-6.1-sol, selects the personas\n",
        "⚡ Helper thinking... (gpt-6.1-sol)\n",
        "🎭 Personas selected for this question (planning): Skeptic, DevOps Engineer, Creative Thinker\n   Somebody has to doubt it and somebody to run it.\n",
        "⚡ DevOps Engineer thinking... (gpt-6.1-sol)\n",
    ] {
        output.assert_stderr_contains(line);
    }
    let record = conclave.record();
    assert_published(&record);
    let expected = [
        "skeptic=anthropic:claude-sonnet-5-5",
        "devops=openai:gpt-6.1-sol",
        "creative=google:gemini-4-argon",
    ];
    assert_eq!(seats(&record), expected);
    assert_eq!(
        record["casting"],
        json!({
            "task_type": "planning",
            "reason": "Somebody has to doubt it and somebody to run it.",
            "chosen_by": "openai:gpt-6.1-sol",
            "notes": [],
        })
    );
    let line = "**Personas:** selected by the helper model, openai:gpt-6.1-sol, for planning: Somebody has to doubt it and somebody to run it.";
    assert_contains(&output.stdout, line);
}

#[test]
fn helper_failure_seats_the_default_personas_even_under_strict() {
    let server = ProviderServer::start();
    server.on(On::vendor(Vendor::OpenAi).nth(1), unauthorized());
    let strict = ["--strict", "--on-failure", "fail", "--rounds", "1"];
    let arguments = [&["--personas", "auto"], &strict[..]].concat();
    let (conclave, output) = ask(&server, &arguments);
    let output = output.ends_with(0);
    let record = conclave.record();
    assert_eq!(record["status"], "complete");
    assert_eq!(seats(&record)[0], "security=anthropic:claude-sonnet-5-5");
    assert_eq!(record["casting"]["chosen_by"], Value::Null);
    output.assert_stderr_contains("🎭 Default personas:  Security Expert, Architect, Pragmatist\n");
    output.assert_stderr_contains(
        "   Note: the helper model gave no answer: this key was withdrawn (HTTP 401)",
    );
}

#[test]
fn dry_run_names_the_selecting_model_and_sends_nothing() {
    let server = ProviderServer::start();
    let flags = ["--personas", "auto", "--dry-run", "--format", "both"];
    let (_, output) = ask(&server, &flags);
    let output = output.ends_with(0);
    let (text, json) = output.stdout.split_once("\n---\n").unwrap();
    let chosen = "selected for the question by openai:gpt-6.1-sol; the prompts show";
    assert_contains(text, chosen);
    assert_contains(text, ": Helper\n");
    let json: Value = serde_json::from_str(json).unwrap();
    schema::check(
        include_str!("../../../../../schemas/dry_run.schema.json"),
        &json,
    );
    assert_eq!(json["persona_selection"]["chosen_by"], "openai:gpt-6.1-sol");
    assert_eq!(json["prompts"][0]["answer"], "casting");
    assert_eq!(json["prompts"][0]["exact"], true);
    assert_eq!(json["prompts"][1]["exact"], false);
    assert!(server.requests().is_empty());
}
