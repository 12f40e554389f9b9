//! `conclave models`: all models with prices and properties, as text and as JSON.

use serde_json::Value;

use crate::support::binary::Conclave;
use crate::support::local_server::LocalServer;
use crate::support::provider_server::ProviderServer;
use crate::support::pty::{Output, Terminal};
use crate::support::schema;

const SCHEMA: &str = include_str!("../../../schemas/models.schema.json");

fn json(conclave: &Conclave, arguments: &[&str]) -> Value {
    let output = conclave
        .run(&[&["models", "--json"], arguments].concat())
        .ends_with(0);
    let json = output.json();
    schema::check(SCHEMA, &json);
    json
}

fn model<'a>(json: &'a Value, name: &str) -> Option<&'a Value> {
    let models = json["providers"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|provider| provider["models"].as_array().unwrap());
    models.into_iter().find(|model| model["model"] == name)
}

#[test]
fn json_has_prices_with_source_and_date_and_key_status() {
    let json = json(&Conclave::new().variable("XAI_API_KEY", "xai-secret"), &[]);
    let keyed: Vec<&Value> = json["providers"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|provider| provider["has_key"] == true)
        .collect();
    assert_eq!(
        keyed
            .iter()
            .map(|provider| provider["id"].as_str().unwrap())
            .collect::<Vec<_>>(),
        ["xai"]
    );
    let grok = model(&json, "xai:grok-4.7").unwrap();
    assert_eq!(grok["price"]["input"], 2.0);
    assert_eq!(grok["price"]["long_context"]["output"], 12.0);
    assert_eq!(grok["price"]["source"], "litellm 1.109.1");
    assert_eq!(grok["price"]["as_of"], "2026-11-12");
    let mistral = model(&json, "mistral:mistral-large-4").unwrap();
    assert_eq!(mistral["price"]["approximate"], true);
    assert!(
        mistral["note"]
            .as_str()
            .unwrap()
            .starts_with("sources disagree")
    );
    assert_eq!(
        model(&json, "openai:gpt-4o").unwrap()["successor"],
        "gpt-6.1-sol"
    );
    let resold = model(&json, "openrouter:anthropic/claude-sonnet-5.5").unwrap();
    assert_eq!(
        resold["price"]["source"],
        "litellm 1.109.1, the price at Anthropic"
    );
    assert!(!json.to_string().contains("xai-secret"));
}

#[test]
fn retired_models_are_shown_only_with_all() {
    let conclave = Conclave::new();
    let (some, all) = (json(&conclave, &[]), json(&conclave, &["--all"]));
    assert!(model(&some, "openai:gpt-4").is_none());
    assert!(some["retired_left_out"].as_u64().unwrap() >= 10);
    assert_eq!(model(&all, "openai:gpt-4").unwrap()["retired"], true);
    assert_eq!(all["retired_left_out"], 0);
    let text = conclave.run(&["models"]).ends_with(0).stdout;
    assert!(
        text.contains("retired models not shown; list with `--all`\n"),
        "{text}"
    );
    assert!(!text.contains("\ngpt-3.5-turbo"), "{text}");
    let text = conclave.run(&["models", "--all"]).ends_with(0).stdout;
    assert!(text.contains("\ngpt-3.5-turbo "), "{text}");
    assert!(
        text.contains("retired 2026-10-23, use gpt-6-luna"),
        "{text}"
    );
}

#[test]
fn local_server_models_are_listed_with_their_properties() {
    let ollama = LocalServer::start().get("/api/version", 200, r#"{"version":"0.12.6"}"#).get(
        "/api/tags",
        200,
        r#"{"models":[{"name":"qwen3:1.7b","model":"qwen3:1.7b","details":{"parameter_size":"2.0B"}},{"name":"gpt-oss:120b-cloud","model":"gpt-oss:120b-cloud"}]}"#,
    );
    let llama = LocalServer::llama_cpp("m-7b", 7_615_616_512, 8_192);
    let addresses = format!("{},{}", ollama.authority(), llama.authority());
    let conclave = Conclave::new().variable("CONCLAVE_LOCAL_SERVERS", addresses);
    let json = json(&conclave, &[]);
    let served = &json["local_servers"][0];
    assert_eq!(served["id"], "ollama");
    assert_eq!(served["version"], "0.12.6");
    assert_eq!(served["address"], ollama.authority());
    let [small, cloud] = [0, 1].map(|index| &served["models"][index]);
    assert_eq!(small["small_prompts"], true);
    assert_eq!(small["free"], true);
    assert_eq!(cloud["small_prompts"], false);
    assert_eq!(cloud["free"], false);
    let text = conclave.run(&["models"]).ends_with(0).stdout;
    for line in [
        format!("Ollama  at {}, version 0.12.6", ollama.authority()),
        "ollama:qwen3:1.7b          2.0B parameters, short prompts, free".to_owned(),
        "ollama:gpt-oss:120b-cloud  120.0B parameters, runs in a cloud, price unknown".to_owned(),
        format!("llama.cpp server  at {}", llama.authority()),
        "llamacpp:m-7b  7.6B parameters, context 8k, loaded, free".to_owned(),
    ] {
        assert!(text.lines().any(|actual| actual == line), "{line}: {text}");
    }
}

#[test]
fn embedded_models_report_whether_they_are_installed() {
    let json = json(&Conclave::new(), &[]);
    assert_eq!(json["embedded"]["built_in"], cfg!(feature = "local"));
    let installed: Vec<&Value> = json["embedded"]["models"]
        .as_array()
        .unwrap()
        .iter()
        .map(|model| &model["installed"])
        .collect();
    assert_eq!(installed, [false, false, false]);
}

#[test]
fn pipes_get_plain_lines_and_terminals_get_fitting_lines() {
    let conclave = Conclave::new()
        .without("NO_COLOR")
        .variable("TERM", "xterm");
    let piped = conclave.run(&["models"]).ends_with(0);
    assert!(!piped.stdout.contains('\u{1b}'));
    assert!(piped.stderr.is_empty());
    let row = "claude-opus-5-5       1   $4.00  $20.00       1M     [1]  default 2";
    assert!(
        piped.stdout.lines().any(|line| line == row),
        "{}",
        piped.stdout
    );
    for columns in [40, 60, 80, 120] {
        let terminal = Terminal::start(&conclave, columns, Output::Terminal, &["models"]);
        let (output, transcript) = terminal.end();
        assert_eq!(output.code, Some(0));
        assert!(transcript.has_colours());
        assert_eq!(
            transcript.too_wide(columns.into()),
            Vec::<String>::new(),
            "{columns}: {}",
            transcript.text()
        );
        assert!(transcript.text().contains("claude-opus-5-5"));
    }
}

#[test]
fn user_models_are_listed_and_a_broken_file_is_named() {
    let own = |text: &str| {
        let conclave = Conclave::new().config("{}");
        std::fs::write(conclave.home().join("models.json"), text).unwrap();
        conclave
    };
    let file = r#"{"models":[{"provider":"acme","id":"one","prices":[{"input":1,"output":2,"as_of":"2026-01-01"}]},{"provider":"openai","id":"free-of-figures"}]}"#;
    let conclave = own(file);
    let listed = json(&conclave, &[]);
    assert_eq!(
        model(&listed, "acme:one").unwrap()["price"]["source"],
        "user"
    );
    assert_eq!(
        model(&listed, "openai:free-of-figures").unwrap()["price"],
        Value::Null,
        "a missing price is not zero"
    );
    assert!(
        listed["warnings"][0]
            .as_str()
            .unwrap()
            .contains("of 2026-01-01"),
        "{}",
        listed["warnings"]
    );
    let output = conclave.run(&["models"]).ends_with(0);
    assert!(
        output
            .stderr
            .starts_with("Warning: the newest price in your models.json is of 2026-01-01"),
        "{}",
        output.stderr
    );

    let server = ProviderServer::start();
    let conclave = Conclave::at(&server).config("{}");
    std::fs::write(conclave.home().join("models.json"), file).unwrap();
    let output = conclave.run(&["consult", "-n", "Shall we?"]).ends_with(0);
    assert!(
        output
            .stderr
            .contains("Note: the newest price in your models.json is of 2026-01-01, "),
        "{}",
        output.stderr
    );

    let broken = own("{");
    let output = broken.run(&["models"]).ends_with(2);
    assert!(output.stdout.is_empty(), "{}", output.stderr);
    assert!(output.stderr.contains("models.json"), "{}", output.stderr);
}
