//! `conclave personas`: what it lists, and which settings of personas are rejected.

use std::fs;

use serde_json::json;

use crate::commands::{refused, succeed};
use crate::support::binary::Conclave;
use crate::support::model_requests::model_requests;
use crate::support::provider_server::ProviderServer;
use crate::support::schema;

const SCHEMA: &str = include_str!("../../../../schemas/personas.schema.json");

/// Settings with own personas, a set and a panel.
pub(in crate::commands) const OWN: &str = r#"{
    "personas": {
        "hebrew_linguist": {"prompt": "You are a linguist who reads Hebrew.", "model": "openai:gpt-6.1-terra", "aliases": ["hebrew"]},
        "security": {"name": "Guard", "prompt": "You are a guard."}
    },
    "persona_sets": {"web": ["security", "a11y"]},
    "panels": {"fast": {"seats": "security=claude-opus-5-5", "judge": "gpt-6.1-sol"}}
}"#;

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
    let persona = |id: &str| personas.iter().find(|persona| persona["id"] == id).unwrap();
    assert_eq!(personas.len(), 12);
    assert_eq!(persona("lawyer")["origin"], "file");
    assert_eq!(persona("lawyer")["file"], "prompts/personas/lawyer.md");
    assert_eq!(persona("security")["origin"], "settings");
    assert_eq!(persona("security")["name"], "Guard");
    assert_eq!(persona("hebrew_linguist")["name"], "Hebrew Linguist");
    assert_eq!(persona("hebrew_linguist")["model"], "openai:gpt-6.1-terra");
    assert_eq!(persona("testing")["origin"], "built_in");
    assert_eq!(json["sets"]["web"], json!(["security", "accessibility"]));

    let text = conclave.run(&["personas"]).ends_with(0).stdout;
    let words: Vec<&str> = text.split_whitespace().collect();
    let text = words.join(" ");
    for line in [
        "hebrew_linguist Hebrew Linguist from the settings also: hebrew played by openai:gpt-6.1-terra",
        "lawyer Lawyer from prompts/personas/lawyer.md",
        "skeptic Skeptic You are a skeptic: you look for what is assumed, unproven or too good to be true. also: sceptic, ",
        "Sets, for --personas @web security, accessibility",
        "Panels, for --panel fast security=claude-opus-5-5; judge gpt-6.1-sol",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    let one = succeed(&conclave, &["personas", "show", "INFOSEC"]).stdout;
    assert!(
        one.starts_with("security  Guard\nOrigin   from the settings\nAliases  "),
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
    for (config, expected) in [
        (
            r#"{"persona_sets": {"web": ["securty"]}}"#,
            "error: the set `web` names `securty`, and there is no such persona; did you mean `security`?\n",
        ),
        (
            r#"{"personas": {"vault": {"prompt": "p", "aliases": "infosec"}}}"#,
            "error: personas `security` and `vault` both answer to `infosec`\n",
        ),
    ] {
        let server = ProviderServer::start();
        let conclave = Conclave::at(&server).config(config);
        for command in [&["personas"][..], &["consult", "Shall we?"]] {
            let stderr = refused(&conclave, command);
            assert!(stderr.starts_with(expected), "{stderr}");
        }
        assert!(server.requests().is_empty());
    }
    let judge = ["config", "set", "personas.judge", "You judge."];
    let unknown = ["config", "set", "persona_sets.web", "securty,testing"];
    for (arguments, words) in [
        (judge, "cannot be called `judge`"),
        (unknown, "did you mean `security`?"),
    ] {
        let stderr = refused(&Conclave::new(), &arguments);
        assert!(stderr.contains(words), "{stderr}");
    }
}

#[test]
fn personas_that_are_set_one_by_one_are_asked() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    for (key, value) in [
        ("personas.tax_lawyer", "You know the law."),
        ("personas.tax_lawyer.model", "openai:gpt-6.1-sol"),
        ("persona_sets.money", "tax_lawyer,pragmatic"),
        ("default_personas", "@money"),
    ] {
        succeed(&conclave, &["config", "set", key, value]);
    }
    for (key, value) in [
        ("personas.tax_lawyer.name", "Tax Lawyer\n"),
        ("personas.tax_lawyer.prompt", "You know the law.\n"),
        ("default_personas", "@money\n"),
        (
            "persona_sets.money",
            "[\n  \"tax_lawyer\",\n  \"pragmatic\"\n]\n",
        ),
    ] {
        assert_eq!(succeed(&conclave, &["config", "get", key]).stdout, value);
    }
    let shown = succeed(&conclave, &["config", "show"]).stdout;
    assert!(shown.contains("personas.tax_lawyer.model  "), "{shown}");
    assert!(shown.contains("persona_sets.money  "), "{shown}");
    succeed(&conclave, &["consult", "-n", "--rounds", "1", "Shall we?"]);
    let requests = model_requests(&server);
    let lawyers = requests
        .iter()
        .filter(|request| request.system.contains("You know the law."));
    assert_eq!(lawyers.count(), 1);
}
