//! Who sits by `--personas`, whom a model chooses with `--personas auto`, and what `conclave
//! personas` shows.

use std::fs;

use serde_json::{Value, json};

use crate::support::binary::Conclave;
use crate::support::model_requests::{ModelRequest, model_requests};
use crate::support::provider_server::{Answer, On, ProviderServer, Vendor};
use crate::support::schema;

const SCHEMA: &str = include_str!("../../../schemas/personas.schema.json");
const RECORD: &str = include_str!("../../../schemas/consultation.schema.json");

const OWN: &str = r#"{
    "personas": {
        "hebrew_linguist": {"prompt": "You are a linguist who reads Hebrew.", "model": "openai:gpt-6.1-terra", "aliases": ["hebrew"]},
        "security": {"name": "Guard", "prompt": "You are a guard."}
    },
    "persona_sets": {"web": ["security", "a11y"]},
    "panels": {"fast": {"seats": "security=claude-opus-5-5", "judge": "gpt-6.1-sol"}}
}"#;

fn seats(record: &Value) -> Vec<String> {
    let seats = record["panel"]["seats"].as_array().unwrap();
    seats
        .iter()
        .map(|seat| {
            format!("{}={}:{}", seat["seat"], seat["provider"], seat["model"]).replace('"', "")
        })
        .collect()
}

fn casting(server: &ProviderServer) -> Vec<ModelRequest> {
    model_requests(server)
        .into_iter()
        .filter(|asked| asked.answer == "persona_selection")
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
    let told = |persona: &str| {
        model_requests(&server)
            .iter()
            .filter(|asked| asked.system.contains(persona))
            .count()
    };
    assert_eq!(told("You are a linguist who reads Hebrew."), 2);
    assert_eq!(told("You are a guard."), 2);
    assert_eq!(told("You are a security expert"), 0);
    assert!(casting(&server).is_empty());
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
            .filter(|asked| asked.answer == "independent")
            .cloned()
            .collect();
        let mut told: Vec<String> = first.iter().map(|asked| asked.model.clone()).collect();
        told.sort();
        told
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
            "error: no persona is called `securty`\nhint: did you mean `security`?\nhint: one of: accessibility, ",
        ),
        (
            &["--personas", "@wab"],
            "error: no set of personas is called `wab`\nhint: did you mean `@web`?\n",
        ),
        (
            &["--personas", "security,auto"],
            "error: `auto` leaves the choice of all personas to a model, and stands alone\n",
        ),
        (
            &["--personas", " , "],
            "error: `--personas` names nobody\nhint: see who there is: conclave personas\n",
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
        let ran = conclave
            .run(&[&["consult", "Shall we?"], arguments].concat())
            .ends_with(2);
        assert!(
            ran.stderr.starts_with(expected),
            "{arguments:?}: {}",
            ran.stderr
        );
    }
    assert!(server.requests().is_empty());
}

#[test]
fn helper_selects_personas_and_the_selection_is_recorded() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    let ran = conclave
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
    let (helper, told) = (&calls[0], calls[0].prompt());
    // Where the vendors are reached at addresses of the user's, nobody but the panel learns of the
    // question.
    assert_eq!(helper.model, "gpt-6.1-sol");
    assert!(told.contains("Shall we?"), "{told}");
    assert!(
        told.contains("- accessibility: You are an accessibility expert"),
        "{told}"
    );
    for said in [
        "Clerk     openai:gpt-6.1-sol, chooses the personas\n",
        "⚡ Clerk thinking...\n",
        "🎭 Chosen for this question (planning): Skeptic, DevOps Engineer, Creative Thinker\n   Somebody has to doubt it and somebody to run it.\n",
        "⚡ DevOps Engineer thinking...\n",
    ] {
        assert!(ran.stderr.contains(said), "{said}: {}", ran.stderr);
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
        json!({"task_type": "planning", "reason": "Somebody has to doubt it and somebody to run it.", "chosen_by": "openai:gpt-6.1-sol", "notes": []})
    );
    let line = "**Personas:** chosen by the clerk, openai:gpt-6.1-sol, for planning: Somebody has to doubt it and somebody to run it.";
    assert!(ran.stdout.contains(line), "{}", ran.stdout);
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
    let ran = conclave
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
    assert_eq!(casting(&server).len(), 2);
    let record = conclave.record();
    assert_eq!(record["status"], "complete");
    assert_eq!(
        seats(&record)[0].as_str(),
        "security=anthropic:claude-sonnet-5-5"
    );
    assert_eq!(record["casting"]["chosen_by"], Value::Null);
    assert!(
        ran.stderr
            .contains("🎭 The usual personas sit: Security Expert, Architect, Pragmatist\n"),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stderr.contains("   Note: the clerk gave no answer: "),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stdout
            .contains("**Personas:** the usual ones (the clerk gave no answer: "),
        "{}",
        ran.stdout
    );
}

#[test]
fn flags_override_automatic_personas_of_the_settings() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server).config(r#"{"default_personas": "auto"}"#);
    conclave
        .run(&["consult", "-n", "--rounds", "1", "Shall we?"])
        .ends_with(0);
    assert_eq!(casting(&server).len(), 1);
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
    assert_eq!(casting(&server).len(), 1);
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
        casting(&server)[0]
            .prompt()
            .contains("Choose 2 of these experts"),
        "{}",
        casting(&server)[0].prompt()
    );
}

#[test]
fn dry_run_names_the_selecting_model_and_sends_nothing() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    let ran = conclave
        .run(&["consult", "--personas", "auto", "--dry-run", "Shall we?"])
        .ends_with(0);
    assert!(
        ran.stdout.contains(
            "Personas: chosen for the question by openai:gpt-6.1-sol; below, the usual ones"
        ),
        "{}",
        ran.stdout
    );
    assert!(
        ran.stdout
            .contains("=== Round 1, Independent Positions: Clerk ===")
            || ran.stdout.contains(": Clerk ==="),
        "{}",
        ran.stdout
    );
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
    schema::check(include_str!("../../../schemas/dry_run.schema.json"), &json);
    assert_eq!(json["casting"]["chosen_by"], "openai:gpt-6.1-sol");
    assert_eq!(json["calls"][0]["answer"], "casting");
    assert_eq!(json["calls"][0]["exact"], true);
    assert_eq!(json["calls"][1]["exact"], false);
    assert!(server.requests().is_empty());
}

#[test]
fn personas_are_listed_with_names_origin_and_model() {
    let conclave = Conclave::new().config(OWN);
    let folder = conclave.home().join("prompts/personas");
    fs::create_dir_all(&folder).unwrap();
    fs::write(
        folder.join("lawyer.md"),
        "---\nversion: v1\nid: lawyer\nname: Lawyer\naliases: legal\n---\nYou know the law.",
    )
    .unwrap();
    let json = conclave.run(&["personas", "--json"]).ends_with(0).json();
    schema::check(SCHEMA, &json);
    let personas = json["personas"].as_array().unwrap();
    let of = |id: &str| personas.iter().find(|persona| persona["id"] == id).unwrap();
    assert_eq!(personas.len(), 12);
    assert_eq!(of("lawyer")["origin"], "file");
    assert_eq!(of("lawyer")["file"], "prompts/personas/lawyer.md");
    assert_eq!(of("security")["origin"], "settings");
    assert_eq!(of("security")["name"], "Guard");
    assert_eq!(of("hebrew_linguist")["name"], "Hebrew Linguist");
    assert_eq!(of("hebrew_linguist")["model"], "openai:gpt-6.1-terra");
    assert_eq!(of("testing")["origin"], "built_in");
    assert_eq!(json["sets"]["web"], json!(["security", "accessibility"]));

    let text = conclave.run(&["personas"]).ends_with(0).stdout;
    for said in [
        "hebrew_linguist  Hebrew Linguist  from the settings\n  also: hebrew\n  played by openai:gpt-6.1-terra\n",
        "lawyer  Lawyer  from prompts/personas/lawyer.md\n",
        "skeptic  Skeptic\n  You are a skeptic: you look for what is assumed, unproven or too good to be true.\n  also: sceptic, ",
        "Sets, for --personas\n  @web  security, accessibility\n",
        "Panels, for --panel\n  fast  security=claude-opus-5-5; judge gpt-6.1-sol\n",
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
    let one = conclave
        .run(&["personas", "show", "INFOSEC"])
        .ends_with(0)
        .stdout;
    assert!(
        one.starts_with("security  Guard\nOrigin: from the settings\nAliases: "),
        "{one}"
    );
    assert!(one.ends_with("\nYou are a guard.\n"), "{one}");
    let unknown = conclave.run(&["personas", "show", "layer"]).ends_with(2);
    assert!(
        unknown
            .stderr
            .starts_with("error: no persona is called `layer`\nhint: did you mean `lawyer`?\n"),
        "{}",
        unknown.stderr
    );
}

#[test]
fn invalid_persona_settings_are_rejected_before_any_request() {
    let server = ProviderServer::start();
    for (config, expected) in [
        (
            r#"{"persona_sets": {"web": ["securty"]}}"#,
            "error: the set `web` names `securty`, and no persona is called so; did you mean `security`?\n",
        ),
        (
            r#"{"personas": {"vault": {"prompt": "p", "aliases": "infosec"}}}"#,
            "error: `infosec` is a name of two personas, `security` and `vault`\n",
        ),
    ] {
        let conclave = Conclave::at(&server).config(config);
        for command in [&["personas"][..], &["consult", "Shall we?"]] {
            let ran = conclave.run(command).ends_with(2);
            assert!(ran.stderr.starts_with(expected), "{}", ran.stderr);
        }
    }
    let conclave = Conclave::at(&server);
    let refused = conclave
        .run(&["config", "set", "personas.judge", "You judge."])
        .ends_with(2);
    assert!(
        refused.stderr.contains("cannot be called `judge`"),
        "{}",
        refused.stderr
    );
    let refused = conclave
        .run(&["config", "set", "persona_sets.web", "securty,testing"])
        .ends_with(2);
    assert!(
        refused.stderr.contains("did you mean `security`?"),
        "{}",
        refused.stderr
    );
    assert!(
        refused.stderr.contains("nothing was written"),
        "{}",
        refused.stderr
    );
    conclave
        .run(&["config", "set", "personas.tax_lawyer", "You know the law."])
        .ends_with(0);
    conclave
        .run(&[
            "config",
            "set",
            "personas.tax_lawyer.model",
            "openai:gpt-6.1-sol",
        ])
        .ends_with(0);
    conclave
        .run(&[
            "config",
            "set",
            "persona_sets.money",
            "tax_lawyer,pragmatic",
        ])
        .ends_with(0);
    conclave
        .run(&["config", "set", "default_personas", "@money"])
        .ends_with(0);
    let got = |key: &str| conclave.run(&["config", "get", key]).ends_with(0).stdout;
    assert_eq!(got("personas.tax_lawyer.name"), "Tax Lawyer\n");
    assert_eq!(got("personas.tax_lawyer.prompt"), "You know the law.\n");
    assert_eq!(got("default_personas"), "@money\n");
    assert_eq!(
        got("persona_sets.money"),
        "[\n  \"tax_lawyer\",\n  \"pragmatic\"\n]\n"
    );
    let shown = conclave.run(&["config", "show"]).ends_with(0).stdout;
    assert!(shown.contains("personas.tax_lawyer.model  "), "{shown}");
    assert!(shown.contains("persona_sets.money  "), "{shown}");
    conclave
        .run(&["consult", "-n", "--rounds", "1", "Shall we?"])
        .ends_with(0);
    assert_eq!(
        model_requests(&server)
            .iter()
            .filter(|asked| asked.system.contains("You know the law."))
            .count(),
        1
    );
}
