//! `--personas`: named personas, sets, and the selection by a helper model.

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::commands::personas::OWN;
use crate::support::binary::Conclave;
use crate::support::model_requests::{ModelRequest, model_requests};
use crate::support::provider_server::{Answer, On, ProviderServer, Vendor};
use crate::support::schema;

const RECORD: &str = include_str!("../../../../../schemas/consultation.schema.json");

fn seats(record: &Value) -> Vec<String> {
    let seats = record["agents"].as_array().unwrap();
    seats
        .iter()
        .map(|seat| {
            format!("{}={}:{}", seat["id"], seat["provider"], seat["model"]).replace('"', "")
        })
        .collect()
}

fn selection_requests(server: &ProviderServer) -> Vec<ModelRequest> {
    model_requests(server)
        .into_iter()
        .filter(|request| request.answer == "persona_selection")
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
    let requests_with = |persona: &str| {
        model_requests(&server)
            .iter()
            .filter(|request| request.system.contains(persona))
            .count()
    };
    assert_eq!(requests_with("You are a linguist who reads Hebrew."), 2);
    assert_eq!(requests_with("You are a guard."), 2);
    assert_eq!(requests_with("You are a security expert"), 0);
    assert!(selection_requests(&server).is_empty());
}

#[test]
fn models_are_assigned_to_personas_in_order() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    let models = |arguments: &[&str]| {
        let before = server.requests().len();
        conclave
            .run(
                &[
                    &["consult", "-n", "Shall we?", "--judge", "gemini-4-argon"],
                    arguments,
                ]
                .concat(),
            )
            .ends_with(0);
        let all = model_requests(&server);
        let first: Vec<ModelRequest> = all[before..]
            .iter()
            .filter(|request| request.answer == "independent")
            .cloned()
            .collect();
        let mut models: Vec<String> = first.iter().map(|request| request.model.clone()).collect();
        models.sort();
        models
    };
    assert_eq!(
        models(&["--personas", "skeptic,testing", "--model", "gpt-6.1-sol"]),
        ["gpt-6.1-sol", "gpt-6.1-sol"]
    );
    let both = [
        "--personas",
        "skeptic,testing",
        "--model",
        "gpt-6.1-sol",
        "--model",
        "claude-opus-5-5",
    ];
    assert_eq!(models(&both), ["claude-opus-5-5", "gpt-6.1-sol"]);
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
    let conclave = Conclave::at(&server);
    let output = conclave
        .run(&[
            "consult",
            "--personas",
            "auto",
            "--rounds",
            "1",
            "Shall we?",
        ])
        .ends_with(0);
    let calls = model_requests(&server);
    assert_eq!(calls.len(), 4);
    assert_eq!(calls[0].answer, "persona_selection");
    let (helper, prompt) = (&calls[0], calls[0].prompt());
    // At custom addresses only the panel's models receive the question.
    assert_eq!(helper.model, "gpt-6.1-sol");
    assert!(prompt.contains("Shall we?"), "{prompt}");
    assert!(
        prompt.contains("- accessibility: You are an accessibility expert"),
        "{prompt}"
    );
    for line in [
        "Helper    openai:gpt-6.1-sol, selects the personas\n",
        "⚡ Asking Helper (gpt-6.1-sol)\n",
        "🎭 Personas selected for this question (planning): Skeptic, DevOps Engineer, Creative Thinker\n   Somebody has to doubt it and somebody to run it.\n",
        "⚡ Asking DevOps Engineer (gpt-6.1-sol)\n",
    ] {
        assert!(output.stderr.contains(line), "{line}: {}", output.stderr);
    }
    let record = conclave.record();
    let schema: Value = serde_json::from_str(RECORD).unwrap();
    assert_eq!(
        jsonschema::validate(&schema, &record).map_err(|error| error.to_string()),
        Ok(())
    );
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
    assert!(output.stdout.contains(line), "{}", output.stdout);
    let shown = conclave
        .run(&["history", "show", "last"])
        .ends_with(0)
        .stdout;
    assert!(shown.contains(line), "{shown}");
}

#[test]
fn helper_failure_seats_the_default_personas_even_under_strict() {
    let server = ProviderServer::start();
    server.on(
        On::vendor(Vendor::OpenAi).nth(1),
        Answer::error(500, "server_error", "out of order"),
    );
    server.on(
        On::vendor(Vendor::OpenAi).nth(2),
        Answer::error(401, "invalid_api_key", "no such key"),
    );
    let conclave = Conclave::at(&server);
    let output = conclave
        .run(&[
            "consult",
            "--personas",
            "auto",
            "--strict",
            "--on-failure",
            "fail",
            "--rounds",
            "1",
            "Shall we?",
        ])
        .ends_with(0);
    assert_eq!(selection_requests(&server).len(), 2);
    let record = conclave.record();
    assert_eq!(record["status"], "complete");
    assert_eq!(
        seats(&record)[0].as_str(),
        "security=anthropic:claude-sonnet-5-5"
    );
    assert_eq!(record["casting"]["chosen_by"], Value::Null);
    assert!(
        output
            .stderr
            .contains("🎭 Default personas:  Security Expert, Architect, Pragmatist\n"),
        "{}",
        output.stderr
    );
    assert!(
        output
            .stderr
            .contains("   Note: the helper model gave no answer: "),
        "{}",
        output.stderr
    );
    assert!(
        output
            .stdout
            .contains("**Personas:** the default ones (the helper model gave no answer: "),
        "{}",
        output.stdout
    );
}

#[test]
fn flags_override_automatic_personas_of_the_settings() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server).config(r#"{"default_personas": "auto"}"#);
    conclave
        .run(&["consult", "-n", "--rounds", "1", "Shall we?"])
        .ends_with(0);
    assert_eq!(selection_requests(&server).len(), 1);
    conclave
        .run(&[
            "consult",
            "-n",
            "--rounds",
            "1",
            "--personas",
            "skeptic",
            "Shall we?",
        ])
        .ends_with(0);
    conclave
        .run(&[
            "consult",
            "-n",
            "--rounds",
            "1",
            "--panel",
            "skeptic=gpt-6.1-sol",
            "Shall we?",
        ])
        .ends_with(0);
    assert_eq!(selection_requests(&server).len(), 1);
}

#[test]
fn persona_selection_matches_the_number_of_models() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    let models = ["--model", "gpt-6.1-sol", "--model", "claude-opus-5-5"];
    conclave
        .run(
            &[
                &[
                    "consult",
                    "--personas",
                    "auto",
                    "--rounds",
                    "1",
                    "Shall we?",
                ],
                &models[..],
            ]
            .concat(),
        )
        .ends_with(0);
    assert_eq!(
        seats(&conclave.record()),
        [
            "skeptic=openai:gpt-6.1-sol",
            "devops=anthropic:claude-opus-5-5"
        ]
    );
    assert!(
        selection_requests(&server)[0]
            .prompt()
            .contains("Choose 2 of these experts"),
        "{}",
        selection_requests(&server)[0].prompt()
    );
}

#[test]
fn dry_run_names_the_selecting_model_and_sends_nothing() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    let output = conclave
        .run(&["consult", "--personas", "auto", "--dry-run", "Shall we?"])
        .ends_with(0);
    assert!(
        output
            .stdout
            .contains("selected for the question by openai:gpt-6.1-sol; the prompts below"),
        "{}",
        output.stdout
    );
    assert!(output.stdout.contains(": Helper\n"), "{}", output.stdout);
    let json = conclave
        .run(&[
            "consult",
            "--personas",
            "auto",
            "--dry-run",
            "--format",
            "json",
            "Shall we?",
        ])
        .ends_with(0)
        .json();
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

#[test]
fn dry_run_of_a_resumption_names_no_selection_that_is_done() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    let stalled = Answer::text("never to be finished").stall();
    server.on(On::asking_for("consensus_points").nth(1), stalled);
    let running = conclave.start(&["consult", "--personas", "auto", "Shall we?"]);
    server.wait_until("the judge is asked", |requests| requests.len() == 5);
    running.signal(Signal::INT);
    running.wait().ends_with(130);
    let shown = conclave.run(&["resume", "--dry-run", "--json"]);
    let json = shown.ends_with(0).json();
    assert_eq!(json["persona_selection"], Value::Null);
    assert_eq!(json["prompts"][0]["answer"], "synthesis");
}
